package verify

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

const (
	sortBudget  = 32 << 20 // bytes of hashes that are sorted at once
	sortsAtOnce = 2        // of one table
	maxParts    = 128      // files of one table
	maxPairs    = 100_000  // pairs of objects that are told apart
	spilled     = 20       // bytes of a hash and the number of its object on disk
	loaded      = 24       // in memory
)

// rowHash is the beginning of the SHA-256 of a row's content.
type rowHash [16]byte

// spill keeps hashes on disk, parted by their first byte. add is safe for
// concurrent use; flush comes after the last add, find after that.
type spill struct {
	budget int64
	parts  []*part
}

type part struct {
	mu sync.Mutex // guards everything declared below
	f  *os.File
	w  *bufio.Writer
	n  int64
}

func newSpill(dir string, rows, budget int64) (*spill, error) {
	s := &spill{budget: budget}
	for i := range min(max(rows*loaded/budget+1, 1), maxParts) {
		f, err := os.Create(filepath.Join(dir, fmt.Sprint("hashes-", i)))
		if err != nil {
			s.close()
			return nil, fmt.Errorf("make room for hashes: %w", err)
		}
		s.parts = append(s.parts, &part{f: f, w: bufio.NewWriterSize(f, 32<<10)})
	}
	return s, nil
}

func (s *spill) close() {
	for _, p := range s.parts {
		p.f.Close()
	}
}

// add keeps that a row with this hash is in an object.
func (s *spill) add(h rowHash, object uint32) error {
	p := s.parts[int(h[0])*len(s.parts)>>8]
	var line [spilled]byte
	copy(line[:], h[:])
	binary.LittleEndian.PutUint32(line[len(h):], object)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n++
	if _, err := p.w.Write(line[:]); err != nil {
		return fmt.Errorf("keep a hash: %w", err)
	}
	return nil
}

func (s *spill) flush() error {
	for _, p := range s.parts {
		if err := p.w.Flush(); err != nil {
			return fmt.Errorf("keep hashes: %w", err)
		}
	}
	return nil
}

// pairs counts records that stand before, by the objects that share them.
type pairs struct {
	mu      sync.Mutex // guards everything declared below
	records int64
	count   map[pair]int64
	more    int64 // records of pairs beyond maxPairs
}

// pair is the object that first holds a record and one that holds a copy; the
// same where an object holds it more than once.
type pair struct{ first, other uint32 }

func (p *pairs) add(first, other uint32, n int64) {
	if n <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.records += n
	key := pair{first, other}
	if _, ok := p.count[key]; !ok && len(p.count) >= maxPairs {
		p.more += n
		return
	}
	p.count[key] += n
}

// find returns which hashes are there more than once.
func (s *spill) find(ctx context.Context) (*pairs, error) {
	out := &pairs{count: map[pair]int64{}}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(sortsAtOnce)
	for _, p := range s.parts {
		g.Go(func() error {
			passes := min(p.n*loaded/s.budget+1, 256)
			for i := range passes {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := p.pass(i, passes, s.budget, out); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return out, g.Wait()
}

// row is how often a hash is in an object.
type row struct {
	hash   rowHash
	object uint32
	n      uint32
}

// pass sorts one of passes equal shares of the part, by the second byte.
func (p *part) pass(i, passes, budget int64, out *pairs) error {
	r := bufio.NewReaderSize(io.NewSectionReader(p.f, 0, p.n*spilled), 256<<10)
	limit := int(max(budget/loaded, 16))
	rows := make([]row, 0, min(int64(limit), p.n/passes+p.n/8+16))
	var line [spilled]byte
	for {
		if _, err := io.ReadFull(r, line[:]); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		if int64(line[1])*passes>>8 != i {
			continue
		}
		if len(rows) >= limit {
			// Many equal hashes fold into few.
			if rows = fold(rows); len(rows) > limit/2 {
				limit *= 2
			}
		}
		rows = append(rows, row{rowHash(line[:16]), binary.LittleEndian.Uint32(line[16:]), 1})
	}
	rows = fold(rows)
	for len(rows) > 0 {
		end := 1
		for end < len(rows) && rows[end].hash == rows[0].hash {
			end++
		}
		first := rows[0].object
		out.add(first, first, int64(rows[0].n)-1)
		for _, other := range rows[1:end] {
			out.add(first, other.object, int64(other.n))
		}
		rows = rows[end:]
	}
	return nil
}

// fold sorts rows and adds up those of one hash and object.
func fold(rows []row) []row {
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(bytes.Compare(a.hash[:], b.hash[:]), cmp.Compare(a.object, b.object))
	})
	out := rows[:0]
	for _, r := range rows {
		if n := len(out); n > 0 && out[n-1].hash == r.hash && out[n-1].object == r.object {
			out[n-1].n += r.n
			continue
		}
		out = append(out, r)
	}
	return out
}
