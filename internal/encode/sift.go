package encode

import (
	"fmt"
	"slices"

	"github.com/s3window/s3window/internal/encode/route"
)

// Rejected is a record, span or data point that could not be encoded, or an
// entry as a whole.
//
// Of an entry with many of them, and where copies of their resources would
// grow beyond the entry's own size, the last stands for all that were not
// named before.
type Rejected struct {
	Index   int    // in the entries given to Stage
	Record  int    // number of the first record in its entry, from 1; 0 = the whole entry
	Records int    // how many it stands for; 0 = all that the entry has
	Payload []byte // a request of these records, or the entry's as it came
	Err     error
}

const (
	// maxNamed is how many records of an entry are named one by one: each is
	// written to the bucket on its own.
	maxNamed = 16
	// An attempt to encode some records of an entry costs as much as so many
	// bytes of it, and one that panics, which throws its memory away, more.
	attemptCost = 16 << 10
	panicCost   = 1 << 20
)

// sift is Stage for entries that cannot be encoded as they are. Each is tried
// alone, those that fail are taken apart, and what is good is encoded again. It
// costs several times what Stage does otherwise. Everything depends on the
// entries alone.
func (e *Encoder) sift(entries []Entry) (Staged, error) {
	var good []Entry
	var rejected []Rejected
	for i, x := range entries {
		rest, bad, err := e.siftEntry(x)
		if err != nil {
			return Staged{}, err
		}
		for _, r := range bad {
			r.Index = i
			rejected = append(rejected, r)
		}
		if len(bad) == 0 || bad[0].Record > 0 {
			good = append(good, rest)
		}
	}
	out, err := e.together(good, e.attempt)
	out.Rejected = rejected
	return out, err
}

// encodeAgain is encode for entries that could be encoded before, in other
// company.
func (e *Encoder) encodeAgain(entries []Entry) (Staged, error) {
	return e.together(entries, func(entries []Entry) (Staged, error) {
		return e.guarded(entries, func() (Staged, error) { return e.base.Stage(entries) })
	})
}

// together encodes entries that can be encoded each by itself; if they cannot
// be together, then each by itself.
func (e *Encoder) together(entries []Entry, encode func([]Entry) (Staged, error)) (Staged, error) {
	out, err := encode(entries)
	if !refused(err) {
		return out, err
	}
	out = Staged{}
	for i := range entries {
		s, err := encode(entries[i : i+1])
		if err != nil {
			return Staged{}, fmt.Errorf("encode an entry again: %w", err)
		}
		out.append(s)
	}
	return out, nil
}

// append adds what s has behind what is there.
func (out *Staged) append(s Staged) {
	out.content.append(s.content)
	out.filed = append(out.filed, s.filed...)
	out.add(s)
	out.Bytes += s.Bytes
	out.Skewed += s.Skewed
	out.Refiled += s.Refiled
}

// siftEntry returns what of an entry can be encoded, and what cannot. If
// nothing can, what cannot is the whole entry.
func (e *Encoder) siftEntry(x Entry) (rest Entry, bad []Rejected, err error) {
	_, err = e.attempt([]Entry{x})
	if !refused(err) {
		return x, nil, err
	}
	whole := []Rejected{{Payload: x.Payload, Err: err}}
	if len(x.Payload) > maxPayload {
		return x, whole, nil
	}
	parts, malformed := route.Apart(e.spec.Signal, x.Payload)
	if malformed != nil {
		return x, whole, nil
	}
	s := sifter{parts: parts, received: x.ReceivedAt, budget: 1<<30 + 64*int64(len(x.Payload)), good: make([]int, parts.Len())}
	for i := range s.good {
		s.good[i] = i
	}
	full := func(entries []Entry) error {
		_, err := e.attempt(entries)
		return err
	}
	for _, try := range []func([]Entry) error{e.check, full} {
		if err := s.run(try); err != nil {
			return x, nil, err
		}
		if len(s.good) == 0 && parts.Len() > 0 {
			break
		}
		rest = Entry{Payload: parts.Request(s.good), ReceivedAt: x.ReceivedAt}
		if err := full([]Entry{rest}); !refused(err) {
			return rest, s.rejected(len(x.Payload)), err
		}
	}
	return x, whole, nil
}

// sifter finds the records of an entry that cannot be encoded.
type sifter struct {
	parts    route.Parts
	received int64
	budget   int64 // of what is tried, bytes
	try      func([]Entry) error
	good     []int // numbers of records
	bad      []badRecord
}

type badRecord struct {
	number int
	err    error
}

// run moves the good records that are refused to the bad ones.
func (s *sifter) run(try func([]Entry) error) error {
	s.try = try
	found := len(s.bad)
	if err := s.halve(s.good); err != nil {
		return err
	}
	gone := s.bad[found:]
	s.good = slices.DeleteFunc(s.good, func(n int) bool {
		if len(gone) == 0 || gone[0].number != n {
			return false
		}
		gone = gone[1:]
		return true
	})
	return nil
}

// halve finds the bad ones of some records. Those that it has no budget to look
// into are bad.
func (s *sifter) halve(records []int) error {
	if len(records) == 0 {
		return nil
	}
	payload := s.parts.Request(records)
	s.budget -= int64(len(payload)) + attemptCost
	err := s.try([]Entry{{Payload: payload, ReceivedAt: s.received}})
	if !refused(err) {
		return err
	}
	if panicked(err) {
		s.budget -= panicCost
	}
	if len(records) == 1 || s.budget < 0 {
		for _, n := range records {
			s.bad = append(s.bad, badRecord{n, err})
		}
		return nil
	}
	half := len(records) / 2
	if err := s.halve(records[:half]); err != nil {
		return err
	}
	return s.halve(records[half:])
}

// rejected names the bad records of an entry whose payload has so many bytes.
func (s *sifter) rejected(size int) (out []Rejected) {
	slices.SortFunc(s.bad, func(a, b badRecord) int { return a.number - b.number })
	named := 0
	for i, b := range s.bad {
		r := Rejected{Record: b.number + 1, Records: 1, Payload: s.parts.Request([]int{b.number}), Err: b.err}
		named += len(r.Payload)
		if rest := len(s.bad) - i; rest > 1 && (named > size || i == maxNamed-1) {
			all := make([]int, 0, rest)
			for _, x := range s.bad[i:] {
				all = append(all, x.number)
			}
			r.Records, r.Payload = rest, s.parts.Request(all)
			return append(out, r)
		}
		out = append(out, r)
	}
	return out
}
