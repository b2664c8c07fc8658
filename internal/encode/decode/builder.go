package decode

import "fmt"

// shape makes requests of one signal.
type shape[T any] interface {
	layout() layout
	// heads are the fields that tell apart what records stand in, outermost first.
	heads() [][]int
	// begin starts a request of one record, with nothing in it.
	begin()
	// item reads the row's record into it, head what the record stands in.
	item(r row)
	head(r row, level int)
	// size returns its size as OTLP.
	size() int
	// put moves it into the request under construction. What it stands in
	// above level is what the record before it stands in.
	put(level int)
	// take returns the request under construction, and begins another.
	take() T
}

// builder groups rows into requests.
type builder[T any] struct {
	shape shape[T]
	src   source
	limit int
	visit func(T) error

	size    int // upper bound of the request as OTLP
	pending int // records in it
	records int // in all
	keys    [][]byte
	next    []byte
}

// lengths is how much the length of a message can grow when more is put into it.
const lengths = 6

// add adds the row that the source stands at.
func (b *builder[T]) add() error {
	level := b.level()
	b.shape.begin()
	b.shape.item(b.src)
	for l := level; l < len(b.keys); l++ {
		b.shape.head(b.src, l)
	}
	need := b.shape.size() + lengths*(len(b.keys)-level+1)
	if b.pending > 0 && b.size > b.limit-need {
		if err := b.emit(); err != nil {
			return err
		}
		for l := range level {
			b.shape.head(b.src, l)
		}
		level, need = 0, b.shape.size()+lengths*(len(b.keys)+1)
	}
	if err := b.src.wrong(); err != nil {
		return fmt.Errorf("decode record %d: %w", b.records, err)
	}
	b.shape.put(level)
	b.size += need
	b.pending++
	b.records++
	return nil
}

// level returns the first level of which the row has another head than the row
// before, and remembers the row's.
func (b *builder[T]) level() int {
	heads := b.shape.heads()
	if b.keys == nil {
		b.keys = make([][]byte, len(heads))
	}
	level := len(heads)
	for l, fields := range heads {
		b.next = b.src.appendKey(b.next[:0], fields)
		if string(b.next) != string(b.keys[l]) {
			b.keys[l], b.next, level = b.next, b.keys[l], min(level, l)
		}
	}
	if b.pending == 0 {
		return 0
	}
	return level
}

// emit passes on what was gathered.
func (b *builder[T]) emit() error {
	if b.pending == 0 {
		return nil
	}
	b.size, b.pending = 0, 0
	return b.visit(b.shape.take())
}
