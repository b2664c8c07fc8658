package kuberneteslease

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/coordination/v1"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/leasetest"
)

func TestForgedAnswers(t *testing.T) {
	leasetest.RunForged(t, "uid/7", func(t testing.TB, server http.Handler) lease.Store { return openOn(t, server) })
}

func openOn(t testing.TB, server http.Handler) *Store {
	s := httptest.NewTLSServer(server)
	t.Cleanup(s.Close)
	return open(t, kubeconfig(t, s, "secret-token"))
}

// TestForgedObjects has answers in the API's own form, about something else.
func TestForgedObjects(t *testing.T) {
	const failure = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404`
	const lease = `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"uid":"u","resourceVersion":"8"`
	for name, answer := range map[string]struct {
		code int
		body string
	}{
		"no API":            {404, failure + `}`},
		"no details":        {404, failure + `,"details":{}}`},
		"no namespace":      {404, failure + `,"details":{"name":"default","kind":"namespaces"}}`},
		"another is gone":   {404, failure + `,"details":{"name":"x","group":"coordination.k8s.io","kind":"leases"}}`},
		"success":           {200, `{"kind":"Status","apiVersion":"v1","status":"Success"}`},
		"an empty object":   {200, `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1"}`},
		"without a record":  {200, lease + `}}`},
		"of another name":   {200, lease + `,"annotations":{"leases.s3window.io/name":"b","leases.s3window.io/record":"{\"n\":1}"}}}`},
		"without a version": {200, `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"annotations":{"leases.s3window.io/name":"a","leases.s3window.io/record":"{\"n\":1}"}}}`},
		"an empty list":     {200, `{"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1","metadata":{},"items":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			leasetest.RequireDisbelief(t, openOn(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(answer.code)
				_, _ = io.WriteString(w, answer.body)
			})), "uid/7")
		})
	}
}

// TestForgedWrites has the object's last version come back in place of the new
// one, and deletions that did not happen.
func TestForgedWrites(t *testing.T) {
	server := &apiServer{token: "secret-token", leases: map[string]*v1.Lease{}}
	store := openOn(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut || r.Method == http.MethodDelete {
			r.Method = http.MethodGet
		}
		server.ServeHTTP(w, r)
	}))
	revision, err := store.Put(t.Context(), "a", []byte("x"), "")
	require.NoError(t, err)
	_, err = store.Put(t.Context(), "a", []byte("y"), revision)
	require.ErrorContains(t, err, "the answer does not have what was written")
	require.NotErrorIs(t, err, lease.ErrConflict)
	require.ErrorContains(t, store.Delete(t.Context(), "a", revision), "the server says that it is deleted, and it is there")
}

// TestForgedAnswersAmongOthers counts under leases through a proxy that makes up
// answers now and then.
func TestForgedAnswersAmongOthers(t *testing.T) {
	leasetest.RunOnly(t, leasetest.RealTime, "fault/random", func(t testing.TB) leasetest.Backend {
		forger := &leasetest.Forger{Next: &apiServer{token: "secret-token", leases: map[string]*v1.Lease{}}, Every: 3}
		s := httptest.NewTLSServer(forger)
		t.Cleanup(func() {
			s.Close()
			require.Greater(t, forger.Forged(), 30)
		})
		config := kubeconfig(t, s, "secret-token")
		return leasetest.Backend{TTL: 6 * time.Second, Open: func(t testing.TB) lease.Store { return open(t, config) }}
	})
}
