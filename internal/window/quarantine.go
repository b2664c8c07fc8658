package window

import (
	"context"
	"fmt"

	"github.com/s3window/s3window/internal/lake"
)

// quarantine keeps the entries that do not decode in the bucket and names them
// in the window, which goes on without them.
//
// Crash before this: they are found again by the same window. Crash after it:
// the same bytes are put under the same key again.
func (r *Runtime) quarantine(ctx context.Context, w *sealedWindow) error {
	for _, u := range w.units {
		for _, x := range u.rejected {
			e := lake.Entry{Writer: w.Writer, Stamp: x.stamp, Seq: x.seq}
			lost := lake.Lost{Writer: w.Writer, Stamp: x.stamp, Seq: x.seq, Records: int64(x.items), Reason: x.err.Error()}
			if x.payload == nil { // the WAL counts it, and may have named it already
				r.opt.Damage.put(key{w.Tenant, w.Signal}, lost)
				continue
			}
			k, err := w.dest.lake.Quarantine(ctx, w.id(), e, x.payload)
			if err != nil {
				return fmt.Errorf("quarantine entry: %w", err)
			}
			lost.Key = k
			w.result.lost = append(w.result.lost, lost)
		}
	}
	return nil
}
