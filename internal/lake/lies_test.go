package lake_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/s3client"
	"github.com/s3window/s3window/testbed/s3test"
)

// lies are answers with status 200 that something between here and the store
// makes up.
func lies() map[string]s3test.Rule {
	return map[string]s3test.Rule{
		"a page":              {Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html><body>Welcome to the network</body></html>"},
		"nothing":             {},
		"a page with an ETag": {Header: http.Header{"Content-Type": {"text/html"}, "Etag": {`"5d41402abc4b2a76b9719d911017c592"`}}, Body: "<html></html>"},
		"a weak ETag":         {Header: http.Header{"Etag": {`W/"5d41402abc4b2a76b9719d911017c592"`}}},
		"another checksum":    {Header: http.Header{"Etag": {`"5d41402abc4b2a76b9719d911017c592"`}, "X-Amz-Checksum-Crc32c": {"AAAAAA=="}}},
	}
}

// TestLiesAreNotBelieved has every request of a kind answered with 200 by
// somebody who did not forward it, or who did and changed the answer. Whatever
// returns nil is in the bucket; when the lies end, the next call puts it there.
func TestLiesAreNotBelieved(t *testing.T) {
	s := s3test.Start(t)
	for name, lie := range lies() {
		for what, where := range map[string]s3test.Rule{
			"every request":       {},
			"puts":                {Method: http.MethodPut},
			"the first put":       {Method: http.MethodPut, Count: 1},
			"begins of an upload": {Method: http.MethodPost, Query: "uploads="},
			"the second part":     {Query: "partNumber=2"},
			"completions":         {Method: http.MethodPost, Query: "uploadId="},
			"the first completion": {
				Method: http.MethodPost, Query: "uploadId=", Count: 1,
			},
		} {
			for how, do := range map[string]s3test.Action{"not forwarded": s3test.Forge, "forwarded": s3test.ForgeAnswer} {
				rule := where
				rule.Do, rule.Header, rule.Body = do, lie.Header, lie.Body
				t.Run(name+" to "+what+", "+how, func(t *testing.T) {
					t.Parallel()
					lied(t, s, rule)
				})
			}
		}
	}
}

func lied(t *testing.T, s *s3test.Server, rule s3test.Rule) {
	t.Helper()
	p, url := s3test.StartProxy(t, s.Endpoint)
	c := settings(t, s, url)
	client := newClient(t, c)
	l := lake.New(lake.NewS3(client, small(c)), lake.Ref{Bucket: c.Bucket})
	there := func(key string, b lake.Body) {
		t.Helper()
		content, err := os.ReadFile(filepath.Join(s.BucketDir(c.Bucket), key))
		require.NoError(t, err)
		require.Equal(t, string(b.Bytes()), string(content))
	}
	for name, b := range map[string]lake.Body{"small": ours(), "big": bigBody()} {
		key := key + name
		p.Break(rule)
		if _, err := l.PutObject(t.Context(), key, b, meta()); err == nil {
			there(key, b)
		} else {
			require.NotErrorIs(t, err, lake.ErrExists)
		}
		p.Heal()
		got, err := l.PutObject(t.Context(), key, b, meta())
		require.NoError(t, err)
		want := wantObject(b, meta())
		want.Key = key
		require.Equal(t, want, got)
		there(key, b)
	}
	require.Zero(t, uploads(t, client, c.Bucket))

	p.Break(rule)
	m := manifest(1)
	at := partition.ManifestKey("", m.ID(), 1)
	if _, err := l.PutManifest(t.Context(), m.ID(), m); err == nil {
		raw, err := m.Encode()
		require.NoError(t, err)
		there(at, lake.NewBody("", raw))
	}
	p.Heal()
	_, err := l.PutManifest(t.Context(), m.ID(), m)
	require.NoError(t, err)
	_, _, err = l.Manifest(t.Context(), m.ID(), 1)
	require.NoError(t, err)
}

// TestCompletionThatWasEatenIsRepeated has the answer to a completion made up:
// the parts are not sent again.
func TestCompletionThatWasEatenIsRepeated(t *testing.T) {
	s := s3test.Start(t)
	p, url := s3test.StartProxy(t, s.Endpoint)
	c := settings(t, s, url)
	client := newClient(t, c)
	l := lake.New(lake.NewS3(client, small(c)), lake.Ref{Bucket: c.Bucket})
	p.Break(s3test.Rule{Method: http.MethodPost, Query: "uploadId=", Do: s3test.Forge})
	_, err := l.PutObject(t.Context(), key, bigBody(), meta())
	require.ErrorIs(t, err, s3client.ErrUnproven)
	require.Equal(t, 1, uploads(t, client, c.Bucket), "it may be the object by now")
	p.Heal()
	before := len(p.Seen())
	got, err := l.PutObject(t.Context(), key, bigBody(), meta())
	require.NoError(t, err)
	require.Equal(t, wantObject(bigBody(), meta()), got)
	for _, r := range p.Seen()[before:] {
		require.NotContains(t, r.Query, "partNumber", "parts are there already")
	}
	require.Zero(t, uploads(t, client, c.Bucket))
}

// TestEmptyListingThatIsMadeUp has a listing answered with nothing: that is no
// word of the store that there is nothing.
func TestEmptyListingThatIsMadeUp(t *testing.T) {
	s := s3test.Start(t)
	p, url := s3test.StartProxy(t, s.Endpoint)
	c := settings(t, s, url)
	b := lake.NewS3(newClient(t, c), small(c))
	require.NoError(t, b.PutIfAbsent(t.Context(), "a", ours()))
	for name, lie := range lies() {
		lie.Do, lie.Query = s3test.Forge, "list-type"
		p.Break(lie)
		err := b.List(t.Context(), "", "", func(lake.Info) error { return nil })
		require.Error(t, err, name)
	}
	p.Heal()
	n := 0
	require.NoError(t, b.List(t.Context(), "", "", func(lake.Info) error { n++; return nil }))
	require.Equal(t, 1, n)
}
