package kuberneteslease

import (
	"io"
	"log"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.uber.org/goleak"
	v1 "k8s.io/api/coordination/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/leasetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, kubeconfig string) *Store {
	cfg := DefaultConfig()
	cfg.Namespace, cfg.Kubeconfig = "default", kubeconfig
	store, err := Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// TestConformance runs against apiServer, which is not a Kubernetes;
// TestRealConformance runs against one.
func TestConformance(t *testing.T) {
	leasetest.Run(t, leasetest.RealTime, func(t testing.TB) leasetest.Backend {
		_, kubeconfig := serve(t)
		return leasetest.Backend{Open: func(t testing.TB) lease.Store { return open(t, kubeconfig) }}
	})
}

// A late replacement of a Lease that was deleted must not bring it back.
func TestPutDoesNotCreate(t *testing.T) {
	server, kubeconfig := serve(t)
	store := open(t, kubeconfig)
	revision, err := store.Put(t.Context(), "a", []byte("x"), "")
	require.NoError(t, err)
	require.NoError(t, store.Delete(t.Context(), "a", revision))
	_, err = store.Put(t.Context(), "a", []byte("y"), revision)
	require.ErrorIs(t, err, lease.ErrConflict)
	require.Empty(t, server.leases)

	_, err = store.leases.Update(t.Context(), &v1.Lease{ObjectMeta: meta.ObjectMeta{Name: "a", ResourceVersion: "1"}}, meta.UpdateOptions{})
	require.NoError(t, err, "the server creates what carries a resource version alone")
}

func TestTLSAndToken(t *testing.T) {
	s := &apiServer{token: "other", leases: map[string]*v1.Lease{}}
	server := httptest.NewTLSServer(s)
	defer server.Close()
	_, err := open(t, kubeconfig(t, server, "secret-token")).Get(t.Context(), "a")
	require.ErrorContains(t, err, "no token of mine")
	require.NotErrorIs(t, err, lease.ErrNotFound)
	require.NotContains(t, err.Error(), "secret-token")

	other := httptest.NewTLSServer(s)
	defer other.Close()
	other.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.URL = strings.Replace(other.URL, "127.0.0.1", "localhost", 1) // which the certificate does not name
	_, err = open(t, kubeconfig(t, server, s.token)).Get(t.Context(), "a")
	require.ErrorContains(t, err, "x509: certificate is valid for")
}

func TestWhatIsNoLease(t *testing.T) {
	server, kubeconfig := serve(t)
	store := open(t, kubeconfig)
	revision, err := store.Put(t.Context(), "a", []byte("x"), "")
	require.NoError(t, err)
	for name, damage := range map[string]func(map[string]string){
		"another program's": func(a map[string]string) { delete(a, nameAnnotation) },
		"no record":         func(a map[string]string) { delete(a, recordAnnotation) },
		"no base64":         func(a map[string]string) { delete(a, recordAnnotation); a[base64Annotation] = "!" },
		"another name's":    func(a map[string]string) { a[nameAnnotation] = "b" },
	} {
		t.Run(name, func(t *testing.T) {
			object := server.leases[store.objectName("a")]
			good := object.Annotations
			object.Annotations = map[string]string{nameAnnotation: "a", recordAnnotation: "x"}
			defer func() { object.Annotations = good }()
			damage(object.Annotations)
			_, err := store.Get(t.Context(), "a")
			require.Error(t, err)
			require.NotErrorIs(t, err, lease.ErrNotFound)
		})
	}
	require.NoError(t, store.Delete(t.Context(), "a", revision))

	store.leases = elsewhere(t, kubeconfig).leases
	_, err = store.Get(t.Context(), "a")
	require.ErrorContains(t, err, "namespaces")
	require.NotErrorIs(t, err, lease.ErrNotFound, "a missing namespace is not a missing lease")
	_, err = store.Put(t.Context(), "a", []byte("x"), revision)
	require.NotErrorIs(t, err, lease.ErrConflict)
	require.NotErrorIs(t, store.Delete(t.Context(), "a", revision), lease.ErrNotFound)
}

func elsewhere(t *testing.T, kubeconfig string) *Store {
	cfg := DefaultConfig()
	cfg.Namespace, cfg.Kubeconfig = "other", kubeconfig
	store, err := Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// The objects that exist must not change their names and fields.
func TestGoldenObject(t *testing.T) {
	store := &Store{group: "s3window"}
	lease := store.encode("a/b", []byte(`{"version":1,"lease":{"holder":"gw-0","ttl_ms":2500}}`))
	require.Equal(t, "s3window-o56drg1jup5prqk0t9jlpsk0k0aucsihc28aaoj7g4ajrhkft88g", lease.Name)
	require.Equal(t, map[string]string{"leases.s3window.io/group": "s3window"}, lease.Labels)
	require.Equal(t, map[string]string{
		"leases.s3window.io/name": "a/b", "leases.s3window.io/record": `{"version":1,"lease":{"holder":"gw-0","ttl_ms":2500}}`,
	}, lease.Annotations)
	require.Equal(t, "gw-0", *lease.Spec.HolderIdentity)
	require.EqualValues(t, 3, *lease.Spec.LeaseDurationSeconds)
	require.Nil(t, store.encode("a", []byte(`{"version":1}`)).Spec.HolderIdentity)
}

func load(settings map[string]any) (component.Config, error) {
	cfg := NewFactory().CreateDefaultConfig()
	if err := confmap.NewFromStringMap(settings).Unmarshal(cfg); err != nil {
		return nil, err
	}
	return cfg, confmap.Validate(cfg)
}

func TestConfigs(t *testing.T) {
	for want, settings := range map[string]map[string]any{
		"`namespace` (\"A\") must be 1 to 63 of a-z 0-9 -, with a letter or digit at both ends: Kubernetes has no other names":           {"namespace": "A"},
		"`group` (\"-\") must be 1 to 63 of a-z 0-9 -, with a letter or digit at both ends: it is a label and begins the objects' names": {"group": "-"},
		"`context` is set without `kubeconfig`: contexts are in that file":                                                               {"context": "c"},
		"`namespace` is empty while `kubeconfig` is set: outside a pod there is none to take":                                            {"kubeconfig": "f"},
		"`ttl` (1s) must be 2s to 10m0s: below, one slow request loses the lease; above, a dead holder blocks too long":                  {"ttl": "1s"},
	} {
		_, err := load(settings)
		require.EqualError(t, err, want)
	}
	_, err := load(map[string]any{})
	require.NoError(t, err, "in a pod nothing need be said")
}

func TestStart(t *testing.T) {
	start := func(settings map[string]any) error {
		cfg, err := load(settings)
		require.NoError(t, err)
		ext, err := NewFactory().Create(t.Context(), extensiontest.NewNopSettings(NewFactory().Type()), cfg)
		require.NoError(t, err)
		if err := ext.Start(t.Context(), componenttest.NewNopHost()); err != nil {
			return err
		}
		lease, err := ext.(lease.Leases).Acquire(t.Context(), "x")
		require.NoError(t, err)
		require.NoError(t, lease.Release(t.Context(), nil))
		return ext.Shutdown(t.Context())
	}
	_, kubeconfig := serve(t)
	require.NoError(t, start(map[string]any{"kubeconfig": kubeconfig, "namespace": "default", "context": "c"}))
	require.ErrorContains(t, start(map[string]any{"kubeconfig": kubeconfig, "namespace": "default", "context": "none"}), "read `kubeconfig`: ")
	require.ErrorContains(t, start(map[string]any{"kubeconfig": "missing", "namespace": "default"}), "read `kubeconfig`: ")
	if _, inPod := os.LookupEnv("KUBERNETES_SERVICE_HOST"); !inPod {
		require.ErrorContains(t, start(nil), "use the pod's service account: ")
	}
}

func BenchmarkPut(b *testing.B) {
	_, kubeconfig := serve(b)
	leasetest.BenchmarkPut(b, open(b, kubeconfig))
}
