//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/s3window/s3window/testbed/e2e/process"
	"github.com/s3window/s3window/testbed/judge"
	"github.com/s3window/s3window/testbed/load"
	"github.com/s3window/s3window/testbed/s3test"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	patience = 60 * time.Second // for anything that must happen at some time
	grace    = 25 * time.Second // shutdown_grace and a little
)

// lab is one lake with all that writes to it.
type lab struct {
	t        *testing.T
	server   *s3test.Server
	endpoint string // that collectors use: the server or a proxy before it
	bucket   string
	dir      string
	runs     int

	journal bytes.Buffer // read only when no load runs
}

// newLab starts a server with an empty bucket.
func newLab(t *testing.T) *lab {
	t.Helper()
	s := s3test.Start(t)
	l := &lab{t: t, server: s, endpoint: s.Endpoint, bucket: s.NewBucket(t), dir: t.TempDir()}
	t.Cleanup(func() {
		if t.Failed() {
			l.showLogs()
		}
	})
	return l
}

// showLogs prints the end of every collector's log.
func (l *lab) showLogs() {
	logs, _ := filepath.Glob(filepath.Join(l.dir, "*.log"))
	for _, name := range logs {
		content, _ := os.ReadFile(name)
		l.t.Logf("the end of %s:\n%s", filepath.Base(name), content[max(0, len(content)-6000):])
	}
}

// collector is a replica: a WAL directory and an address that stay, and a
// process that comes and goes.
type collector struct {
	*process.Process
	lab     *lab
	name    string
	address string
	maxAge  string
}

func (l *lab) replica(name string) *collector {
	l.t.Helper()
	address, err := process.FreeAddress()
	require.NoError(l.t, err)
	return &collector{lab: l, name: name, address: address, maxAge: "1s"}
}

// start starts the replica's process and waits until it takes data.
func (c *collector) start(env ...string) {
	c.lab.t.Helper()
	var err error
	c.Process, err = process.Launch(c.options(env))
	require.NoError(c.lab.t, err)
	c.lab.t.Cleanup(c.Process.Kill)
	require.NoError(c.lab.t, c.AwaitReady(c.lab.t.Context()))
}

// startToCrash starts the process with a crash point, which it may meet before
// it takes data.
func (c *collector) startToCrash(point string) {
	c.lab.t.Helper()
	var err error
	c.Process, err = process.Launch(c.options([]string{"S3WINDOW_CRASH_AT=" + point}))
	require.NoError(c.lab.t, err)
	c.lab.t.Cleanup(c.Process.Kill)
}

// awaitCrash waits until the process has killed itself.
func (c *collector) awaitCrash() {
	c.lab.t.Helper()
	select {
	case <-c.Done():
		require.True(c.lab.t, c.Killed(), "the collector ended by itself: %s", c.Tail(4000))
	case <-time.After(patience):
		require.Fail(c.lab.t, "the crash point was not reached", c.Tail(4000))
	}
}

func (c *collector) options(env []string) process.Options {
	l := c.lab
	return process.Options{
		Path: filepath.Join(filepath.Dir(filepath.Dir(s3test.Binary(l.t, "versitygw"))), "otelcol-s3window"),
		Args: []string{"--config", "testdata/collector.yaml"},
		Env: append(env,
			"WAL_DIR="+filepath.Join(l.dir, c.name+"-wal"), "OTLP_ENDPOINT="+c.address, "S3_BUCKET="+l.bucket,
			"S3_ENDPOINT="+l.endpoint, "S3_ACCESS_KEY="+l.server.AccessKey, "S3_SECRET_KEY="+l.server.SecretKey, "MAX_AGE="+c.maxAge),
		Log:   filepath.Join(l.dir, c.name+".log"),
		Ready: c.address,
	}
}

// send starts load on the collectors and returns a function that ends it.
func (l *lab) send(o load.Options, to ...*collector) (stop func() *load.Stats) {
	l.t.Helper()
	l.runs++
	o.Run = fmt.Sprintf("run%d", l.runs)
	for _, c := range to {
		o.Endpoints = append(o.Endpoints, c.address)
	}
	if o.Tenants == nil {
		o.Tenants = []string{"acme", "globex", "tenant/with space"}
	}
	if o.Rate == 0 {
		o.Rate = 600
	}
	ctx, cancel := context.WithCancel(context.Background())
	stats, done := &load.Stats{}, make(chan error, 1)
	go func() { done <- load.Run(ctx, o, load.NewJournal(&l.journal), stats) }()
	var once sync.Once
	stop = func() *load.Stats {
		once.Do(func() {
			cancel()
			require.NoError(l.t, <-done)
		})
		return stats
	}
	l.t.Cleanup(func() { stop() })
	return stop
}

// manifest is what the lab reads of one.
type manifest struct {
	Reason  string
	Records int64
}

// manifests reads every manifest in the bucket.
func (l *lab) manifests() []manifest {
	var out []manifest
	root := filepath.Join(l.server.BucketDir(l.bucket), "otel", "_s3window")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(filepath.Dir(path)) != "windows" {
			return nil //nolint:nilerr // what is not there yet is not committed
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var m manifest
		if err := json.Unmarshal(content, &m); err != nil {
			return nil // caught in the middle of being written
		}
		out = append(out, m)
		return nil
	})
	require.NoError(l.t, err)
	return out
}

func (l *lab) committed() int64 {
	var n int64
	for _, m := range l.manifests() {
		n += m.Records
	}
	return n
}

// awaitCommitted waits until as many records are committed as were
// acknowledged. If that does not happen, the judge says which are missing.
func (l *lab) awaitCommitted() {
	l.t.Helper()
	acked := l.readJournal().Acked()
	require.Positive(l.t, acked)
	end := time.Now().Add(patience)
	for l.committed() < acked {
		if time.Now().After(end) {
			v, err := judge.Judge(os.DirFS(l.server.BucketDir(l.bucket)), "otel", l.readJournal())
			require.NoError(l.t, err)
			require.FailNow(l.t, "records are acknowledged and not committed", "%s\n%v", v, v.Err())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (l *lab) readJournal() *judge.Journal {
	j, err := judge.ReadJournal(bytes.NewReader(l.journal.Bytes()))
	require.NoError(l.t, err)
	return j
}

// judge has both judges look at the bucket. No load may run.
func (l *lab) judge() *judge.Verdict {
	l.t.Helper()
	bucket := l.server.BucketDir(l.bucket)
	v, err := judge.Judge(os.DirFS(bucket), "otel", l.readJournal())
	require.NoError(l.t, err)
	require.NoError(l.t, v.Err())
	require.Equal(l.t, v.Acked, v.Found)
	l.verify(bucket)
	l.t.Log(v)
	return v
}

// verify runs the operator's tool: the lake must be sound, and no object may
// wait for a commit that will not come.
func (l *lab) verify(bucket string) {
	l.t.Helper()
	cmd := exec.Command(s3test.Binary(l.t, "s3window"), "verify", "-json", "-prefix", "otel", bucket)
	out, err := cmd.Output()
	var report struct {
		Sound  bool
		Damage []struct{ Key, Text string }
		Notes  []struct{ Kind, Key, Text string }
	}
	require.NoError(l.t, json.Unmarshal(out, &report), "%s", out)
	require.Empty(l.t, report.Damage)
	require.NoError(l.t, err)
	for _, n := range report.Notes {
		require.NotContains(l.t, []string{"uncommitted", "lost"}, n.Kind, "%s: %s", n.Key, n.Text)
	}
	require.True(l.t, report.Sound)
}

// short cuts a list of cases down with -short.
func short[T any](n int, all []T) []T {
	if testing.Short() {
		return all[:min(n, len(all))]
	}
	return all
}

func caseName(s string) string { return strings.NewReplacer(":", "-", "/", "-").Replace(s) }
