package window

import (
	"context"
	"errors"
	"fmt"

	"github.com/s3window/s3window/internal/lake"
)

// quarantine keeps the entries and records that do not decode in the bucket and
// names them in the window, which goes on without them.
//
// Crash before this: they are found again by the same window. Crash after it:
// the same bytes are put under the same key again.
func (r *Runtime) quarantine(ctx context.Context, w *sealedWindow) error {
	for _, u := range w.units {
		for _, x := range u.rejected {
			e := lake.Entry{Writer: w.Writer, Stamp: x.stamp, Seq: x.seq, Record: x.record}
			lost := lake.Lost{Writer: w.Writer, Stamp: x.stamp, Seq: x.seq, Records: x.records, Reason: x.err.Error()}
			if x.payload == nil { // the WAL counts it, and may have named it already
				r.opt.Damage.put(key{w.Tenant, w.Signal}, lost)
				continue
			}
			k, err := w.dest.lake.Quarantine(ctx, w.id(), e, x.payload)
			// Which records go together is for the encoder to say: another version of
			// it may have put these before, in other company.
			if err != nil && (x.record == 0 || !errors.Is(err, lake.ErrExists)) {
				return fmt.Errorf("quarantine entry: %w", err)
			}
			lost.Key = k
			w.result.lost = append(w.result.lost, lost)
		}
	}
	return nil
}
