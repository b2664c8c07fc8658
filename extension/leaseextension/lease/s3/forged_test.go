package s3_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/lease/s3"
	"github.com/s3window/s3window/extension/leaseextension/leasetest"
	"github.com/s3window/s3window/internal/s3client"
	"github.com/s3window/s3window/testbed/s3test"
)

func TestForgedAnswers(t *testing.T) {
	leasetest.RunForged(t, `"1"`, func(t testing.TB, server http.Handler) lease.Store {
		s := httptest.NewServer(server)
		t.Cleanup(s.Close)
		return opener(s.URL, &s3test.Server{AccessKey: "key", SecretKey: "secret"}, "lake")(t)
	})
}

// TestForgedAnswersAmongOthers counts under leases through a proxy that makes up
// answers now and then.
func TestForgedAnswersAmongOthers(t *testing.T) {
	server := s3test.Start(t)
	proxy, err := s3test.NewProxy(server.Endpoint)
	require.NoError(t, err)
	forger := &leasetest.Forger{Next: proxy, Every: 3}
	front := httptest.NewServer(forger)
	t.Cleanup(func() {
		proxy.Close()
		front.CloseClientConnections()
		front.Close()
		require.Greater(t, forger.Forged(), 30)
	})
	leasetest.RunOnly(t, leasetest.RealTime, "fault/random", func(t testing.TB) leasetest.Backend {
		return leasetest.Backend{TTL: 6 * time.Second, Open: opener(front.URL, server, server.NewBucket(t))}
	})
}

func TestForgedDeletion(t *testing.T) {
	server := s3test.Start(t)
	proxy, endpoint := s3test.StartProxy(t, server.Endpoint)
	store := opener(endpoint, server, server.NewBucket(t))(t)
	revision, err := store.Put(t.Context(), "a", []byte("x"), "")
	require.NoError(t, err)
	proxy.Break(s3test.Rule{Method: http.MethodDelete, Do: s3test.Forge, Status: http.StatusNoContent})
	require.EqualError(t, store.Delete(t.Context(), "a", revision), "look after deletion: the store says that it is deleted, and it is there")
	proxy.Heal()
	require.NoError(t, store.Delete(t.Context(), "a", revision))
}

// opaque is a bucket whose ETags are not the MD5 of anything, as with keys of
// KMS, and which sends no checksums.
type opaque struct {
	weak bool

	// mu guards everything declared below.
	mu      sync.Mutex
	version int
	value   []byte
	hash    string
}

func (o *opaque) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	o.mu.Lock()
	defer o.mu.Unlock()
	etag := fmt.Sprintf(`"%032x"`, o.version)
	switch {
	case r.Method == http.MethodPut && (r.Header.Get("If-Match") == etag || o.version == 0):
		o.version++
		o.value, o.hash = body, r.Header.Get("X-Amz-Meta-Lease-Sha256")
		etag = fmt.Sprintf(`"%032x"`, o.version)
	case r.Method == http.MethodPut:
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	case o.version == 0:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "<Error><Code>NoSuchKey</Code></Error>")
		return
	}
	if o.weak {
		etag = "W/" + etag
	}
	w.Header().Set("ETag", etag)
	w.Header().Set("X-Amz-Meta-Lease-Sha256", o.hash)
	if r.Method == http.MethodGet {
		_, _ = w.Write(o.value)
	}
}

func openOpaque(t *testing.T, o *opaque) lease.Store {
	server := httptest.NewServer(o)
	t.Cleanup(server.Close)
	cfg := s3.DefaultConfig()
	cfg.Client.Bucket, cfg.Client.Endpoint, cfg.Client.PathStyle, cfg.Client.Checksum = "lake", server.URL, true, s3client.ChecksumNone
	cfg.Client.AccessKeyID, cfg.Client.SecretAccessKey = "key", "secret"
	store, err := s3.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(store.Close)
	return store
}

// Where the ETag proves nothing, writes are read back, and what is read is proven
// by the hash beside it.
func TestOpaqueETags(t *testing.T) {
	bucket := &opaque{}
	store := openOpaque(t, bucket)
	_, err := store.Put(t.Context(), "x", []byte("x"), "")
	require.ErrorIs(t, err, s3client.ErrUnproven)
	rec, err := store.Get(t.Context(), "x")
	require.NoError(t, err)
	require.Equal(t, "x", string(rec.Value))
	bucket.value = []byte("y")
	_, err = store.Get(t.Context(), "x")
	require.ErrorIs(t, err, s3client.ErrUnproven, "other bytes than the hash beside them")

	leases := lease.NewParticipant(openOpaque(t, &opaque{}), lease.Options{})
	defer leases.Close()
	for n := range 3 {
		held, err := leases.Acquire(t.Context(), "x")
		require.NoError(t, err)
		require.NoError(t, held.Save(t.Context(), fmt.Appendf(nil, `{"n":%d}`, n)))
		require.NoError(t, held.Release(t.Context(), nil))
		state, err := leases.Read(t.Context(), "x")
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf(`{"n":%d}`, n), string(state))
	}
}

// Weak ETags cannot be asked for by If-Match: no lease would ever be written
// twice.
func TestWeakETags(t *testing.T) {
	store := openOpaque(t, &opaque{weak: true})
	_, err := store.Put(t.Context(), "x", []byte("x"), "")
	require.ErrorContains(t, err, "the weak ETag")
	_, err = store.Get(t.Context(), "x")
	require.ErrorContains(t, err, "the weak ETag")
	leases := lease.NewParticipant(store, lease.Options{TTL: 300 * time.Millisecond})
	defer leases.Close()
	_, err = leases.Acquire(t.Context(), "x")
	require.ErrorContains(t, err, "the weak ETag")
}
