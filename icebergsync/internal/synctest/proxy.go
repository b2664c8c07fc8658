package synctest

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Fault is what a proxy does to a commit.
type Fault int

// The faults of a commit.
const (
	Pass           Fault = iota
	LoseRequest          // it never arrives
	LoseAnswer           // it arrives, the answer does not
	GatewayTimeout       // it arrives, the answer is 504
	Double               // it arrives twice, the answer is the second one's
	Refuse               // 503 without forwarding
)

// Faults is a proxy before a catalog that breaks commits of tables, as decide
// says of each.
type Faults struct {
	URI string

	target string
	decide func(n int) Fault

	mu    sync.Mutex // guards everything below
	n     int
	Count map[Fault]int
}

// StartFaults serves a proxy before a catalog until the test ends.
func StartFaults(t testing.TB, target string, decide func(n int) Fault) *Faults {
	f := &Faults{target: target, decide: decide, Count: map[Fault]int{}}
	s := httptest.NewServer(f)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	f.URI = s.URL
	return f
}

func (f *Faults) next() Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	fault := f.decide(f.n)
	f.n++
	f.Count[fault]++
	return fault
}

// ServeHTTP implements http.Handler.
func (f *Faults) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	fault := Pass
	if r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/tables/") {
		fault = f.next()
	}
	switch fault {
	case LoseRequest:
		panic(http.ErrAbortHandler)
	case Refuse:
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case Double:
		if first, err := f.forward(r, body); err == nil {
			_ = first.Body.Close()
		}
	}
	answer, err := f.forward(r, body)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	content, _ := io.ReadAll(answer.Body)
	switch fault {
	case LoseAnswer:
		panic(http.ErrAbortHandler)
	case GatewayTimeout:
		w.WriteHeader(http.StatusGatewayTimeout)
		return
	}
	maps.Copy(w.Header(), answer.Header)
	w.Header().Del("Content-Length")
	w.WriteHeader(answer.StatusCode)
	_, _ = w.Write(content)
}

func (f *Faults) forward(r *http.Request, body []byte) (*http.Response, error) {
	q, err := http.NewRequestWithContext(r.Context(), r.Method, f.target+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header = r.Header.Clone()
	q.Header.Del("Accept-Encoding")
	return http.DefaultClient.Do(q)
}
