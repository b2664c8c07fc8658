package encode

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/s3window/s3window/internal/encode/route"
	"github.com/s3window/s3window/internal/partition"
)

var errCarried = errors.New("what was carried is damaged in memory")

// Plan says which objects the rows of a window go to. It depends on the staged
// rows alone.
type Plan struct {
	encoder *Encoder
	places  []placed

	// Refiled counts the records that were to have another place, and had to go
	// to the window's own because of their number of places. Small counts those
	// that had to because their place would have had too few.
	Refiled, Small int64
}

// placed is what a place gets, in order.
type placed struct {
	partition.Place
	period int64
	filed  []*filed
	items  int64
	raw    int64
}

// Plan deals the rows of a window, in the order staged, out to places. own is
// the window's: it has those that are filed under the window's time, and no
// levels of its own.
func (e *Encoder) Plan(own partition.Place, staged []Staged) *Plan {
	p := &Plan{encoder: e}
	if e.router == nil {
		all := placed{Place: own}
		for i := range staged {
			if staged[i].Rows > 0 {
				all.filed = append(all.filed, &filed{staged: staged[i]})
			}
		}
		if len(all.filed) > 0 {
			p.places = append(p.places, all)
		}
		return p
	}
	rule := e.router.Rule()
	byPlace := map[route.Place]*placed{}
	for i := range staged {
		p.Refiled += staged[i].Refiled
		for j := range staged[i].filed {
			f := &staged[i].filed[j]
			at := f.Place
			if at.Period == route.Own {
				at.Period = rule.Period(own.Time)
			}
			if byPlace[at] == nil {
				byPlace[at] = &placed{Place: partition.Place{Time: own.Time, Align: own.Align, Levels: at.Levels}, period: at.Period}
				if at.Period != rule.Period(own.Time) {
					byPlace[at].Time = rule.Time(at.Period)
				}
			}
			byPlace[at].filed = append(byPlace[at].filed, f)
			byPlace[at].items += int64(f.items)
			byPlace[at].raw += f.raw
		}
	}
	p.Small = gather(byPlace, rule, own)
	p.Refiled += merge(byPlace, rule, own)
	for _, at := range byPlace {
		p.places = append(p.places, *at)
	}
	slices.SortFunc(p.places, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.period, b.period), cmp.Compare(a.Levels, b.Levels))
	})
	return p
}

// merge joins the places with the fewest records to others where there are too
// many: to the one with the same levels in the window's own time, or else to
// the rest. It says how many records that moved.
func merge(places map[route.Place]*placed, rule *route.Rule, own partition.Place) (moved int64) {
	if len(places) <= rule.MaxPlaces {
		return 0
	}
	order := make([]route.Place, 0, len(places))
	for at := range places {
		order = append(order, at)
	}
	slices.SortFunc(order, func(a, b route.Place) int {
		return cmp.Or(cmp.Compare(places[b].items, places[a].items), cmp.Compare(a.Period, b.Period), cmp.Compare(a.Levels, b.Levels))
	})
	kept := map[route.Place]bool{}
	for _, at := range order[:rule.MaxPlaces] {
		kept[at] = true
	}
	rest := rule.Rest()
	rest.Period = rule.Period(own.Time)
	for _, at := range order[rule.MaxPlaces:] {
		to := route.Place{Period: rest.Period, Levels: at.Levels}
		if !kept[to] {
			to = rest
		}
		if to == at {
			continue
		}
		moved += move(places, at, to, own)
	}
	return moved
}

// move joins a place to another one of the window's own time, which is made if
// there is none, and says how many records that are.
func move(places map[route.Place]*placed, at, to route.Place, own partition.Place) int64 {
	if places[to] == nil {
		places[to] = &placed{Place: partition.Place{Time: own.Time, Align: own.Align, Levels: to.Levels}, period: to.Period}
	}
	from := places[at]
	delete(places, at)
	places[to].filed = append(places[to].filed, from.filed...)
	places[to].items += from.items
	places[to].raw += from.raw
	return from.items
}

// Len is how many places have objects.
func (p *Plan) Len() int { return len(p.places) }

// Objects gives the objects of place i, in order; they are complete in memory.
// What was carried for them is encoded now, so it costs what Stage does; the
// memory of that was counted when it was staged.
func (p *Plan) Objects(i int, id partition.ID, writer string) (out []Object, err error) {
	at := &p.places[i]
	staged, err := p.join(at)
	if err != nil {
		return nil, err
	}
	parts := cut(staged, p.encoder.spec.ObjectBytes)
	for n, part := range parts {
		o, err := p.encoder.Assemble(id, writer, part)
		if err != nil {
			return nil, err
		}
		o.Place = at.Place
		if len(parts) > 1 {
			o.Part = n + 1
		}
		out = append(out, o)
	}
	return out, nil
}

// join encodes what was carried for a place, in row groups as large as they may
// be, behind what is encoded already.
func (p *Plan) join(at *placed) (out []Staged, err error) {
	var entries []Entry
	var items int
	var raw int64
	flush := func() error {
		if len(entries) == 0 {
			return nil
		}
		s, err := p.encoder.encodeAgain(entries)
		if err != nil {
			return fmt.Errorf("encode what was carried: %w", err)
		}
		out = append(out, s)
		entries, items, raw = entries[:0], 0, 0
		return nil
	}
	rows, bytes := p.encoder.groupBounds()
	for _, f := range at.filed {
		if f.carried == nil {
			out = append(out, f.staged)
		}
	}
	for _, f := range at.filed {
		if f.carried == nil {
			continue
		}
		if items+f.items > rows || raw+f.raw > bytes {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		if entries, err = readCarried(entries, f.carried); err != nil {
			return nil, err
		}
		items, raw = items+f.items, raw+f.raw
	}
	err = flush()
	return out, err
}

// groupBounds say how much is joined to one row group.
func (e *Encoder) groupBounds() (rows int, bytes int64) {
	rows, bytes = e.spec.RowGroupRows, e.spec.RowGroupBytes
	if rows == 0 {
		rows = DefaultRowGroupRows
	}
	if bytes == 0 || bytes > joinBytes {
		bytes = joinBytes
	}
	return rows, bytes
}

// cut gives runs of staged rows that have at most limit bytes each, or are a
// single one. There is at least one. 0 is no limit.
func cut(staged []Staged, limit int64) [][]Staged {
	if limit == 0 {
		return [][]Staged{staged}
	}
	var parts [][]Staged
	from, size := 0, int64(0)
	for i, s := range staged {
		if i > from && size+s.Size > limit {
			parts = append(parts, staged[from:i:i])
			from, size = i, 0
		}
		size += s.Size
	}
	return append(parts, staged[from:])
}
