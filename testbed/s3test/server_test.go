package s3test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func clientOf(t *testing.T, s *Server, endpoint string) *s3.Client {
	t.Helper()
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return s3.New(s3.Options{
		BaseEndpoint: aws.String(endpoint), Region: s.Region, UsePathStyle: true, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider(s.AccessKey, s.SecretKey, ""),
		HTTPClient:  &http.Client{Transport: tr, Timeout: 20 * time.Second},
	})
}

func put(ctx context.Context, c *s3.Client, bucket, key, content string) error {
	_, err := c.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader(content)})
	return err
}

func get(t *testing.T, c *s3.Client, bucket, key string) (string, error) {
	t.Helper()
	out, err := c.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		return "", err
	}
	defer out.Body.Close()
	b, err := io.ReadAll(out.Body)
	return string(b), err
}

func TestServerKeepsObjectsOverAKillAndARestart(t *testing.T) {
	s := Start(t)
	bucket := s.NewBucket(t)
	c := clientOf(t, s, s.Endpoint)
	if err := put(t.Context(), c, bucket, "a/b", "hello"); err != nil {
		t.Fatal(err)
	}
	s.Kill()
	if err := put(t.Context(), c, bucket, "a/c", "x"); err == nil {
		t.Fatal("put succeeded without a server")
	}
	s.Restart()
	if got, err := get(t, c, bucket, "a/b"); got != "hello" {
		t.Fatalf("got %q, %v", got, err)
	}
	if b, err := os.ReadFile(filepath.Join(s.BucketDir(bucket), "a/b")); string(b) != "hello" {
		t.Fatalf("file holds %q, %v", b, err)
	}
	s.Stop()
	s.Restart()
}

func TestServerWithoutAttributes(t *testing.T) {
	s := start(t, t.TempDir(), true)
	bucket, key := s.NewBucket(t), "a/b"
	c := clientOf(t, s, s.Endpoint)
	if _, err := c.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: &bucket, Key: &key, Body: strings.NewReader("hello"), Metadata: map[string]string{"x": "1"},
	}); err != nil {
		t.Fatal(err)
	}
	out, err := c.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: &bucket, Key: &key})
	if err != nil || out.Metadata["x"] != "1" {
		t.Fatalf("head %+v, %v", out, err)
	}
}

func TestTLSProxy(t *testing.T) {
	s := Start(t)
	_, url, bundle := StartTLSProxy(t, s.Endpoint)
	bucket := s.NewBucket(t)
	if err := put(t.Context(), clientOf(t, s, url), bucket, "k", "x"); err == nil {
		t.Fatal("a certificate that nobody vouches for was accepted")
	}
	cert, err := os.ReadFile(bundle)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(cert) {
		t.Fatalf("bundle holds %q", cert)
	}
	c := clientOf(t, s, url)
	c.Options().HTTPClient.(*http.Client).Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: roots}
	if err := put(t.Context(), c, bucket, "k", "x"); err != nil {
		t.Fatal(err)
	}
}

// A proxy mounted in a test's own server, as in a process under test.
func TestProxyAsHandler(t *testing.T) {
	s := Start(t)
	p, err := NewProxy(s.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	server := httptest.NewServer(p)
	defer server.Close()
	bucket := s.NewBucket(t)
	c := clientOf(t, s, server.URL)
	if err := put(t.Context(), c, bucket, "k", "x"); err != nil {
		t.Fatal(err)
	}
	s.Kill()
	if err := put(t.Context(), c, bucket, "k", "x"); err == nil {
		t.Fatal("put succeeded without a server")
	}
}

func TestPausedServerAnswersWhenResumed(t *testing.T) {
	s := Start(t)
	bucket := s.NewBucket(t)
	c := clientOf(t, s, s.Endpoint)
	s.Pause()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := put(ctx, c, bucket, "k", "x"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("put to a paused server: %v", err)
	}
	s.Resume()
	if err := put(t.Context(), c, bucket, "k2", "x"); err != nil {
		t.Fatal(err)
	}
}

func TestProxyRules(t *testing.T) {
	s := Start(t)
	body := strings.Repeat("0123456789", 20_000)
	for name, tc := range map[string]struct {
		rule    Rule
		putErr  string // part of the error; empty = none
		stored  bool
		getWant string // part of the error of a GET after the put; empty = whole
	}{
		"pass":        {rule: Rule{Do: Pass}, stored: true},
		"delay":       {rule: Rule{Do: Pass, Delay: time.Millisecond}, stored: true},
		"500":         {rule: Rule{Method: "PUT", Do: Answer, Status: 500}, putErr: "InternalError"},
		"503":         {rule: Rule{Method: "PUT", Do: Answer, Status: 503}, putErr: "SlowDown"},
		"409":         {rule: Rule{Method: "PUT", Do: Answer, Status: 409}, putErr: "ConditionalRequestConflict"},
		"code":        {rule: Rule{Method: "PUT", Do: Answer, Status: 400, Code: "Odd"}, putErr: "Odd"},
		"cut":         {rule: Rule{Method: "PUT", Do: Cut, Bytes: 1000}, putErr: "EOF"},
		"lost answer": {rule: Rule{Method: "PUT", Do: LoseAnswer}, putErr: "EOF", stored: true},
		"cut answer":  {rule: Rule{Method: "GET", Do: CutAnswer, Bytes: 1000}, stored: true, getWant: "unexpected EOF"},
		"hang":        {rule: Rule{Method: "PUT", Do: Hang}, putErr: "deadline"},
		"hang answer": {rule: Rule{Method: "PUT", Do: HangAnswer}, putErr: "deadline", stored: true},
		"forged":      {rule: Rule{Method: "PUT", Do: Forge, Body: "<html>"}},
		"forged 302":  {rule: Rule{Method: "PUT", Do: Forge, Status: 302}, putErr: "302"},
		"forged late": {rule: Rule{Method: "PUT", Do: ForgeAnswer}, stored: true},
		"other key":   {rule: Rule{Key: "^/[^/]+/other$", Do: Hang}, stored: true},
		"other query": {rule: Rule{Query: "uploadId=", Do: Hang}, stored: true},
		"skipped":     {rule: Rule{Method: "PUT", Skip: 1, Do: Hang}, stored: true},
	} {
		t.Run(name, func(t *testing.T) {
			p, url := StartProxy(t, s.Endpoint)
			bucket, c := s.NewBucket(t), clientOf(t, s, url)
			p.Break(tc.rule)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			err := put(ctx, c, bucket, "k", body)
			if (err == nil) != (tc.putErr == "") || err != nil && !strings.Contains(err.Error(), tc.putErr) {
				t.Fatalf("put: %v, want %q", err, tc.putErr)
			}
			got, err := get(t, c, bucket, "k")
			switch {
			case !tc.stored:
				if err == nil {
					t.Fatal("the object exists")
				}
			case tc.getWant != "":
				if err == nil || !strings.Contains(err.Error(), tc.getWant) {
					t.Fatalf("get: %v, want %q", err, tc.getWant)
				}
			case got != body:
				t.Fatalf("got %d bytes, %v", len(got), err)
			}
		})
	}
}

func TestProxyCountsAndHeals(t *testing.T) {
	s := Start(t)
	p, url := StartProxy(t, s.Endpoint)
	bucket, c := s.NewBucket(t), clientOf(t, s, url)
	p.Break(Rule{Method: "PUT", Count: 2, Do: Answer, Status: 503})
	for i, wantErr := range []bool{true, true, false} {
		if err := put(t.Context(), c, bucket, "k", "x"); (err != nil) != wantErr {
			t.Fatalf("put %d: %v", i, err)
		}
	}
	if seen := p.Seen(); len(seen) != 3 || !seen[1].Broken || seen[2].Broken || seen[0].Path != "/"+bucket+"/k" {
		t.Fatalf("seen %+v", seen)
	}
	p.Break(Rule{Do: Answer, Status: 500})
	p.Heal()
	if err := put(t.Context(), c, bucket, "k", "y"); err != nil {
		t.Fatal(err)
	}
}
