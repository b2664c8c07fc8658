package memory

// What is counted beside data and references.
const (
	// RefBytes is what a reference to an entry is counted as. It has 32 bytes,
	// and a slice that grows has as much to spare.
	RefBytes = 64
	// WindowBytes is what a window costs beside its references and data.
	WindowBytes = 1024
)

// Share is memory that is held. It has one owner at a time. The zero value
// holds nothing. It is not safe for concurrent use.
type Share struct {
	budget     *Budget
	data, refs int64
}

// Data is how much data is held, bytes.
func (s *Share) Data() int64 { return s.data }

// Refs is how much is held for references, bytes.
func (s *Share) Refs() int64 { return s.refs }

// Release gives all of it back. The share is empty then, so releasing it again
// changes nothing.
func (s *Share) Release() { s.Resize(0, 0) }

// Resize holds data and refs bytes from now on, more or less than before. It
// does not wait: see Budget.Usable for when more is allowed.
func (s *Share) Resize(data, refs int64) {
	if s.budget == nil {
		return
	}
	s.budget.charge(amounts{data: data - s.data, refs: refs - s.refs})
	s.data, s.refs = data, refs
}

// Split takes a part out, which is a share of its own then. What is asked for
// and not there is not in it.
func (s *Share) Split(data, refs int64) Share {
	part := Share{budget: s.budget, data: min(data, s.data), refs: min(refs, s.refs)}
	s.data -= part.data
	s.refs -= part.refs
	return part
}

// Join takes over what other holds; other is empty then.
func (s *Share) Join(other *Share) {
	if s.budget == nil {
		s.budget = other.budget
	}
	s.data += other.data
	s.refs += other.refs
	*other = Share{}
}
