package window

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/encode/encodetest"
	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/wal"
)

// TestFirstWindowKeepsToItsSize has processes whose target is far below what is
// encoded at once, so that nothing of a window is encoded before it is sealed:
// the first window of each, also after a restart, is as large as it should be.
func TestFirstWindowKeepsToItsSize(t *testing.T) {
	const target = 1 << 20
	for _, f := range []struct {
		format, codec string
		text          int // bytes of a body
	}{
		{"parquet", "snappy", 40}, {"parquet", "snappy", 2000}, {"jsonl", "none", 40}, {"jsonl", "none", 2000}, {"jsonl", "gzip", 2000},
	} {
		t.Run(fmt.Sprintf("%s %s, bodies of %d", f.format, f.codec, f.text), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				d := newDisk()
				spec := encode.Spec{
					Signal: partition.Logs, Format: f.format, Codec: f.codec,
					RowGroupRows: encode.DefaultRowGroupRows, RowGroupBytes: encode.DefaultRowGroupBytes,
				}
				for life := range 2 {
					p := w.start(d, settings{target: target, maxAge: time.Hour, spec: spec})
					n := 0
					for i := int64(0); len(p.seen.windows()) == 0; i++ {
						require.Less(t, i, int64(10_000))
						for _, payload := range encodetest.Logs(i+1, 200) {
							payload = append(payload, record("acme", noise(rand.New(rand.NewPCG(1, uint64(i))), fmt.Sprint(i), 20, f.text)...).Payload...)
							require.NoError(t, p.wal.Append(t.Context(), wal.Record{Tenant: "acme", Signal: "logs", Items: 220, Payload: payload}))
							n++
						}
						time.Sleep(10 * time.Millisecond)
						synctest.Wait()
					}
					first := p.seen.windows()[0]
					t.Logf("life %d: %d bytes of %d raw in %d requests", life, first.Bytes, first.RawBytes, n)
					assert.Equal(t, flush.Size, first.Reason)
					assert.InDelta(t, target, first.Bytes, float64(target/8+first.Bytes/int64(n)), "an eighth, and a request; life %d", life)
					p.crash()
				}
			})
		})
	}
}

// TestSamplesAreFew has a partition measured twice, the second time to know it
// better, and no more.
func TestSamplesAreFew(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(newDisk(), settings{maxAge: time.Hour, spec: encode.Spec{
			Signal: partition.Logs, Format: "parquet", Codec: "snappy", RowGroupRows: encode.DefaultRowGroupRows, RowGroupBytes: encode.DefaultRowGroupBytes,
		}})
		state := func() (measured, sampled int64) {
			p.do(func() { x := p.parts[key{"acme", partition.Logs}]; measured, sampled = x.measured, x.sampled })
			return measured, sampled
		}
		size := int64(0)
		var steps []int64
		for i := range 100 {
			r := record("acme", noise(rand.New(rand.NewPCG(1, uint64(i))), fmt.Sprint(i), 20, 1000)...)
			require.NoError(t, p.wal.Append(t.Context(), r))
			size += int64(len(r.Payload))
			synctest.Wait()
			measured, sampled := state()
			assert.GreaterOrEqual(t, measured, sampled, "it is done")
			if n := len(steps); n == 0 || steps[n-1] != measured {
				steps = append(steps, measured)
			}
		}
		require.Greater(t, size, int64(enough))
		require.Len(t, steps, 3)
		assert.Zero(t, steps[0])
		assert.InDelta(t, little, steps[1], 40_000)
		assert.InDelta(t, enough, steps[2], 40_000)
		p.crash()
	})
}

// TestLearn has what tells more count alone, and what tells little not at all.
func TestLearn(t *testing.T) {
	p := &part{}
	p.learn(10_000, 5_000)
	assert.Zero(t, p.ratio, "nearly all of it is footer")
	p.learn(little, little)
	assert.InDelta(t, 1, p.ratio, 0)
	p.learn(enough/2, enough)
	assert.InDelta(t, 0.5, p.ratio, 0, "more than all before")
	p.learn(16*enough/4, 16*enough)
	assert.InDelta(t, 0.375, p.ratio, 0, "smoothed from here on")
	p.learn(little, little)
	assert.InDelta(t, 0.375+0.125*0.625, p.ratio, 1e-9, "a smaller one counts less")
}
