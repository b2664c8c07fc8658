package s3

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/internal/s3client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answers is a store on a server that answers every request in the same way.
func answers(t *testing.T, status int, code string) *Store {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		if code != "" {
			_, _ = w.Write([]byte("<Error><Code>" + code + "</Code></Error>"))
		}
	}))
	t.Cleanup(server.Close)
	cfg := DefaultConfig()
	cfg.Client.Bucket, cfg.Client.Endpoint, cfg.Client.PathStyle = "lake", server.URL, true
	cfg.Client.AccessKeyID, cfg.Client.SecretAccessKey = "key", "secret"
	store, err := Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(store.Close)
	return store
}

func TestAnswersOfTheServer(t *testing.T) {
	for _, c := range []struct {
		name     string
		status   int
		code     string
		get, put error // nil: an error that is neither
	}{
		{"missing object", 404, "NoSuchKey", lease.ErrNotFound, lease.ErrConflict},
		{"missing bucket", 404, "NoSuchBucket", nil, nil},
		{"condition does not hold", 412, "PreconditionFailed", lease.ErrConflict, lease.ErrConflict},
		{"another conditional write", 409, "ConditionalRequestConflict", nil, nil},
		{"wrong key", 403, "InvalidAccessKeyId", nil, nil},
		{"busy", 503, "SlowDown", nil, nil},
		{"no ETag", 200, "", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			store := answers(t, c.status, c.code)
			_, err := store.Put(t.Context(), "a", []byte("x"), "")
			requireIs(t, err, c.put)
			if c.status == 200 || c.status == 409 || c.status == 503 {
				return // the others succeed, or are the same and slow: the SDK tries again
			}
			_, err = store.List(t.Context(), "")
			require.Error(t, err)
			_, err = store.Get(t.Context(), "a")
			requireIs(t, err, c.get)
			requireIs(t, store.Delete(t.Context(), "a", "1"), c.get)
		})
	}
}

func requireIs(t *testing.T, err, want error) {
	t.Helper()
	require.Error(t, err)
	if want != nil {
		require.ErrorIs(t, err, want)
		return
	}
	require.NotErrorIs(t, err, lease.ErrNotFound)
	require.NotErrorIs(t, err, lease.ErrConflict)
}

func TestPutCarriesWhatTheBucketNeeds(t *testing.T) {
	var mu sync.Mutex
	var header http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		header = r.Header.Clone()
		w.Header().Set("ETag", `"9dd4e461268c8034f5c8564e155c67a6"`) // the MD5 of x
	}))
	defer server.Close()
	cfg := DefaultConfig()
	cfg.Client = Client{
		Bucket: "lake", Region: "us-east-1", Endpoint: server.URL, PathStyle: true, AccessKeyID: "key", SecretAccessKey: "secret",
		SSE: "aws:kms", SSEKMSKeyID: "k1", Checksum: s3client.ChecksumSHA256, Timeout: 5 * time.Second,
	}
	store, err := Open(t.Context(), cfg)
	require.NoError(t, err)
	defer store.Close()
	for revision, want := range map[string]string{"": "*", `"0"`: ""} {
		_, err = store.Put(context.Background(), "a", []byte("x"), revision)
		require.NoError(t, err)
		mu.Lock()
		require.Equal(t, want, header.Get("If-None-Match"))
		require.Equal(t, revision, header.Get("If-Match"))
		require.Equal(t, "aws:kms", header.Get("X-Amz-Server-Side-Encryption"))
		require.Equal(t, "k1", header.Get("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id"))
		require.NotEmpty(t, header.Get("X-Amz-Checksum-Sha256"))
		require.Equal(t, "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881", header.Get("X-Amz-Meta-Lease-Sha256"), "golden: objects that exist must stay provable")
		mu.Unlock()
	}
}
