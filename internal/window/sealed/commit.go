package sealed

import (
	"cmp"
	"context"
	"slices"

	"github.com/s3window/s3window/internal/commit"
	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/lake"
)

// Commit commits windows of one commit log and writer, in the order of their
// stamps, and takes their entries out of the queue. after is the end of the
// writer's window before the first. It returns those that are through, counted
// from the first, also beside an error; the others may be given again.
func (f *Flusher) Commit(ctx context.Context, ws []*Uploaded, after int64) ([]*Committed, error) {
	var cs []commit.Window
	for _, w := range ws {
		if !w.Empty() {
			cs = append(cs, w.entry(after))
			after = w.End
		}
	}
	n := 0
	var err error
	if len(cs) > 0 {
		n, err = f.turn(ctx, ws[0].To.Log, cs)
	}
	var through []*Committed
	for _, w := range ws {
		if !w.Empty() {
			if n == 0 {
				break
			}
			n--
		}
		c := &Committed{w}
		if e := f.trim(ctx, c); e != nil {
			return through, at(Trim, e)
		}
		through = append(through, c)
	}
	return through, at(Commit, err)
}

// turn commits windows when one of the places for that is free.
func (f *Flusher) turn(ctx context.Context, log Log, cs []commit.Window) (int, error) {
	leave, err := enter(ctx, f.turns)
	if err != nil {
		return 0, err
	}
	defer leave()
	return log.Commit(ctx, cs)
}

// entry is what the commit log will say of the window.
func (u *Uploaded) entry(after int64) commit.Window {
	return commit.Window{
		ID: u.ID(), Writer: u.Writer, After: after, Start: u.Start, End: u.End, Reason: string(u.Reason),
		Format: u.Spec.Format, Compression: u.Spec.Codec, Schema: encode.SchemaVersion(), Columns: columns(&u.Spec),
		Objects: u.Objects, Records: u.Records, Bytes: u.Bytes, RawBytes: u.Raw,
		MinTime: u.MinTime, MaxTime: u.MaxTime, Lost: slices.Concat(u.Lost, u.Damaged),
	}
}

// columns are the promoted columns of objects under a spec.
func columns(s *encode.Spec) (out []lake.Column) {
	for _, c := range s.Columns {
		out = append(out, lake.Column{Name: c.As, Type: cmp.Or(c.Type, "string")})
	}
	return out
}

// trim takes the window's entries out of the queue, then its seal, in this
// order.
//
// Crash before this, or in its middle: the window is committed, so what is left
// of its entries is dropped when they are read. Crash before the seal is gone:
// the next process finds it empty or committed, and deletes it.
func (f *Flusher) trim(ctx context.Context, c *Committed) error {
	if err := f.Persist(ctx, Trim, func() error { return f.Queue.Trim(ctx, c.seqs()) }); err != nil {
		return err
	}
	return f.Persist(ctx, DeleteSeal, func() error { return f.Queue.DeleteSeal(ctx, c.SealID) })
}
