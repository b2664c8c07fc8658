package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/s3window/s3window/internal/encode/route"
	"github.com/s3window/s3window/internal/partition"
)

// maxInARow is how many records may be refused one after the other: a receiver
// that takes none of so many has another reason than the records.
const maxInARow = 100

// Refused is a record that the receiver refuses for good.
type Refused struct {
	Sink   string           `json:"sink"`
	Tenant string           `json:"tenant"`
	Signal partition.Signal `json:"signal"`
	K      uint64           `json:"k"`
	Object string           `json:"object_key"`
	Record int64            `json:"record"` // its row or line in the object, from 1
	Reason string           `json:"reason"` // in the receiver's words
}

func (x Refused) String() string {
	return fmt.Sprintf("record %d of object %q (tenant %q, %s, window %d)", x.Record, x.Object, x.Tenant, x.Signal, x.K)
}

// RefusedError is why a replay ended at a record that the receiver refuses.
type RefusedError struct {
	Refused
	Err error
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the receiver refuses %s: %v", e.Refused, e.Err)
}

func (e *RefusedError) Unwrap() error { return e.Err }

// ErrAllRefused says that so many records were refused that it cannot be because
// of them.
var ErrAllRefused = fmt.Errorf("it has refused %d records one after the other, so it is not about them", maxInARow)

// request sends a request whose first record has a number in its object. What
// the receiver does not want is halved until the records that it refuses are
// found: all others are sent.
func (r *replay) request(ctx context.Context, request []byte, first int64, records int) error {
	refused, err := r.to.Send(ctx, r.out.ID, request, records)
	if err == nil {
		r.inARow = 0
		r.progress.Requests.Add(1)
		r.progress.Records.Add(int64(records))
		r.progress.Refused.Add(refused)
		return nil
	}
	if !unwanted(err) {
		return err
	}
	if records == 1 {
		return r.skip(first, err)
	}
	parts, malformed := route.Apart(r.out.ID.Signal, request)
	if malformed != nil || parts.Len() != records {
		return err
	}
	all := make([]int, records)
	for i := range all {
		all[i] = i
	}
	half := records / 2
	if err := r.request(ctx, parts.Request(all[:half]), first, half); err != nil {
		return err
	}
	return r.request(ctx, parts.Request(all[half:]), first+int64(half), records-half)
}

// skip passes over a record that the receiver refuses, or ends the replay.
func (r *replay) skip(record int64, err error) error {
	id := r.out.ID
	x := Refused{
		Sink: id.Sink, Tenant: id.Tenant, Signal: id.Signal, K: r.object.k, Object: r.object.key, Record: record, Reason: err.Error(),
	}
	if r.Skip == nil {
		return &RefusedError{x, err}
	}
	if r.inARow++; r.inARow > maxInARow {
		return &RefusedError{x, fmt.Errorf("%w: %w", ErrAllRefused, err)}
	}
	if err := r.Skip(x); err != nil {
		return err
	}
	r.out.Skipped++
	r.progress.Skipped.Add(1)
	return nil
}

// RefusedFile is where records are written down that a replay passed over: one
// JSON object a line. A record stands there once, however often a replay met it.
type RefusedFile struct {
	path string
	seen map[Refused]bool // without their reasons
}

// OpenRefused reads the file at path, or starts one with the first Add if there
// is none. With an empty path nothing is written.
func OpenRefused(path string) (*RefusedFile, error) {
	f := &RefusedFile{path: path, seen: map[Refused]bool{}}
	if path == "" {
		return f, nil
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the refused records: %w", err)
	}
	whole, rest := cutTail(b)
	for line := range bytes.Lines(whole) {
		var x Refused
		if err := json.Unmarshal(line, &x); err != nil {
			return nil, fmt.Errorf("read the refused records in %q: %w", path, err)
		}
		f.note(x)
	}
	if len(rest) > 0 { // a crash while it was written; the record comes again
		if err := os.Truncate(path, int64(len(whole))); err != nil {
			return nil, fmt.Errorf("mend the refused records: %w", err)
		}
	}
	return f, nil
}

// cutTail cuts off a last line that has no end.
func cutTail(b []byte) (whole, rest []byte) {
	n := bytes.LastIndexByte(b, '\n') + 1
	return b[:n], b[n:]
}

// note returns false if the record was noted before.
func (f *RefusedFile) note(x Refused) bool {
	x.Reason = ""
	before := f.seen[x]
	f.seen[x] = true
	return !before
}

// Add writes a record down. It returns only after that is durable.
//
// Crash before this: the record is met again. Crash after it: it is too, with
// its window, and is not written down twice.
func (f *RefusedFile) Add(x Refused) (err error) {
	if !f.note(x) || f.path == "" {
		return nil
	}
	line, err := json.Marshal(x)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("write down %s: %w", x, err)
		}
	}()
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write(append(line, '\n')); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return syncDir(filepath.Dir(f.path))
}
