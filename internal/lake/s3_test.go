package lake_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/s3client"
	"github.com/s3window/s3window/testbed/s3test"
)

// bigBody takes three parts of 5 MiB.
func bigBody() lake.Body {
	a, b := make([]byte, 7<<20), make([]byte, 4<<20)
	for i := range a {
		a[i] = byte(i >> 8)
	}
	for i := range b {
		b[i] = byte(i >> 9)
	}
	return lake.NewBody("application/vnd.apache.parquet", a, b)
}

// uploads returns how many multipart uploads the bucket has open.
func uploads(t *testing.T, client *s3.Client, bucket string) int {
	t.Helper()
	out, err := client.ListMultipartUploads(t.Context(), &s3.ListMultipartUploadsInput{Bucket: &bucket})
	require.NoError(t, err)
	return len(out.Uploads)
}

// cutWords are what a cut connection can look like, by who notices it first.
const cutWords = "EOF|unexpected EOF|(read|write) tcp .* (broken pipe|connection reset by peer|use of closed network connection)"

// Every way to fail a request of an upload, on the real server: one call of
// PutObject or the next one ends with the object whole, and nothing is left.
func TestPutObjectOverFaults(t *testing.T) {
	s := s3test.Start(t)
	put, post, del := http.MethodPut, http.MethodPost, http.MethodDelete
	for name, tc := range map[string]struct {
		big   bool
		rules []s3test.Rule
		err   string // of the first call; empty = it succeeds
		left  int    // uploads left open by the first call
	}{
		"no fault":                    {},
		"no fault, parts":             {big: true},
		"one 500":                     {rules: []s3test.Rule{{Method: put, Count: 1, Do: s3test.Answer, Status: 500}}},
		"one 503":                     {rules: []s3test.Rule{{Method: put, Count: 1, Do: s3test.Answer, Status: 503}}},
		"one 409":                     {rules: []s3test.Rule{{Method: put, Count: 1, Do: s3test.Answer, Status: 409}}},
		"503 for good":                {rules: []s3test.Rule{{Method: put, Count: 3, Do: s3test.Answer, Status: 503}}, err: "503 SlowDown: broken by a test"},
		"409 for good":                {rules: []s3test.Rule{{Method: put, Count: 3, Do: s3test.Answer, Status: 409}}, err: "409 ConditionalRequestConflict: broken by a test"},
		"403":                         {rules: []s3test.Rule{{Method: put, Count: 1, Do: s3test.Answer, Status: 403}}, err: "403 AccessDenied: broken by a test"},
		"cut":                         {rules: []s3test.Rule{{Method: put, Count: 1, Do: s3test.Cut, Bytes: 3}}},
		"cut for good":                {rules: []s3test.Rule{{Method: put, Count: 3, Do: s3test.Cut, Bytes: 3}}, err: cutWords},
		"answer lost":                 {rules: []s3test.Rule{{Method: put, Count: 1, Do: s3test.LoseAnswer}}},
		"answers lost":                {rules: []s3test.Rule{{Method: put, Count: 3, Do: s3test.LoseAnswer}}},
		"answer lost, read cut":       {rules: []s3test.Rule{{Method: put, Count: 3, Do: s3test.LoseAnswer}, {Method: "GET", Count: 1, Do: s3test.CutAnswer, Bytes: 2}}, err: cutWords},
		"hang":                        {rules: []s3test.Rule{{Method: put, Count: 1, Do: s3test.Hang}}},
		"answer hangs":                {rules: []s3test.Rule{{Method: put, Count: 1, Do: s3test.HangAnswer}}},
		"create 503":                  {big: true, rules: []s3test.Rule{{Method: post, Count: 3, Do: s3test.Answer, Status: 503}}, err: "503 SlowDown"},
		"part 503":                    {big: true, rules: []s3test.Rule{{Query: "partNumber=2", Count: 1, Do: s3test.Answer, Status: 503}}},
		"part 503 for good":           {big: true, rules: []s3test.Rule{{Query: "partNumber=2", Count: 3, Do: s3test.Answer, Status: 503}}, err: "503 SlowDown"},
		"part cut for good":           {big: true, rules: []s3test.Rule{{Query: "partNumber=3", Count: 3, Do: s3test.Cut, Bytes: 100_000}}, err: cutWords},
		"part hangs":                  {big: true, rules: []s3test.Rule{{Query: "partNumber=1", Count: 1, Do: s3test.Hang}}},
		"complete 503":                {big: true, rules: []s3test.Rule{{Method: post, Query: "uploadId=", Count: 1, Do: s3test.Answer, Status: 503}}},
		"complete 409":                {big: true, rules: []s3test.Rule{{Method: post, Query: "uploadId=", Count: 3, Do: s3test.Answer, Status: 409}}, err: "409"},
		"complete lost":               {big: true, rules: []s3test.Rule{{Method: post, Query: "uploadId=", Count: 1, Do: s3test.LoseAnswer}}},
		"complete 503, abort refused": {big: true, left: 1, rules: []s3test.Rule{{Method: post, Query: "uploadId=", Count: 3, Do: s3test.Answer, Status: 503}, {Method: del, Count: 3, Do: s3test.Answer, Status: 503}}, err: "503"},
		"complete 503 for good":       {big: true, left: 1, rules: []s3test.Rule{{Method: post, Query: "uploadId=", Count: 3, Do: s3test.Answer, Status: 503}}, err: "503"},
		"complete refused":            {big: true, rules: []s3test.Rule{{Method: post, Query: "uploadId=", Count: 1, Do: s3test.Answer, Status: 403}}, err: "403"},
		"uploads cannot be listed":    {big: true, rules: []s3test.Rule{{Query: "uploads=", Method: "GET", Do: s3test.Answer, Status: 403}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, url := s3test.StartProxy(t, s.Endpoint)
			c := settings(t, s, url)
			c.Timeout = 3 * time.Second
			client := newClient(t, c)
			l := lake.New(lake.NewS3(client, small(c)), lake.Ref{Bucket: c.Bucket})
			b := ours()
			if tc.big {
				b = bigBody()
			}
			p.Break(tc.rules...)
			got, err := l.PutObject(t.Context(), key, b, meta())
			if tc.err != "" {
				require.Regexp(t, "^("+tc.err+")", lake.Reason(err))
				p.Heal()
				require.Equal(t, tc.left, uploads(t, client, c.Bucket))
				got, err = l.PutObject(t.Context(), key, b, meta())
			}
			require.NoError(t, err)
			require.Equal(t, wantObject(b, meta()), got)
			p.Heal()
			require.Zero(t, uploads(t, client, c.Bucket))
			content, err := os.ReadFile(filepath.Join(s.BucketDir(c.Bucket), key))
			require.NoError(t, err)
			require.Equal(t, string(b.Bytes()), string(content))
		})
	}
}

// A process that dies between parts leaves an upload. The next one that puts
// the key ends it, and no other key's.
func TestPartsOfADeadProcessAreFreed(t *testing.T) {
	s := s3test.Start(t)
	c := settings(t, s, s.Endpoint)
	client := newClient(t, c)
	o := small(c)
	var steps []string
	var mu sync.Mutex
	o.Step = func(label string) {
		mu.Lock()
		defer mu.Unlock()
		steps = append(steps, label)
	}
	other := key
	_, err := client.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: &c.Bucket, Key: &other})
	require.NoError(t, err)
	longer := key + ".other"
	_, err = client.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: &c.Bucket, Key: &longer})
	require.NoError(t, err)
	require.Equal(t, 2, uploads(t, client, c.Bucket))
	require.NoError(t, lake.NewS3(client, o).PutIfAbsent(t.Context(), key, bigBody()))
	require.Equal(t, 1, uploads(t, client, c.Bucket), "the upload of the other key stays")
	require.Equal(t, []string{"lake:put-part done", "lake:put-part done"}, steps)
}

// A put whose time is over ends at once and frees its parts, although its
// context is done.
func TestUploadEndsWithItsContext(t *testing.T) {
	s := s3test.Start(t)
	p, url := s3test.StartProxy(t, s.Endpoint)
	c := settings(t, s, url)
	client := newClient(t, c)
	p.Break(s3test.Rule{Query: "partNumber=3", Do: s3test.Hang})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := lake.New(lake.NewS3(client, small(c)), lake.Ref{}).PutObject(ctx, key, bigBody(), meta())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, "the store did not answer in time", lake.Reason(err))
	p.Heal()
	require.Zero(t, uploads(t, client, c.Bucket))
}

// A store that commits a truncated object: the read back finds it torn.
func TestTornObjectIsReplacedAtTheServer(t *testing.T) {
	s := s3test.Start(t)
	c := settings(t, s, s.Endpoint)
	l := lake.New(lake.NewS3(newClient(t, c), small(c)), lake.Ref{})
	for name, b := range map[string]lake.Body{"one request": ours(), "parts": bigBody()} {
		t.Run(name, func(t *testing.T) {
			_, err := l.PutObject(t.Context(), key, b, meta())
			require.NoError(t, err)
			require.NoError(t, os.Truncate(filepath.Join(s.BucketDir(c.Bucket), key), 3))
			got, err := l.PutObject(t.Context(), key, b, meta())
			require.NoError(t, err)
			require.Equal(t, wantObject(b, meta()), got)
			require.NoError(t, l.Delete(t.Context(), key))
		})
	}
}

func TestErrorsInTheStoresOwnWords(t *testing.T) {
	s := s3test.Start(t)
	good := settings(t, s, s.Endpoint)
	for name, tc := range map[string]struct {
		change func(c *s3client.Config)
		want   string
	}{
		"wrong secret":   {func(c *s3client.Config) { c.SecretAccessKey = "wrong" }, "403 SignatureDoesNotMatch: "},
		"wrong key":      {func(c *s3client.Config) { c.AccessKeyID = "wrong" }, "404 XAdminUserNotFound: "},
		"missing bucket": {func(c *s3client.Config) { c.Bucket = "no-such-bucket" }, "404 NoSuchBucket: "},
		"no server":      {func(c *s3client.Config) { c.Endpoint = "http://127.0.0.1:1" }, "dial tcp 127.0.0.1:1: connect: connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			c := good
			tc.change(&c)
			b := lake.NewS3(newClient(t, c), small(c))
			l := lake.New(b, lake.Ref{})
			_, err := l.PutObject(t.Context(), key, ours(), meta())
			require.Contains(t, lake.Reason(err), tc.want)
			_, err = b.Stat(t.Context(), key)
			require.Contains(t, lake.Reason(err), tc.want)
			require.NotErrorIs(t, err, lake.ErrNotExist, "a missing bucket is not a missing object")
			_, _, err = l.Manifest(t.Context(), id, 1)
			require.Contains(t, lake.Reason(err), tc.want)
			require.NotErrorIs(t, err, lake.ErrNotExist)
			_, err = l.Prove(t.Context(), lake.Needs{})
			require.Contains(t, lake.Reason(err), tc.want)
			require.Contains(t, lake.Reason(l.Manifests(t.Context(), id, nil)), tc.want)
		})
	}
}

func TestProveAtTheServer(t *testing.T) {
	s := s3test.Start(t)
	p, url := s3test.StartProxy(t, s.Endpoint)
	c := settings(t, s, url)
	l := lake.New(lake.NewS3(newClient(t, c), small(c)), lake.Ref{Bucket: c.Bucket, Prefix: "otel"})
	prove := func() error {
		litter, err := l.Prove(t.Context(), lake.Needs{Replace: true, Parts: true})
		require.NoError(t, litter)
		return err
	}
	require.NoError(t, prove())
	p.Break(s3test.Rule{Method: http.MethodPut, Count: 4, Do: s3test.LoseAnswer})
	require.NoError(t, prove(), "lost answers are no proof of a fault")
	for name, lie := range lies() {
		lie.Do, lie.Method = s3test.Forge, http.MethodPut
		p.Break(lie)
		err := prove()
		require.Error(t, err, name)
		require.NotErrorIs(t, err, lake.ErrUnconditional, "a lie is no proof of a fault either: %s", name)
		p.Heal()
		require.NoError(t, prove(), "the next probe begins again")
	}
	require.NoError(t, l.Bucket().List(t.Context(), "", "", func(i lake.Info) error { return fmt.Errorf("left %q", i.Key) }))
}

// Over TLS the checksum is in a trailer and the payload is not signed.
func TestOverTLS(t *testing.T) {
	s := s3test.Start(t)
	for _, sum := range []string{s3client.ChecksumCRC32C, s3client.ChecksumCRC64NVME, s3client.ChecksumSHA256, s3client.ChecksumNone} {
		t.Run(sum, func(t *testing.T) {
			p, url, bundle := s3test.StartTLSProxy(t, s.Endpoint)
			t.Setenv("AWS_CA_BUNDLE", bundle)
			c := settings(t, s, url)
			c.Checksum = sum
			l := lake.New(lake.NewS3(newClient(t, c), small(c)), lake.Ref{})
			for i, b := range []lake.Body{ours(), bigBody(), lake.NewBody("")} {
				p.Break(s3test.Rule{Method: http.MethodPut, Count: 1, Do: s3test.Cut, Bytes: 5})
				name := fmt.Sprint(key, i)
				_, err := l.PutObject(t.Context(), name, b, meta())
				require.NoError(t, err)
				p.Heal()
				content, err := os.ReadFile(filepath.Join(s.BucketDir(c.Bucket), name))
				require.NoError(t, err)
				require.Equal(t, string(b.Bytes()), string(content))
			}
			_, err := l.Prove(t.Context(), lake.Needs{Replace: true, Parts: true})
			require.NoError(t, err)
		})
	}
}
