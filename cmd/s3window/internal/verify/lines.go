package verify

import (
	"bytes"
	"errors"
	"io"
	"time"
)

// lineHead is how much of a line's beginning is looked at: received_at stands
// there, behind times and numbers only.
const lineHead = 256

// lines takes the facts from lines of JSON. A last line without its end is an
// error.
func (f *facts) lines(r io.Reader) error {
	buf := make([]byte, 64<<10)
	head := make([]byte, 0, lineHead)
	begun := false
	for {
		n, err := r.Read(buf)
		for rest := buf[:n]; len(rest) > 0; {
			line, behind, ended := bytes.Cut(rest, []byte{'\n'})
			head = append(head, line[:min(len(line), lineHead-len(head))]...)
			if begun, rest = true, behind; ended {
				f.rows++
				f.line(head)
				head, begun = head[:0], false
			}
		}
		if errors.Is(err, io.EOF) {
			if begun {
				return errors.New("the last line has no end")
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// line widens the bounds by the received_at of a line, if it stands in head as
// it is written.
func (f *facts) line(head []byte) {
	_, text, ok := bytes.Cut(head, []byte(`,"received_at":"`))
	if !ok {
		return
	}
	text, _, ok = bytes.Cut(text, []byte{'"'})
	if at, err := time.Parse(time.RFC3339Nano, string(text)); ok && err == nil {
		f.widen(at.UnixMicro(), at.UnixMicro())
	}
}
