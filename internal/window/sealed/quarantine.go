package sealed

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
func (f *Flusher) quarantine(ctx context.Context, d *Durable, r *Result) error {
	for _, u := range d.Units {
		for _, x := range u.rows.rejected {
			lost := lake.Lost{Writer: d.Writer, Stamp: x.Stamp, Seq: x.Seq, Records: int64(x.Items), Reason: x.err.Error()}
			if x.payload == nil {
				r.Missing = append(r.Missing, lost)
				continue
			}
			key, err := d.To.Lake.Quarantine(ctx, d.ID(), lake.Entry{Writer: d.Writer, Stamp: x.Stamp, Seq: x.Seq}, x.payload)
			if err != nil {
				return fmt.Errorf("quarantine entry: %w", err)
			}
			lost.Key = key
			r.Lost = append(r.Lost, lost)
		}
	}
	return nil
}
