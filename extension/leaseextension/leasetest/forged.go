package leasetest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/lease"
)

// forgery is an answer that something between a client and its server makes up: a
// login page, a load balancer without a backend, a gateway to another service.
type forgery struct {
	name        string
	status      int
	contentType string
	etag        string
	body        string
}

const page = "<!DOCTYPE html><html><head><title>Please log in</title></head><body><p>Please log in.</p></body></html>"

func forgeries() []forgery {
	return []forgery{
		{name: "a page", status: http.StatusOK, contentType: "text/html", body: page},
		{name: "a page with an ETag", status: http.StatusOK, contentType: "text/html", etag: `"5f3-62a1b0c4d5e6f"`, body: page},
		{name: "a page with a weak ETag", status: http.StatusOK, contentType: "text/html", etag: `W/"5f3-62a1b0c4d5e6f"`, body: page},
		{name: "nothing", status: http.StatusOK},
		{name: "no content", status: http.StatusNoContent},
		{name: "empty JSON", status: http.StatusOK, contentType: "application/json", body: "{}"},
		{name: "empty AWS JSON", status: http.StatusOK, contentType: "application/x-amz-json-1.0", body: "{}"},
		{name: "empty XML", status: http.StatusOK, contentType: "application/xml", body: `<?xml version="1.0"?><ListBucketResult></ListBucketResult>`},
		{name: "a page that is not found", status: http.StatusNotFound, contentType: "text/html", body: page},
		{name: "nothing that is not found", status: http.StatusNotFound},
	}
}

// ServeHTTP implements http.Handler. The request is read first, so that the
// client sees the answer and not a reset.
func (f forgery) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	if f.contentType != "" {
		w.Header().Set("Content-Type", f.contentType)
	}
	if f.etag != "" {
		w.Header().Set("ETag", f.etag)
	}
	w.WriteHeader(f.status)
	_, _ = io.WriteString(w, f.body)
}

// RunForged opens a store over HTTP on servers of which every answer is made up,
// and expects that none is believed. revision is one that the backend could have
// returned.
func RunForged(t *testing.T, revision string, open func(t testing.TB, server http.Handler) lease.Store) {
	for _, f := range forgeries() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			RequireDisbelief(t, open(t, f), revision)
		})
	}
}

// RequireDisbelief expects of a store whose server answers every request with
// something made up that no call succeeds, and that none says what only the
// registers can tell.
func RequireDisbelief(t testing.TB, store lease.Store, revision string) {
	t.Helper()
	ctx := t.Context()
	for _, at := range []string{"", revision} {
		_, err := store.Put(ctx, "a", []byte(`{"n":1}`), at)
		require.Errorf(t, err, "put at revision %q", at)
		require.NotErrorIsf(t, err, lease.ErrConflict, "put at revision %q", at)
	}
	rec, err := store.Get(ctx, "a")
	require.Errorf(t, err, "get: %+v", rec)
	require.NotErrorIs(t, err, lease.ErrNotFound, "get")
	err = store.Delete(ctx, "a", revision)
	require.Error(t, err, "delete")
	require.NotErrorIs(t, err, lease.ErrConflict, "delete")
	require.NotErrorIs(t, err, lease.ErrNotFound, "delete")
	_, err = store.List(ctx, "")
	require.Error(t, err, "list")
}

// Forger is an HTTP server in front of another one that makes up every so many
// answers: one time in place of the request, the next time after the request
// took effect. It is safe for concurrent use.
type Forger struct {
	Next  http.Handler
	Every uint64

	seen atomic.Uint64
}

// ServeHTTP implements http.Handler.
func (f *Forger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := f.seen.Add(1)
	if n%f.Every != 0 {
		f.Next.ServeHTTP(w, r)
		return
	}
	n /= f.Every
	if n%2 == 0 {
		f.Next.ServeHTTP(httptest.NewRecorder(), r)
	}
	all := forgeries()
	all[n/2%uint64(len(all))].ServeHTTP(w, r)
}

// Forged is how many answers were made up.
func (f *Forger) Forged() int { return int(f.seen.Load() / f.Every) }
