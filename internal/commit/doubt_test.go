package commit

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake/laketest"
)

// A bucket that was deleted and made anew, or set back, while its objects could
// not be put has its log begun or gone on with where it ends, by a process that
// was alive all the time.
func TestBucketThatIsAnotherOne(t *testing.T) {
	for name, turns := range map[string]bool{"without turns": false, "with turns": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			p := r.process("a", func(o *Options) { o.Turns = turns })
			empty := r.bucket.Clone()
			r.commit(p, r.win(writerA, 0, 10, 20))
			one := r.bucket.Clone()
			r.commit(p, r.win(writerA, 20, 20, 30), r.win(writerA, 30, 30, 40))
			for _, c := range []struct {
				to  *laketest.Memory
				end int64 // of writerA there
				k   uint64
			}{{empty, 0, 0}, {one, 20, 1}} {
				r.bucket.Restore(c.to)
				p.Doubt()
				_, err := p.Commit(t.Context(), []Window{r.win(writerA, 40, 40, 50)})
				var overlap *Overlap
				require.ErrorAs(t, err, &overlap)
				assert.Equal(t, c.end, overlap.End, "the caller gives what is left from there")
				ends, err := p.Read(t.Context())
				require.NoError(t, err)
				assert.Equal(t, c.k, ends.K())
				r.commit(p, r.win(writerA, c.end, 40, 50))
				assert.Len(t, r.judged(), int(c.k)+1)
			}
			fresh := r.process("b", func(o *Options) { o.Turns = turns })
			ends, err := fresh.Read(t.Context())
			require.NoError(t, err)
			assert.EqualValues(t, 2, ends.K())
		})
	}
}

// A put that fails brings the doubt by itself; what fits costs one request.
func TestFailedPutsBringDoubt(t *testing.T) {
	r := newRig(t)
	p := r.process("a")
	r.commit(p, r.win(writerA, 0, 10, 20))
	w := r.win(writerA, 20, 20, 30)
	r.bucket.Script(func(op laketest.Op) laketest.Fault {
		if op.Kind == laketest.PutIfAbsent {
			return laketest.Fault{Before: errFault}
		}
		return laketest.Fault{}
	})
	_, err := p.Commit(t.Context(), []Window{w})
	require.ErrorIs(t, err, errFault)
	r.bucket.Script(nil)
	r.requests()
	r.commit(p, w)
	bucket, _ := r.requests()
	assert.Equal(t, 2, bucket, "a look, and the put")
	next := r.win(writerA, 30, 30, 40)
	r.requests()
	r.commit(p, next)
	bucket, _ = r.requests()
	assert.Equal(t, 1, bucket, "the doubt is gone")
}
