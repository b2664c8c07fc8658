package s3test

import (
	"errors"
	"io"
	"net/http"
)

var errCut = errors.New("cut by a test")

// cutBody is a request's body that breaks after left bytes.
type cutBody struct {
	io.ReadCloser
	left int64
}

func (b *cutBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errCut
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// cutWriter passes an answer on until left bytes of its body went out.
type cutWriter struct {
	http.ResponseWriter
	left int64
}

func (w *cutWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p[:min(int64(len(p)), w.left)])
	w.left -= int64(n)
	if err == nil && n < len(p) {
		_ = http.NewResponseController(w.ResponseWriter).Flush()
		return n, errCut
	}
	return n, err
}

// weakWriter passes an answer on with a weak ETag.
type weakWriter struct{ http.ResponseWriter }

func (w *weakWriter) WriteHeader(status int) {
	if etag := w.Header().Get("ETag"); etag != "" {
		w.Header().Set("ETag", "W/"+etag)
	}
	w.ResponseWriter.WriteHeader(status)
}

// discard is an answer that nobody gets.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}
