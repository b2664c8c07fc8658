package lake_test

import (
	"crypto/md5"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/s3client"
)

// recorder is a store that keeps nothing and remembers the headers.
type recorder struct {
	mu    sync.Mutex
	seen  map[string]http.Header
	parts [3][]byte // the MD5 of each
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	content, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	name := req.Method
	switch q := req.URL.Query(); {
	case req.Method == http.MethodHead:
		w.WriteHeader(http.StatusNotFound)
		return
	case q.Has("uploads") && req.Method == http.MethodPost:
		name = "create"
		_ = xml.NewEncoder(w).Encode(struct {
			XMLName  xml.Name `xml:"InitiateMultipartUploadResult"`
			UploadID string   `xml:"UploadId"`
		}{UploadID: "u"})
	case q.Has("uploadId") && req.Method == http.MethodPost:
		name = "complete"
		fmt.Fprintf(w, `<CompleteMultipartUploadResult><ETag>"%x-3"</ETag></CompleteMultipartUploadResult>`, md5.Sum(slices.Concat(r.parts[:]...)))
	case q.Has("uploads"):
		fmt.Fprint(w, `<ListMultipartUploadsResult></ListMultipartUploadsResult>`)
	default:
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, md5.Sum(content)))
		if n, err := strconv.Atoi(q.Get("partNumber")); err == nil {
			sum := md5.Sum(content)
			r.parts[n-1] = sum[:]
		}
	}
	r.seen[name] = req.Header
}

func TestPutHeaders(t *testing.T) {
	r := &recorder{seen: map[string]http.Header{}}
	server := httptest.NewServer(r)
	defer server.Close()
	c := s3client.Default()
	c.Bucket, c.Endpoint, c.PathStyle, c.AccessKeyID, c.SecretAccessKey = "b", server.URL, true, "k", "s"
	c.SSE, c.SSEKMSKeyID, c.StorageClass = "aws:kms", "arn:aws:kms:x", "STANDARD_IA"
	b := lake.NewS3(newClient(t, c), small(c))
	md := ours()
	md.Metadata = map[string]string{"s3window-records": "3"}
	require.NoError(t, b.PutIfAbsent(t.Context(), "k", md))
	big := bigBody()
	big.Metadata = md.Metadata
	require.NoError(t, b.PutIfAbsent(t.Context(), "k", big))
	for _, name := range []string{http.MethodPut, "create"} {
		h := r.seen[name]
		if name == http.MethodPut {
			h = putHeader(t, r, b, md)
		}
		require.Equal(t, "aws:kms", h.Get("X-Amz-Server-Side-Encryption"), name)
		require.Equal(t, "arn:aws:kms:x", h.Get("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id"), name)
		require.Equal(t, "STANDARD_IA", h.Get("X-Amz-Storage-Class"), name)
		require.Equal(t, "application/vnd.apache.parquet", h.Get("Content-Type"), name)
		require.Equal(t, "3", h.Get("X-Amz-Meta-S3window-Records"), name)
		require.Empty(t, h.Get("Content-Encoding"), name)
	}
	require.Equal(t, "*", r.seen["complete"].Get("If-None-Match"))
	require.Empty(t, r.seen["complete"].Get("If-Match"))
	require.NoError(t, b.Replace(t.Context(), "k", md, `"e"`))
	require.Equal(t, `"e"`, r.seen[http.MethodPut].Get("If-Match"))
	require.Empty(t, r.seen[http.MethodPut].Get("If-None-Match"))
	require.Error(t, b.Replace(t.Context(), "k", md, ""))
}

// putHeader puts in one request and returns its header.
func putHeader(t *testing.T, r *recorder, b *lake.S3, body lake.Body) http.Header {
	t.Helper()
	require.NoError(t, b.PutIfAbsent(t.Context(), "k", body))
	require.Equal(t, "*", r.seen[http.MethodPut].Get("If-None-Match"))
	require.NotEmpty(t, r.seen[http.MethodPut].Get("X-Amz-Checksum-Crc32c"))
	return r.seen[http.MethodPut]
}
