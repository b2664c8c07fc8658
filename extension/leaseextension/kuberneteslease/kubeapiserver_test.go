//go:build kubernetes

package kuberneteslease

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/leasetest"
	"github.com/s3window/s3window/testbed/servers"
)

// role is what the README says a collector needs, and its binding.
const (
	role = `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"leases"},"rules":[
	  {"apiGroups":["coordination.k8s.io"],"resources":["leases"],"verbs":["get","list","create","update","delete"]}]}`
	binding = `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"leases"},
	  "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"leases"},
	  "subjects":[{"kind":"User","name":"` + servers.KubernetesUser + `","apiGroup":"rbac.authorization.k8s.io"}]}`
)

// kubernetes starts an API server in which the user has the rights of role. It
// returns a kubeconfig of that user.
func kubernetes(t *testing.T) (*servers.Kubernetes, string) {
	k := servers.StartKubernetes(t)
	grant(t, k)
	return k, k.Kubeconfig(t, servers.KubernetesUser)
}

// grant makes the namespace's Role, as soon as there is a namespace.
func grant(t testing.TB, k *servers.Kubernetes) {
	settings, err := clientcmd.BuildConfigFromFlags("", k.Kubeconfig(t, servers.KubernetesAdmin))
	require.NoError(t, err)
	client, err := rest.HTTPClientFor(settings)
	require.NoError(t, err)
	defer client.CloseIdleConnections()
	for kind, body := range map[string]string{"roles": role, "rolebindings": binding} {
		url := settings.Host + "/apis/rbac.authorization.k8s.io/v1/namespaces/default/" + kind
		require.Eventually(t, func() bool {
			resp, err := client.Post(url, "application/json", strings.NewReader(body))
			if err != nil {
				return false
			}
			defer resp.Body.Close()
			return resp.StatusCode == http.StatusCreated || resp.StatusCode == http.StatusConflict
		}, time.Minute, 50*time.Millisecond, "the API server makes %s", kind)
	}
}

// openGroup opens a group of Leases.
func openGroup(t testing.TB, kubeconfig, group string) lease.Store {
	cfg := DefaultConfig()
	cfg.Namespace, cfg.Kubeconfig, cfg.Group = "default", kubeconfig, group
	store, err := Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

func TestRealConformance(t *testing.T) {
	_, kubeconfig := kubernetes(t)
	leasetest.Run(t, leasetest.RealTime, func(testing.TB) leasetest.Backend {
		group := "g" + strings.ToLower(rand.Text())
		return leasetest.Backend{Open: func(t testing.TB) lease.Store { return openGroup(t, kubeconfig, group) }}
	})
}

func TestRealRestart(t *testing.T) {
	k, kubeconfig := kubernetes(t)
	leasetest.RunOnly(t, leasetest.RealTime, "lease/survives a restart of the store", func(testing.TB) leasetest.Backend {
		return leasetest.Backend{
			Open:    func(t testing.TB) lease.Store { return openGroup(t, kubeconfig, "g") },
			Restart: func(testing.TB) { k.Kill(); k.Restart() },
			TTL:     30 * time.Second, // an API server takes its time to start
		}
	})
}

func TestRealLose(t *testing.T) {
	k, kubeconfig := kubernetes(t)
	leasetest.RunOnly(t, leasetest.RealTime, "lease/begins again", func(testing.TB) leasetest.Backend {
		return leasetest.Backend{
			Open: func(t testing.TB) lease.Store { return openGroup(t, kubeconfig, "g") },
			Lose: func(t testing.TB) {
				k.Kill()
				k.Etcd.Kill()
				k.Etcd.Wipe()
				k.Etcd.Restart()
				k.Restart()
				grant(t, k)
			},
			TTL: 30 * time.Second,
		}
	})
}

// What the small server of the other tests is built on is so in a real one.
func TestRealUpdateCreates(t *testing.T) {
	_, kubeconfig := kubernetes(t)
	store := openGroup(t, kubeconfig, "g").(*Store)
	revision, err := store.Put(t.Context(), "a", []byte("x"), "")
	require.NoError(t, err)
	object, err := store.leases.Get(t.Context(), store.objectName("a"), meta.GetOptions{})
	require.NoError(t, err)
	require.NoError(t, store.Delete(t.Context(), "a", revision))
	_, err = store.Put(t.Context(), "a", []byte("y"), revision)
	require.ErrorIs(t, err, lease.ErrConflict)
	object.UID = ""
	_, err = store.leases.Update(t.Context(), object, meta.UpdateOptions{})
	require.NoError(t, err, "the server creates what carries a resource version alone")
}
