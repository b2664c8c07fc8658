package labtest

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/testbed/judge"
	"github.com/s3window/s3window/testbed/s3test"
)

// Manifest is what the lab reads of one.
type Manifest struct {
	Tenant  string
	Reason  string
	Records int64
	Lost    []struct {
		Seq     uint64
		Reason  string
		Records int64
	}
}

// Manifests reads every manifest in the bucket.
func (l *Lab) Manifests() []Manifest {
	l.t.Helper()
	var out []Manifest
	root := filepath.Join(l.BucketDir(), prefix, "_s3window")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(filepath.Dir(path)) != "windows" {
			return nil //nolint:nilerr // what is not there yet is not committed
		}
		m, ok := l.seen[path]
		if !ok {
			content, err := os.ReadFile(path)
			if err != nil || json.Unmarshal(content, &m) != nil {
				return nil //nolint:nilerr // caught in the middle of being written
			}
			l.seen[path] = m
		}
		out = append(out, m)
		return nil
	})
	require.NoError(l.t, err)
	return out
}

// Committed counts the records in committed windows.
func (l *Lab) Committed() int64 {
	l.t.Helper()
	var n int64
	for _, m := range l.Manifests() {
		n += m.Records
	}
	return n
}

// AwaitCommitted waits until every acknowledged record is committed. If that
// does not happen, the judge says which are missing.
func (l *Lab) AwaitCommitted() {
	l.t.Helper()
	l.AwaitCommittedFor(Patience)
}

// AwaitCommittedFor is AwaitCommitted with a time of its own. The judge is
// asked when there are enough records: some may be of requests that got no
// answer, while others still wait in a queue.
func (l *Lab) AwaitCommittedFor(patience time.Duration) {
	l.t.Helper()
	acked := l.Journal().Acked()
	require.Positive(l.t, acked)
	end := time.Now().Add(patience)
	for l.Committed() < acked || l.Verdict().Lost > 0 {
		if time.Now().After(end) {
			v := l.Verdict()
			require.FailNow(l.t, "records are acknowledged and not committed", "%s\n%v", v, v.Err())
		}
		time.Sleep(poll)
	}
}

// Verdict has the independent judge look at the bucket. No load may run.
func (l *Lab) Verdict() *judge.Verdict {
	l.t.Helper()
	v, err := judge.Judge(os.DirFS(l.BucketDir()), prefix, l.Journal())
	require.NoError(l.t, err)
	return v
}

// Judge has both judges look at the bucket: every acknowledged record must be
// there once, and the lake be sound. No load may run.
func (l *Lab) Judge() *judge.Verdict {
	l.t.Helper()
	v := l.Verdict()
	require.NoError(l.t, v.Err())
	require.Equal(l.t, v.Acked, v.Found)
	for _, n := range l.Verify() {
		require.NotContains(l.t, []string{"uncommitted", "lost"}, n.Kind, "%s: %s", n.Key, n.Text)
	}
	l.t.Log(v)
	return v
}

// Note is something that the operator's tool finds worth saying.
type Note struct{ Kind, Key, Text string }

// Verify runs the operator's tool: the lake must be sound. It returns what
// else the tool says.
func (l *Lab) Verify() []Note {
	l.t.Helper()
	cmd := exec.Command(s3test.Binary(l.t, "s3window"), "verify", "-json", "-prefix", prefix, l.BucketDir())
	out, err := cmd.Output()
	var report struct {
		Sound  bool
		Damage []struct{ Key, Text string }
		Notes  []Note
	}
	require.NoError(l.t, json.Unmarshal(out, &report), "%s", out)
	require.Empty(l.t, report.Damage)
	require.NoError(l.t, err)
	require.True(l.t, report.Sound)
	return report.Notes
}
