package window

import (
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/s3window/s3window/internal/wal"
)

// aheadQueue is a queue whose clock is ahead of the wall clock.
type aheadQueue struct {
	Queue
	by time.Duration
}

func (q aheadQueue) Ahead() time.Duration { return q.by }

// TestEventTimeWhileTheClockIsAhead has the wall clock come back after it was
// wrong for a month: records are filed under their own hour all the same, and
// only what the wall clock calls too old or too new is not. A crash does not
// change that for a window that is sealed.
func TestEventTimeWhileTheClockIsAhead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const month = 30 * 24 * time.Hour
		time.Sleep(2 * month)
		w := newWorld(t)
		d := newDisk()
		spec := filedSpec()
		spec.Filing.By = nil
		s := settings{maxAge: 10 * time.Second, spec: spec, queue: func(q *wal.WAL) Queue { return aheadQueue{q, month} }}
		w.bucket.Script(forbid("w-"))
		p := w.start(d, s)
		wall := time.Now().Add(-month)
		ld := plog.NewLogs()
		records := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
		for _, at := range []time.Time{wall, wall.Add(-2 * time.Hour), wall.Add(-9 * time.Hour), time.Now()} {
			lr := records.AppendEmpty()
			lr.Body().SetStr(at.String())
			lr.SetTimestamp(pcommon.NewTimestampFromTime(at))
		}
		payload, err := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
		require.NoError(t, err)
		require.NoError(t, p.wal.Append(t.Context(), wal.Record{Tenant: "acme", Signal: "logs", Items: 4, Payload: payload}))
		time.Sleep(20 * time.Second)
		require.Len(t, p.wal.Seals(), 1)
		p.crash()
		w.bucket.Script(nil)
		s.queue = nil // the next process cannot tell any more
		p = w.start(d, s)
		p.quiet()
		ws := w.windows("acme")
		require.Len(t, ws, 1)
		dirs := map[string]int64{}
		for _, o := range ws[0].Objects {
			dirs[dirOf(o.Key)] += o.Records
		}
		const layout = "dt=2006-01-02/hour=15"
		assert.Equal(t, map[string]int64{
			wall.UTC().Format(layout): 1, wall.Add(-2 * time.Hour).UTC().Format(layout): 1, time.Now().UTC().Format(layout): 2,
		}, dirs)
		p.shutdown()
	})
}

// dirOf is the directory of an object's key below its signal.
func dirOf(key string) string {
	_, below, _ := strings.Cut(path.Dir(key), "signal=logs/")
	return below
}
