package encode

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/encode/route"
	"github.com/s3window/s3window/internal/partition"
)

// oldAs gives n records of a service that are so many hours old.
func oldAs(t testing.TB, service string, n, hours int) Entry {
	t.Helper()
	return late(t, service, slices.Repeat([]int{hours}, n)...)
}

// What is too little for a directory of its own joins its levels in the window's
// own time where there is enough of them together, and else the rest.
func TestDirectoriesHaveALeastSize(t *testing.T) {
	const rest = "dt=2026-10-03/hour=06/service=__HIVE_DEFAULT_PARTITION__/"
	at := func(hours int, service string) string {
		hour := time.UnixMicro(received).UTC().Add(-time.Duration(hours) * time.Hour)
		return fmt.Sprintf("dt=%s/hour=%02d/service=%s/", hour.Format("2006-01-02"), hour.Hour(), service)
	}
	for name, c := range map[string]struct {
		least Least
		in    []Entry
		want  map[string]int
		small int64
	}{
		"as many as it takes": {
			Least{Items: 3}, []Entry{oldAs(t, "a", 3, 0), oldAs(t, "a", 3, 2), oldAs(t, "b", 3, 1)},
			map[string]int{at(0, "a"): 3, at(2, "a"): 3, at(1, "b"): 3}, 0,
		},
		"late ones join their levels": {
			Least{Items: 3}, []Entry{oldAs(t, "a", 3, 0), oldAs(t, "a", 2, 2), oldAs(t, "a", 1, 9)},
			map[string]int{at(0, "a"): 6}, 3,
		},
		"together they are enough": {
			Least{Items: 5}, []Entry{oldAs(t, "a", 2, 0), oldAs(t, "a", 2, 2), oldAs(t, "a", 1, 9), oldAs(t, "b", 9, 1)},
			map[string]int{at(0, "a"): 5, at(1, "b"): 9}, 3,
		},
		"also if there was none in time": {
			Least{Items: 4}, []Entry{oldAs(t, "a", 2, 7), oldAs(t, "a", 2, 2), oldAs(t, "b", 9, 0)},
			map[string]int{at(0, "a"): 4, at(0, "b"): 9}, 4,
		},
		"together they are too few": {
			Least{Items: 6}, []Entry{oldAs(t, "a", 2, 0), oldAs(t, "a", 2, 2), oldAs(t, "b", 1, 0), oldAs(t, "c", 7, 0)},
			map[string]int{rest: 5, at(0, "c"): 7}, 5,
		},
		"large ones of other times do not help": {
			Least{Items: 4}, []Entry{oldAs(t, "a", 2, 0), oldAs(t, "a", 5, 2), oldAs(t, "b", 2, 0)},
			map[string]int{rest: 4, at(2, "a"): 5}, 4,
		},
		"a single one stays, and makes no rest": {
			Least{Items: 4}, []Entry{oldAs(t, "a", 1, 9), oldAs(t, "b", 9, 0)},
			map[string]int{at(9, "a"): 1, at(0, "b"): 9}, 0,
		},
		"a single one joins the rest that is there": {
			Least{Items: 4}, []Entry{oldAs(t, "a", 1, 9), oldAs(t, "", 4, 0)},
			map[string]int{rest: 5}, 1,
		},
		"the rest itself may be small": {
			Least{Items: 4}, []Entry{oldAs(t, "", 1, 0), oldAs(t, "b", 9, 0)},
			map[string]int{rest: 1, at(0, "b"): 9}, 0,
		},
		"bytes will do": {
			Least{Items: 4, Bytes: 40}, []Entry{oldAs(t, "a", 2, 9), oldAs(t, "b", 3, 0), oldAs(t, "c", 1, 0)},
			map[string]int{at(9, "a"): 2, at(0, "b"): 3, at(0, "c"): 1}, 0,
		},
		"a share of few will do": {
			Least{Items: 1000, Share: 5}, []Entry{oldAs(t, "a", 2, 9), oldAs(t, "b", 7, 0), oldAs(t, "c", 1, 0), oldAs(t, "d", 1, 3)},
			map[string]int{at(9, "a"): 2, at(0, "b"): 7, rest: 2}, 2,
		},
		"a share of many does not raise it": {
			Least{Items: 2, Share: 2}, []Entry{oldAs(t, "a", 2, 9), oldAs(t, "b", 30, 0)},
			map[string]int{at(9, "a"): 2, at(0, "b"): 30}, 0,
		},
		"none is asked for": {
			Least{}, []Entry{oldAs(t, "a", 1, 9), oldAs(t, "b", 1, 0), oldAs(t, "c", 1, 3)},
			map[string]int{at(9, "a"): 1, at(0, "b"): 1, at(3, "c"): 1}, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			spec := testSpec()
			spec.Filing = eventFiling()
			spec.Filing.By, spec.Filing.Least = serviceFiling().By, c.least
			e := newTestEncoder(t, spec)
			// What they have is added up over calls, in any order of these.
			var apart []Staged
			for _, entry := range c.in {
				apart = append(apart, stage(t, e, []Entry{entry}))
			}
			got, plan := lakeOf(t, e, apart...)
			require.Equal(t, c.want, counts(got))
			require.Equal(t, c.small, plan.Small)
			require.Zero(t, plan.Refiled)
			again, plan := lakeOf(t, e, stage(t, e, c.in))
			require.Equal(t, c.want, counts(again))
			require.Equal(t, c.small, plan.Small)
		})
	}
}

// The same records give the same objects, whatever the order of the map.
func TestLeastSizesAreDeterministic(t *testing.T) {
	spec := testSpec()
	spec.Filing = eventFiling()
	spec.Filing.By, spec.Filing.Least = serviceFiling().By, Least{Items: 3}
	e := newTestEncoder(t, spec)
	var staged []Staged
	for i := range 40 {
		staged = append(staged, stage(t, e, []Entry{late(t, fmt.Sprint("s", i%7), i%5, i%11), late(t, "much", 0, 0, 0)}))
	}
	want := map[string][]string{}
	for i := range 20 {
		got, _ := lakeOf(t, e, staged...)
		if i == 0 {
			want = got
		}
		require.Equal(t, want, got)
	}
}

// Ten thousands of directories cost no time.
func TestManySmallDirectories(t *testing.T) {
	rule := serviceFiling()
	rule.Least = Least{Items: 10}
	places := map[route.Place]*placed{}
	for i := range 60_000 {
		places[route.Place{Period: 1, Levels: fmt.Sprint("service=", i)}] = &placed{items: 1, raw: 1}
	}
	began := time.Now()
	require.EqualValues(t, 60_000, gather(places, rule, partition.Place{Time: rule.Time(1)}))
	require.Len(t, places, 1)
	require.Less(t, time.Since(began), 5*time.Second)
}
