package s3test

import (
	"cmp"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Action is what a rule does to a request.
type Action int

// The actions. "Took effect" means that the server got the whole request.
const (
	Pass        Action = iota // forward, after Rule.Delay
	Answer                    // answer Rule.Status and Rule.Code without forwarding
	Cut                       // forward Rule.Bytes of the request's body, then cut both connections
	LoseAnswer                // forward; when it took effect, cut the client's connection
	CutAnswer                 // forward; cut the client's connection after Rule.Bytes of the answer's body
	Hang                      // read nothing, answer nothing, until the client or the proxy ends
	HangAnswer                // forward; when it took effect, hang
	Forge                     // answer Rule.Status, Rule.Header and Rule.Body without forwarding, as a proxy of bad manners does
	ForgeAnswer               // forward; when it took effect, answer like Forge
)

// Rule says which requests are broken, and how. The first rule that matches a
// request and is not used up decides.
type Rule struct {
	Method string // empty = any
	Key    string // regular expression on the path /<bucket>/<key>; empty = any
	Query  string // part of the raw query, as "uploadId=" or "list-type"; empty = any
	Skip   int    // lets this many matching requests pass first
	Count  int    // then breaks this many; 0 = all

	Do     Action
	Delay  time.Duration // before anything else
	Status int           // of Answer, Forge and ForgeAnswer; 0 = 200
	Code   string        // S3 error code of Answer; empty = the usual one of Status
	Bytes  int64         // of Cut and CutAnswer
	Weaken bool          // Pass makes the ETag of the answer a weak one, as a proxy does that compresses
	Header http.Header   // of Forge and ForgeAnswer
	Body   string        // of Forge and ForgeAnswer
}

// Request is what the proxy saw of a request.
type Request struct {
	Method, Path, Query string
	Broken              bool // a rule other than Pass applied
}

// Proxy forwards to an S3 server and breaks what its rules say. It is an
// http.Handler, and safe for concurrent use. Signatures hold, because the Host
// header is forwarded as it came.
type Proxy struct {
	target *url.URL
	closed context.Context
	end    context.CancelFunc
	tr     *http.Transport

	// mu guards everything declared below.
	mu    sync.Mutex
	rules []*rule
	seen  []Request
}

type rule struct {
	Rule
	key     *regexp.Regexp
	matched int
}

// NewProxy makes a proxy in front of the server at endpoint, to be mounted by
// the caller. Close ends it.
func NewProxy(endpoint string) (*Proxy, error) {
	target, err := url.Parse(endpoint)
	if err != nil {
		return nil, fmt.Errorf("make proxy: %w", err)
	}
	p := &Proxy{target: target, tr: &http.Transport{MaxIdleConnsPerHost: 32, DisableCompression: true}}
	p.closed, p.end = context.WithCancel(context.Background())
	return p, nil
}

// StartProxy serves a proxy in front of endpoint on a free port until the test
// ends, and returns it with its URL.
func StartProxy(t testing.TB, endpoint string) (*Proxy, string) {
	t.Helper()
	p, err := NewProxy(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(p)
	t.Cleanup(func() { p.Close(); server.CloseClientConnections(); server.Close() })
	return p, server.URL
}

// StartTLSProxy is StartProxy over TLS. It also returns the file that holds
// the certificate to trust, for AWS_CA_BUNDLE or SSL_CERT_FILE.
func StartTLSProxy(t testing.TB, endpoint string) (p *Proxy, address, bundle string) {
	t.Helper()
	p, err := NewProxy(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewTLSServer(p)
	t.Cleanup(func() { p.Close(); server.CloseClientConnections(); server.Close() })
	bundle = filepath.Join(t.TempDir(), "ca.pem")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(bundle, cert, 0o600); err != nil {
		t.Fatal(err)
	}
	return p, server.URL, bundle
}

// Break puts rules behind those that are there. A key that is no regular
// expression panics.
func (p *Proxy) Break(rules ...Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range rules {
		p.rules = append(p.rules, &rule{Rule: r, key: regexp.MustCompile(r.Key)})
	}
}

// Heal takes all rules away and forgets what was seen. Requests that hang go
// on hanging.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules, p.seen = nil, nil
}

// Seen returns the requests since the start or the last Heal.
func (p *Proxy) Seen() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.seen)
}

// Close ends everything that hangs and the connections to the server.
func (p *Proxy) Close() {
	p.end()
	p.tr.CloseIdleConnections()
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rule := p.decide(r)
	if rule.Delay > 0 {
		p.wait(r, rule.Delay)
	}
	switch rule.Do {
	case Pass:
		if rule.Weaken {
			w = &weakWriter{ResponseWriter: w}
		}
		p.forward(w, r)
	case Answer:
		answer(w, r, rule)
	case Cut:
		r.Body = &cutBody{ReadCloser: r.Body, left: rule.Bytes}
		p.forward(discard{}, r)
		panic(http.ErrAbortHandler)
	case LoseAnswer:
		p.forward(discard{}, r)
		panic(http.ErrAbortHandler)
	case CutAnswer:
		p.forward(&cutWriter{ResponseWriter: w, left: rule.Bytes}, r)
		panic(http.ErrAbortHandler)
	case HangAnswer:
		p.forward(discard{}, r)
		p.hang(r)
	case Hang:
		p.hang(r)
	case Forge:
		forge(w, r, rule)
	case ForgeAnswer:
		p.forward(discard{}, r)
		forge(w, r, rule)
	}
}

// decide finds the rule of a request and counts it.
func (p *Proxy) decide(r *http.Request) Rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery}
	var found Rule
	for _, rule := range p.rules {
		if !rule.matches(r) {
			continue
		}
		rule.matched++
		if n := rule.matched - rule.Skip; n > 0 && (rule.Count == 0 || n <= rule.Count) {
			found = rule.Rule
			break
		}
	}
	seen.Broken = found.Do != Pass
	p.seen = append(p.seen, seen)
	return found
}

func (r *rule) matches(req *http.Request) bool {
	return (r.Method == "" || r.Method == req.Method) &&
		strings.Contains(req.URL.RawQuery, r.Query) && r.key.MatchString(req.URL.Path)
}

func (p *Proxy) forward(w http.ResponseWriter, r *http.Request) {
	(&httputil.ReverseProxy{
		Transport: p.tr,
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.Out.URL.Scheme, pr.Out.URL.Host = p.target.Scheme, p.target.Host
			pr.Out.Host = pr.In.Host
			pr.Out.Header.Del("Expect") // the body is asked for by reading it
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}).ServeHTTP(w, r)
}

func (p *Proxy) wait(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	case <-p.closed.Done():
	}
}

func (p *Proxy) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-p.closed.Done():
	}
	panic(http.ErrAbortHandler)
}

// answer refuses a request in the form of S3. The body is read first, so that
// the client sees the answer and not a reset.
func answer(w http.ResponseWriter, r *http.Request, rule Rule) {
	_, _ = io.Copy(io.Discard, r.Body)
	code := rule.Code
	if code == "" {
		code = usualCode(rule.Status)
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(rule.Status)
	if r.Method != http.MethodHead {
		fmt.Fprintf(w, "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>broken by a test</Message></Error>", code)
	}
}

// forge answers what the rule says. The body is read first, so that the client
// sees the answer and not a reset.
func forge(w http.ResponseWriter, r *http.Request, rule Rule) {
	_, _ = io.Copy(io.Discard, r.Body)
	maps.Copy(w.Header(), rule.Header)
	w.WriteHeader(cmp.Or(rule.Status, http.StatusOK))
	_, _ = io.WriteString(w, rule.Body)
}

func usualCode(status int) string {
	switch status {
	case http.StatusServiceUnavailable:
		return "SlowDown"
	case http.StatusConflict:
		return "ConditionalRequestConflict"
	case http.StatusForbidden:
		return "AccessDenied"
	case http.StatusPreconditionFailed:
		return "PreconditionFailed"
	}
	return "InternalError"
}
