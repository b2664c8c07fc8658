package route

import (
	"fmt"

	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/partition"
)

// Piece is what of the entries belongs to one place.
type Piece struct {
	Place
	Entries []otlp.Entry
	Items   int   // records, spans or data points
	Bytes   int64 // of the entries' payloads
}

// Dealt is what became of the entries.
type Dealt struct {
	Pieces  []Piece // in the order in which their places were met
	Skewed  int64   // items whose own time is too far off
	Refiled int64   // items whose place was one too many
}

// Router deals out the records of one signal. It is safe for concurrent use.
type Router struct {
	rule   Rule
	signal partition.Signal
	// whole says that a resource's records all belong to one place.
	whole  bool
	limit  int      // places of one call
	levels [3][]int // indexes into rule.By: of the resource, of the scope, of the record
}

const (
	ofResource = iota
	ofScope
	ofRecord
)

const (
	// maxPayload bounds an entry; offsets within one are 32 bits.
	maxPayload = 1 << 31
	// maxMet bounds the places that are told apart in one call.
	maxMet = 1 << 16
	// maxCopies bounds the copies of what is around the items, in sizes of the
	// call's entries.
	maxCopies = 3
)

// New returns a Router. The error names everything that is wrong with rule.
func New(rule Rule, signal partition.Signal) (*Router, error) {
	if err := rule.Validate(); err != nil {
		return nil, err
	}
	if _, err := partition.ParseSignal(string(signal)); err != nil {
		return nil, err
	}
	// A place that is small here may be large in the window: it is decided once
	// all are known which have objects of their own. This bound is for memory.
	r := &Router{rule: rule, signal: signal, limit: 4 * rule.MaxPlaces}
	for i, l := range rule.By {
		of := ofRecord
		switch {
		case l.ResourceAttribute != "":
			of = ofResource
		case l.ScopeAttribute != "":
			of = ofScope
		}
		r.levels[of] = append(r.levels[of], i)
	}
	r.whole = !rule.EventTime && len(r.levels[ofScope])+len(r.levels[ofRecord]) == 0
	return r, nil
}

// Rule is the router's rule.
func (r *Router) Rule() *Rule { return &r.rule }

// Split deals out the entries. If one is malformed as far as it has to be read,
// the error wraps otlp.ErrMalformed. The pieces share memory with the payloads.
func (r *Router) Split(entries []otlp.Entry) (Dealt, error) {
	s := newSplit(r)
	var out Dealt
	var bytes int64
	for _, e := range entries {
		if err := s.entry(e); err != nil {
			return Dealt{}, err
		}
		bytes += int64(len(e.Payload))
		s.ends = append(s.ends, len(s.leaves))
	}
	s.limit(r.limit, bytes)
	out.Skewed, out.Refiled = s.skewed, s.refiled
	out.Pieces = s.pieces(entries)
	return out, nil
}

// entry finds out where the records of an entry are, and what their places are.
func (s *split) entry(e otlp.Entry) error {
	if len(e.Payload) >= maxPayload {
		return fmt.Errorf("%w: entry has %d bytes", otlp.ErrMalformed, len(e.Payload))
	}
	s.received = e.ReceivedAt
	return otlp.Fault(s.request(e.Payload))
}
