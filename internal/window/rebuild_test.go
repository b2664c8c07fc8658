package window

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/wal"
)

// TestWindowsOfAnEarlierProcessFillTheMemory has so many sealed windows of an
// earlier process that what is remembered of them takes more than references
// may, before the first is read to its end: they are rebuilt all the same.
func TestWindowsOfAnEarlierProcessFillTheMemory(t *testing.T) {
	for name, c := range map[string]struct {
		memory    int64 // of the earlier process
		requests  int
		headsLate bool
	}{
		"the windows, after the memory was lowered":      {8 << 20, 2, false},
		"the windows, which were cut without it":         {512 << 10, 2, true},
		"their references, after the memory was lowered": {8 << 20, 12, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) { rebuildMany(t, c.memory, c.requests, c.headsLate) })
		})
	}
}

func rebuildMany(t *testing.T, memory int64, requests int, headsLate bool) {
	t.Helper()
	const tenants = 200
	w := newWorld(t)
	d := newDisk()
	r := rand.New(rand.NewPCG(1, 9))
	noPuts := func(op laketest.Op) laketest.Fault {
		if op.Kind == laketest.PutIfAbsent {
			return laketest.Fault{Before: errDown}
		}
		return laketest.Fault{}
	}
	w.bucket.Script(noPuts)
	if headsLate {
		w.bucket.Script(func(laketest.Op) laketest.Fault { return laketest.Fault{Before: errDown} })
	}
	p := w.start(d, settings{data: memory, maxAge: time.Minute})
	for g := range requests {
		records := make([]wal.Record, tenants)
		for i := range records {
			records[i] = record(fmt.Sprint("t", i), noise(r, fmt.Sprintf("%d-%d", i, g), 1, 1400)...)
		}
		require.NoError(t, p.wal.Append(t.Context(), records...))
		time.Sleep(5 * time.Second)
	}
	time.Sleep(30 * time.Second)
	w.bucket.Script(noPuts)
	eventually(t, func() bool { time.Sleep(time.Second); return len(p.wal.Seals()) >= tenants })
	p.crash()
	w.bucket.Script(nil)
	p = w.start(d, settings{data: 512 << 10, maxAge: time.Minute})
	time.Sleep(6 * time.Hour)
	assert.Zero(t, p.wal.Stats().Entries, "entries left")
	for i := range tenants {
		assert.Len(t, w.bodies(fmt.Sprint("t", i)), requests)
	}
	p.shutdown()
}
