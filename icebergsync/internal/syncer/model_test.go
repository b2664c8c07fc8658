package syncer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/icebergsync/internal/progress"
	"github.com/s3window/s3window/icebergsync/internal/table"
)

// life is one run of the model: a lake that grows, two syncers that crash, an
// operator, engines that write to the table, and a catalog that loses answers.
type life struct {
	*world
	syncers [2]*Table
	busy    [2]bool
	names   []Log
}

func newLife(seed uint64) *life {
	l := &life{world: &world{
		rnd: rand.New(rand.NewPCG(seed, 1)), gone: map[string]bool{}, logs: map[Log]*modelLog{}, counts: map[string]int{},
	}}
	for _, tenant := range []string{"acme", "globex", "ini/tech"} {
		l.names = append(l.names, Log{Sink: "default", Tenant: tenant, Signal: "logs"})
	}
	l.between = l.interrupt
	for i := range l.syncers {
		l.start(i)
	}
	return l
}

func (l *life) start(i int) {
	l.syncers[i] = New(table.Name{"otel", "logs"}, l.world, modelLake{l.world}, Options{
		MaxWindows: 1 + l.rnd.IntN(6), SkipLines: true, Keep: 2 + l.rnd.IntN(6), Interval: time.Second, MaxIdle: time.Minute,
		Now: func() time.Time { return time.Unix(0, 0) }, Pause: func(context.Context, int) error { return nil },
	})
	l.busy[i] = false
}

// interrupt runs while a syncer is between its load and its change.
func (l *life) interrupt() {
	switch l.rnd.IntN(4) {
	case 0:
		l.foreign()
	case 1:
		l.commit(l.names[l.rnd.IntN(len(l.names))], l.rnd)
	default:
		for i := range l.syncers {
			if !l.busy[i] {
				l.pass(i)
				return
			}
		}
	}
}

// pass runs one syncer until it is done, stuck or dead.
func (l *life) pass(i int) {
	if l.busy[i] {
		return
	}
	l.busy[i] = true
	defer func() {
		l.busy[i] = false
		if r := recover(); r != nil {
			if _, crashed := r.(errCrash); !crashed {
				panic(r)
			}
			l.operator = ""
			l.start(i)
		}
	}()
	_, err := l.syncers[i].Pass(context.Background(), l.names, true)
	var rolled *progress.RolledBack
	if errors.As(err, &rolled) && l.rnd.IntN(2) == 0 {
		l.settle(i)
	}
}

// settle is the operator's word on a rollback.
func (l *life) settle(i int) {
	defer func(before string) { l.operator = before }(l.operator)
	if l.rnd.IntN(2) == 0 {
		l.operator = "re-add"
		if err := l.syncers[i].ReAdd(context.Background()); err == nil {
			l.counts["re-add"]++
		}
		if !l.calm {
			return
		}
	}
	l.operator = "accept"
	if err := l.syncers[i].AcceptRollback(context.Background()); err == nil {
		l.counts["accept"]++
	}
}

func (l *life) run(steps int) {
	for range steps {
		switch l.rnd.IntN(6) {
		case 0:
			l.foreign()
		case 1, 2:
			l.commit(l.names[l.rnd.IntN(len(l.names))], l.rnd)
		default:
			l.pass(l.rnd.IntN(len(l.syncers)))
		}
		if l.broken != "" || l.hole {
			return
		}
	}
	l.calm = true
	for range 30 { // a rollback is settled in half of the passes that meet it
		l.pass(0)
		l.pass(1)
		if l.is == nil || progress.Check(l.is.state) == nil {
			l.pass(0)
			break
		}
	}
	l.complete()
}

// complete judges a table that everything was brought into: every row once,
// apart from those that somebody took out.
func (l *life) complete() {
	if l.is == nil {
		l.is = &held{rows: map[int64]rows{}}
	}
	if progress.Check(l.is.state) != nil {
		return // nobody settled it yet
	}
	want := rows{}
	for _, log := range l.names {
		lg := l.logs[log]
		if lg == nil {
			continue
		}
		for _, m := range lg.manifests {
			if m.K == lg.clash {
				break
			}
			if m.Format != "parquet" {
				continue
			}
			for _, o := range m.Objects {
				want["s3://"+modelRef.Bucket+"/"+o.Key] = 1
			}
		}
	}
	for row := range want {
		if l.is.main()[row] == 0 && !l.gone[row] {
			l.breaks(row + " is missing")
		}
	}
	for row := range l.is.main() {
		if want[row] == 0 {
			l.breaks(row + " is in the table and was never committed, or clashes")
		}
	}
}

// TestModel runs many lives. A failing seed is printed; MODEL_SEED runs that one,
// MODEL_SEEDS another number of them.
func TestModel(t *testing.T) {
	if one := os.Getenv("MODEL_SEED"); one != "" {
		seed, err := strconv.ParseUint(one, 10, 64)
		require.NoError(t, err)
		l := newLife(seed)
		l.run(60)
		require.Empty(t, l.broken, strings.Join(l.trace, "\n"))
		return
	}
	seeds := 1000
	if n, err := strconv.Atoi(os.Getenv("MODEL_SEEDS")); err == nil {
		seeds = n
	}
	all := map[string]int{}
	for seed := range seeds {
		l := newLife(uint64(seed))
		l.run(60)
		require.Empty(t, l.broken, "seed %d", seed)
		for what, n := range l.counts {
			all[what] += n
		}
	}
	for _, what := range []string{
		"crash before", "crash after", "lost", "answer lost", "late", "arrived late", "twice", "conflict",
		"rollback", "replace", "drop", "delete", "compaction", "expiry", "accept", "re-add",
	} {
		require.Positive(t, all[what], what)
	}
	t.Log(slices.Sorted(maps.Keys(all)), fmt.Sprint(all))
}
