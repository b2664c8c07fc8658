package syncer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/s3window/s3window/icebergsync/internal/progress"
	"github.com/s3window/s3window/icebergsync/internal/table"
)

// errCrash ends a syncer: all it remembers is gone.
type errCrash struct{}

var (
	errLost   = errors.New("the answer was lost")
	errExists = errors.New("table exists")
)

// rows are what a snapshot's files hold: how often each object of each window.
type rows map[string]int

// held is a table in the model's catalog.
type held struct {
	generation int // another one after the table was dropped and made again
	state      table.State
	rows       map[int64]rows           // by snapshot
	all        map[int64]table.Snapshot // also those that were expired
}

func (h *held) main() rows { return h.rows[h.state.Refs[table.MainBranch]] }

// sent is a change on its way to the catalog.
type sent struct {
	generation int
	base       int64 // main as it was loaded
	had        bool
	sequence   int64
	change     table.Change
	operator   string // accept or re-add
}

// world is a catalog with one table, and all that goes wrong around it.
type world struct {
	rnd        *rand.Rand
	is         *held
	generation int
	nextID     int64
	late       []sent                               // changes that arrive some time
	gone       map[string]bool                      // rows that may be missing
	logs       map[Log]*modelLog                    // the lake
	between    func()                               // runs between a load and its change
	calm       bool                                 // no faults any more
	operator   string                               // what an operator is doing
	broken     string                               // the first broken promise
	mutate     func(is *held, change *table.Change) // a rule taken away, to see that it is missed
	hole       bool                                 // nothing is promised any more
	counts     map[string]int
	trace      []string // of everything that happened to the table
}

// note adds the table as it is now to the trace.
func (w *world) note(what string) {
	line := what
	if w.is != nil {
		s, _ := w.is.state.Main()
		line += fmt.Sprintf(": main %d (parent %d, sequence %d, %v), property %s, marks", s.ID, s.Parent, s.Sequence, s.Summary, w.is.state.Properties[progress.PropCommit])
		for log := range w.logs {
			line += fmt.Sprintf(" %s=%s", log.Tenant, w.is.state.Properties[progress.Key(modelRef, log)])
		}
	}
	w.trace = append(w.trace, line)
}

func (w *world) Load(context.Context, table.Name) (table.State, error) {
	if w.is == nil {
		return table.State{}, table.ErrNotExist
	}
	is := w.is.state
	is.Properties, is.Snapshots, is.Refs = maps.Clone(is.Properties), maps.Clone(is.Snapshots), maps.Clone(is.Refs)
	is.Columns = slices.Clone(is.Columns)
	is.Loaded = w.is.generation
	return is, nil
}

func (w *world) Create(_ context.Context, name table.Name, columns []table.Column) error {
	w.interfere()
	fault := w.fault()
	if fault == "crash before" {
		panic(errCrash{})
	}
	if fault == "lost" || fault == "late" {
		return errLost
	}
	if w.is != nil {
		return errExists
	}
	w.generation++
	w.is = &held{generation: w.generation, rows: map[int64]rows{}, all: map[int64]table.Snapshot{}, state: table.State{
		Name: name, Format: 2, Location: "s3://warehouse/t", Columns: columns, Snapshots: map[int64]table.Snapshot{}, Refs: map[string]int64{},
		Properties: map[string]string{progress.PropVersion: progress.Version},
	}}
	return w.answer(fault, nil)
}

func (w *world) Apply(_ context.Context, is table.State, c table.Change) error {
	operator := w.operator
	w.interfere()
	base, had := is.Refs[table.MainBranch]
	s := sent{generation: is.Loaded.(int), base: base, had: had, sequence: is.Sequence, change: c, operator: operator}
	switch fault := w.fault(); fault {
	case "crash before":
		panic(errCrash{})
	case "lost":
		return errLost
	case "late":
		w.late = append(w.late, s)
		return errLost
	case "twice": // the second answer is the one that is seen
		_ = w.arrive(s)
		return w.answer(fault, w.arrive(s))
	default:
		return w.answer(fault, w.arrive(s))
	}
}

func (w *world) answer(fault string, err error) error {
	switch fault {
	case "crash after":
		panic(errCrash{})
	case "answer lost":
		return errLost
	}
	return err
}

func (w *world) fault() string {
	if w.calm || w.rnd.IntN(3) > 0 {
		return ""
	}
	all := []string{"crash before", "lost", "late", "twice", "crash after", "answer lost"}
	f := all[w.rnd.IntN(len(all))]
	w.counts[f]++
	return f
}

func (w *world) interfere() {
	if !w.calm && w.between != nil && w.rnd.IntN(3) == 0 {
		w.between()
	}
}

// arrive is the catalog's own compare-and-set.
func (w *world) arrive(s sent) error {
	if w.is == nil || w.is.generation != s.generation {
		return table.ErrConflict
	}
	t, c := w.is, s.change
	main, has := t.state.Refs[table.MainBranch]
	if w.mutate != nil {
		w.mutate(t, &c)
	} else if has != s.had || main != s.base {
		w.counts["conflict"]++
		return table.ErrConflict
	}
	if len(c.Files) > 0 && s.sequence < t.state.Sequence {
		return table.ErrConflict // its sequence number is not above the last one
	}
	maps.Copy(t.state.Properties, c.Properties)
	for _, column := range c.Columns {
		if _, there := t.state.Column(column.Name); !there {
			t.state.Columns = append(t.state.Columns, column)
		}
	}
	if len(c.Files) > 0 {
		to := maps.Clone(t.main())
		if to == nil {
			to = rows{}
		}
		for _, f := range c.Files {
			to[f.URI]++
		}
		w.snapshot(c.Summary, to)
	}
	for _, id := range c.Expire {
		delete(t.state.Snapshots, id)
	}
	if s.operator == "accept" {
		w.giveUp()
	}
	w.note("change " + s.operator)
	w.judge()
	return nil
}

// snapshot makes a new one on main.
func (w *world) snapshot(summary map[string]string, to rows) {
	t := w.is
	w.nextID++
	t.state.Sequence++
	t.state.Snapshots[w.nextID] = table.Snapshot{ID: w.nextID, Parent: t.state.Refs[table.MainBranch], Sequence: t.state.Sequence, Summary: summary}
	t.all[w.nextID] = t.state.Snapshots[w.nextID]
	t.state.Refs[table.MainBranch] = w.nextID
	t.rows[w.nextID] = to
}

// giveUp notes what an accepted rollback leaves out.
func (w *world) giveUp() {
	for log, l := range w.logs {
		mark, err := progress.Of(w.is.state, progress.Key(modelRef, log))
		if err != nil {
			w.breaks(err.Error())
		}
		for _, m := range l.manifests[:min(int(mark.K), len(l.manifests))] {
			for _, o := range m.Objects {
				if uri := "s3://" + modelRef.Bucket + "/" + o.Key; w.is.main()[uri] == 0 {
					w.gone[uri] = true
				}
			}
		}
	}
}

// judge holds main against the first promise: nothing twice.
func (w *world) judge() {
	for row, n := range w.is.main() {
		if n > 1 {
			w.breaks(fmt.Sprintf("%s is in the table %d times", row, n))
		}
	}
}

func (w *world) breaks(what string) {
	if w.broken == "" && !w.hole {
		w.broken = what
	}
}

// foreign is somebody else at work on the table.
func (w *world) foreign() {
	if w.is == nil {
		return
	}
	t := w.is
	main := t.main()
	switch op := w.rnd.IntN(8); {
	case op == 0 && len(main) > 0: // an engine deletes rows
		to := maps.Clone(main)
		row := slices.Sorted(maps.Keys(to))[w.rnd.IntN(len(to))]
		delete(to, row)
		w.gone[row] = true
		w.snapshot(map[string]string{}, to)
		w.counts["delete"]++
	case op <= 2 && len(main) > 0: // a compaction: the same rows
		w.snapshot(map[string]string{}, maps.Clone(main))
		w.counts["compaction"]++
	case op == 3: // expiry of all but the newest few
		w.expire(1 + w.rnd.IntN(3))
	case op <= 5 && len(t.state.Snapshots) > 0: // rollback, or set to any snapshot there is
		ids := slices.Sorted(maps.Keys(t.state.Snapshots))
		t.state.Refs[table.MainBranch] = ids[w.rnd.IntN(len(ids))]
		w.counts["rollback"]++
	case op == 6 && len(main) > 0 && w.rnd.IntN(3) == 0: // CREATE OR REPLACE … AS SELECT a part
		to := maps.Clone(main)
		for _, row := range slices.Sorted(maps.Keys(main)) {
			if w.rnd.IntN(2) == 0 {
				delete(to, row)
				w.gone[row] = true
			}
		}
		delete(t.state.Refs, table.MainBranch)
		w.snapshot(map[string]string{}, to)
		w.counts["replace"]++
	case op == 7 && w.rnd.IntN(4) == 0:
		w.is = nil // dropped; it is made again from the first window
		w.gone = map[string]bool{}
		w.counts["drop"]++
	case len(w.late) > 0:
		w.arriveLate()
	}
	w.unseen()
	w.note("foreign")
}

func (w *world) expire(keep int) {
	t := w.is
	ids := slices.Sorted(maps.Keys(t.state.Snapshots))
	for _, id := range ids[:max(0, len(ids)-keep)] {
		if id != t.state.Refs[table.MainBranch] {
			delete(t.state.Snapshots, id)
			w.counts["expiry"]++
		}
	}
}

// unseen notes the hole that the design names: our newest snapshot is not the
// newest of ours that main holds, and a foreign write and the expiry of what was taken out
// hide it. What follows is for the command verify to tell.
func (w *world) unseen() {
	if w.is == nil || progress.Check(w.is.state) != nil {
		return
	}
	commit, err := progress.Commit(w.is.state)
	if err != nil || commit == 0 {
		return
	}
	id := w.is.state.Refs[table.MainBranch]
	ours := false
	for ; id != 0 && w.is.all[id].Sequence != commit && !ours; id = w.is.all[id].Parent {
		_, ours = progress.Number(w.is.all[id])
	}
	if id == 0 || ours {
		w.counts["unseen rollback"]++
		w.hole = true
	}
}

func (w *world) arriveLate() {
	i := w.rnd.IntN(len(w.late))
	s := w.late[i]
	w.late = slices.Delete(w.late, i, i+1)
	if s.operator != "" && w.is != nil && s.sequence != w.is.state.Sequence {
		return // DESIGN.md names this one: main was set back to the same snapshot a second time
	}
	if w.arrive(s) == nil {
		w.counts["arrived late"]++
	}
}
