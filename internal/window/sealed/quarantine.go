package sealed

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
func (f *Flusher) quarantine(ctx context.Context, d *Durable, r *Result) error {
	for _, u := range d.Units {
		for _, x := range u.rows.rejected {
			lost := lake.Lost{Writer: d.Writer, Stamp: x.Stamp, Seq: x.Seq, Records: x.records, Reason: x.err.Error()}
			if x.payload == nil {
				r.Missing = append(r.Missing, lost)
				continue
			}
			e := lake.Entry{Writer: d.Writer, Stamp: x.Stamp, Seq: x.Seq, Record: x.record}
			key, err := d.To.Lake.Quarantine(ctx, d.ID(), e, x.payload)
			// Which records go together is for the encoder to say: another version of
			// it may have put these before, in other company.
			if err != nil && (x.record == 0 || !errors.Is(err, lake.ErrExists)) {
				return fmt.Errorf("quarantine entry: %w", err)
			}
			lost.Key = key
			r.Lost = append(r.Lost, lost)
		}
	}
	return nil
}
