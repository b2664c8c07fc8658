package encode

import (
	"cmp"
	"slices"

	"github.com/s3window/s3window/internal/encode/route"
	"github.com/s3window/s3window/internal/partition"
)

// gather joins the places that are below the least size to others, as merge
// does: those with the same levels together in the window's own time, if that is
// enough then, and else to the rest. A single one stays where it is if there is
// no rest that it could join: that would be one object as well. It says how many
// records that moved.
func gather(places map[route.Place]*placed, rule *route.Rule, own partition.Place) (moved int64) {
	g := gathering{places: places, rule: rule, now: rule.Period(own.Time)}
	for _, p := range places {
		g.all += p.items
	}
	small := g.small()
	byLevels := g.sums(small)
	for _, at := range small {
		to := route.Place{Period: g.now, Levels: at.Levels}
		if at != to && !g.below(byLevels[at.Levels]) {
			moved += move(places, at, to, own)
		}
	}
	rest := rule.Rest()
	rest.Period = g.now
	small = slices.DeleteFunc(g.small(), func(at route.Place) bool { return at == rest })
	if len(small) == 1 && places[rest] == nil {
		return moved
	}
	for _, at := range small {
		moved += move(places, at, rest, own)
	}
	return moved
}

type gathering struct {
	places map[route.Place]*placed
	rule   *route.Rule
	now    int64 // the period of the window's own time
	all    int64 // records of the window
}

// load is how much a place has.
type load struct{ items, raw int64 }

func (p *placed) load() load { return load{p.items, p.raw} }

// below says that so much is too little for a place.
func (g *gathering) below(l load) bool { return g.rule.Small(l.items, l.raw, g.all) }

// small are the places that have too little, in order.
func (g *gathering) small() (out []route.Place) {
	for at, p := range g.places {
		if g.below(p.load()) {
			out = append(out, at)
		}
	}
	slices.SortFunc(out, func(a, b route.Place) int {
		return cmp.Or(cmp.Compare(a.Period, b.Period), cmp.Compare(a.Levels, b.Levels))
	})
	return out
}

// sums says how much the place of the same levels in the window's own time has
// with the small ones.
func (g *gathering) sums(small []route.Place) map[string]load {
	sums := map[string]load{}
	for _, at := range small {
		s, ok := sums[at.Levels]
		if p := g.places[route.Place{Period: g.now, Levels: at.Levels}]; p != nil && !ok {
			s = p.load()
		}
		if at.Period != g.now {
			s.items += g.places[at].items
			s.raw += g.places[at].raw
		}
		sums[at.Levels] = s
	}
	return sums
}
