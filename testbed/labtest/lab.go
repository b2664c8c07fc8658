package labtest

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/testbed/judge"
	"github.com/s3window/s3window/testbed/load"
	"github.com/s3window/s3window/testbed/s3test"
)

const (
	// Patience is for anything that must happen at some time.
	Patience = 60 * time.Second
	// Grace is shutdown_grace and a little.
	Grace = 25 * time.Second

	poll   = 50 * time.Millisecond
	prefix = "otel" // of the lake, in its bucket
)

// Lab is one lake with all that writes to it. It is used by one goroutine.
type Lab struct {
	Server   *s3test.Server
	Endpoint string // that collectors use: the server or a proxy before it
	Bucket   string
	Dir      string // of the logs and WALs

	t       *testing.T
	runs    int
	journal bytes.Buffer // written through entries; read only when no load runs
	entries *load.Journal
	seen    map[string]Manifest // by path: a manifest never changes
}

// New starts a server with an empty bucket. The lab ends with the test, which
// shows the end of every collector's log if it failed.
func New(t *testing.T) *Lab {
	t.Helper()
	s := s3test.Start(t)
	l := &Lab{t: t, Server: s, Endpoint: s.Endpoint, Bucket: s.NewBucket(t), Dir: t.TempDir(), seen: map[string]Manifest{}}
	l.entries = load.NewJournal(&l.journal)
	t.Cleanup(func() {
		if t.Failed() {
			l.showLogs()
		}
	})
	return l
}

// resource is in every line of a collector's log, and the same in all.
var resource = regexp.MustCompile(`"resource": \{[^}]*\}, `)

// showLogs prints the end of every collector's log.
func (l *Lab) showLogs() {
	logs, _ := filepath.Glob(filepath.Join(l.Dir, "*.log"))
	for _, name := range logs {
		content, _ := os.ReadFile(name)
		content = resource.ReplaceAll(content, nil)
		l.t.Logf("the end of %s:\n%s", filepath.Base(name), content[max(0, len(content)-6000):])
	}
}

// Await waits until done says so, and fails the test if that takes longer than
// Patience.
func (l *Lab) Await(what string, done func() bool) {
	l.t.Helper()
	l.AwaitFor(Patience, what, done)
}

// AwaitFor is Await with a time of its own.
func (l *Lab) AwaitFor(patience time.Duration, what string, done func() bool) {
	l.t.Helper()
	for end := time.Now().Add(patience); !done(); {
		if time.Now().After(end) {
			require.FailNow(l.t, "it did not happen in "+patience.String(), what)
		}
		select {
		case <-l.t.Context().Done():
			return
		case <-time.After(poll):
		}
	}
}

// Journal reads what was sent and acknowledged. No load may run.
func (l *Lab) Journal() *judge.Journal {
	l.t.Helper()
	j, err := judge.ReadJournal(bytes.NewReader(l.journal.Bytes()))
	require.NoError(l.t, err)
	return j
}

// Forget begins a new journal: what was sent so far is nobody's business any
// more. No load may run.
func (l *Lab) Forget() {
	l.journal.Reset()
	clear(l.seen)
}

// BucketDir is where the bucket's objects lie as files.
func (l *Lab) BucketDir() string { return l.Server.BucketDir(l.Bucket) }
