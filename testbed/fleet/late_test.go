//go:build e2e

package fleet

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/testbed/labtest"
	"github.com/s3window/s3window/testbed/s3test"
)

var (
	manifestKey = regexp.MustCompile(`/windows/\d+\.json$`)
	missing     = regexp.MustCompile(`^request (\S+), tenant .* acknowledged records are nowhere$`)
)

// late is a network before the bucket that delivers manifests when the sender
// has long given them up.
type late struct {
	url       string
	pass      atomic.Bool // deliver at once
	delivered atomic.Int64

	proxy  *s3test.Proxy
	closed context.Context
	wg     sync.WaitGroup

	mu    sync.Mutex // guards codes
	codes map[int]int
}

func startLate(t *testing.T, endpoint string) *late {
	t.Helper()
	proxy, err := s3test.NewProxy(endpoint)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	l := &late{proxy: proxy, closed: ctx, codes: map[int]int{}}
	server := httptest.NewServer(l)
	l.url = server.URL
	t.Cleanup(func() {
		cancel()
		proxy.Close()
		server.CloseClientConnections()
		server.Close()
		l.wg.Wait()
	})
	return l
}

// ServeHTTP takes manifests from their sender, who gets no answer,
// and delivers them after the TTL.
func (l *late) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if l.pass.Load() || r.Method != http.MethodPut || !manifestKey.MatchString(r.URL.Path) {
		l.proxy.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	again := r.Clone(l.closed)
	again.Body = io.NopCloser(bytes.NewReader(body))
	l.wg.Go(func() { l.deliver(again) })
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

func (l *late) deliver(r *http.Request) {
	defer func() { _ = recover() }() // the proxy aborts what it cannot forward
	timer := time.NewTimer(labtest.LeaseTTL + time.Second)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.closed.Done():
		return
	}
	answer := httptest.NewRecorder()
	l.proxy.ServeHTTP(answer, r)
	l.mu.Lock()
	l.codes[answer.Code]++
	l.mu.Unlock()
	l.delivered.Add(1)
}

// answers counts the bucket's answers by their status.
func (l *late) answers() map[int]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.codes
}
