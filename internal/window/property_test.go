package window

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/s3window/s3window/internal/lake/laketest"
)

// TestNoAcknowledgedLossWhateverHappens is the promise for any interleaving: the rows of
// committed windows and what is left in the WAL are what was acknowledged,
// once each, and every object holds one tenant's rows.
//
//	WINDOW_SEEDS=1000 WINDOW_FIRST=1 go test ./internal/window -run WhateverHappens
func TestNoAcknowledgedLossWhateverHappens(t *testing.T) {
	first, n := env("WINDOW_FIRST", 1), env("WINDOW_SEEDS", 25)
	for seed := first; seed < first+n; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			bubble(t, func(t *testing.T) { newStory(t, uint64(seed)).tell() })
		})
	}
}

func env(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// story is a random life of up to three processes on WALs of their own and on
// copies of one.
type story struct {
	t     *testing.T
	r     *rand.Rand
	w     *world
	disks []*disk
	lives []*process // one per disk
	acked map[string][]string
	maybe map[string][]string // appended with an error: there or not
	n     int
}

func newStory(t *testing.T, seed uint64) *story {
	s := &story{
		t: t, r: rand.New(rand.NewPCG(seed, 0)), w: newWorld(t), disks: []*disk{newDisk()},
		acked: map[string][]string{}, maybe: map[string][]string{},
	}
	s.w.turns = seed%2 == 0
	s.lives = []*process{s.life(s.disks[0])}
	return s
}

func (s *story) life(d *disk) *process {
	spec := testSpec()
	if s.r.IntN(2) == 0 {
		spec = filedSpec()
	}
	return s.w.start(d, settings{
		spec:      spec,
		maxAge:    time.Duration(1+s.r.IntN(20)) * time.Second,
		segment:   time.Duration(5+s.r.IntN(60)) * time.Second,
		target:    int64(1000 + s.r.IntN(100000)),
		data:      int64(200000 + s.r.IntN(800000)),
		consumers: 1 + s.r.IntN(3),
	})
}

func (s *story) tell() {
	for range 60 {
		s.step()
	}
	s.calm()
	for i, p := range s.lives {
		eventually(s.t, func() bool { return p.wal.Stats().Entries == 0 })
		p.shutdown()
		s.lives[i] = s.life(s.disks[i])
		time.Sleep(30 * time.Second)
		s.lives[i].quiet()
		s.lives[i].shutdown()
	}
	for tenant, acked := range s.acked {
		got := s.w.bodies(tenant)
		seen := map[string]int{}
		for _, x := range got {
			seen[x]++
			require.Equal(s.t, 1, seen[x], "%s is there once", x)
			require.Contains(s.t, x, tenant+"/", "an object holds one tenant's rows")
		}
		for _, x := range acked {
			require.Equal(s.t, 1, seen[x], "%s was acknowledged", x)
			delete(seen, x)
		}
		for _, x := range s.maybe[tenant] {
			delete(seen, x)
		}
		assert.Empty(s.t, seen)
	}
}

func (s *story) step() {
	i := s.r.IntN(len(s.lives))
	switch k := s.r.IntN(20); {
	case k < 10:
		s.append(s.lives[i])
	case k < 13:
		time.Sleep(time.Duration(s.r.IntN(8000)) * time.Millisecond)
	case k < 14:
		time.Sleep(time.Duration(s.r.IntN(120)) * time.Second)
	case k < 16:
		s.trouble()
	case k < 17:
		s.calm()
	case k < 18 && len(s.lives) < 3 && s.r.IntN(2) == 0:
		d := newDisk() // another replica, or one on a copy of a WAL
		if s.r.IntN(2) == 0 {
			d = s.disks[i].copy()
		}
		s.disks = append(s.disks, d)
		s.lives = append(s.lives, s.life(d))
	case k < 19:
		s.disks[i].set(nil)
		s.lives[i].crash()
		s.lives[i] = s.life(s.disks[i])
	default:
		s.disks[i].set(nil)
		s.lives[i].shutdown()
		s.lives[i] = s.life(s.disks[i])
	}
}

func (s *story) append(p *process) {
	for range 1 + s.r.IntN(8) {
		tenant := string(rune('a' + s.r.IntN(4)))
		s.n++
		x := noise(s.r, fmt.Sprintf("%s/%d", tenant, s.n), 1+s.r.IntN(20), 30+s.r.IntN(2)*s.r.IntN(2000))
		if err := p.wal.Append(s.t.Context(), spread(tenant, x...)); err != nil {
			s.maybe[tenant] = append(s.maybe[tenant], x...)
			continue
		}
		s.acked[tenant] = append(s.acked[tenant], x...)
		if s.r.IntN(3) == 0 {
			synctest.Wait()
		}
	}
}

var errStorage = errors.New("input/output error")

// trouble has one of the stores fail now and then, before or after its effect.
func (s *story) trouble() {
	odds := 1 + s.r.IntN(6)
	r := rand.New(rand.NewPCG(s.r.Uint64(), 1))
	switch s.r.IntN(4) {
	case 0, 1:
		s.w.bucket.Script(func(laketest.Op) laketest.Fault {
			switch {
			case r.IntN(odds) > 0:
				return laketest.Fault{}
			case r.IntN(4) == 0:
				d := time.Duration(r.IntN(40)) * time.Second
				return laketest.Fault{Pause: func(ctx context.Context) { wait(ctx, d) }}
			case r.IntN(2) == 0:
				return laketest.Fault{After: errDown}
			}
			return laketest.Fault{Before: errDown}
		})
	case 2:
		s.w.store.(*kv).set(func() (before, after error) {
			switch r.IntN(2 * (1 + odds)) {
			case 0:
				return errDown, nil
			case 1:
				return nil, errDown
			}
			return nil, nil
		})
	default:
		s.disks[s.r.IntN(len(s.disks))].set(func([]*storage.Operation) error {
			if r.IntN(odds) == 0 {
				return errStorage
			}
			return nil
		})
	}
}

func (s *story) calm() {
	s.w.bucket.Script(nil)
	s.w.store.(*kv).set(nil)
	for _, d := range s.disks {
		d.set(nil)
	}
}
