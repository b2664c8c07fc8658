package laketest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/s3window/s3window/internal/lake"
)

const (
	racers = 16
	rounds = 5
)

// race runs f by many at once and returns which of them got nil. Every other
// must get refused.
func race(t *testing.T, refused error, f func(i int) error) []int {
	t.Helper()
	var won sync.Map
	var running sync.WaitGroup
	for i := range racers {
		running.Go(func() {
			switch err := f(i); {
			case err == nil:
				won.Store(i, true)
			case !errors.Is(err, refused):
				t.Errorf("racer %d: %v", i, err)
			}
		})
	}
	running.Wait()
	var winners []int
	for i := range won.Range {
		winners = append(winners, i.(int))
	}
	return winners
}

func testPutRace(t *testing.T, b lake.Bucket) {
	for round := range rounds {
		key := fmt.Sprintf("race/%d", round)
		winners := race(t, lake.ErrExists, func(i int) error {
			return b.PutIfAbsent(t.Context(), key, body(fmt.Sprint("racer ", i)))
		})
		if len(winners) != 1 {
			t.Fatalf("winners %v", winners)
		}
		if got, _ := read(t, b, key); got != fmt.Sprint("racer ", winners[0]) {
			t.Fatalf("content %q, winner %d", got, winners[0])
		}
	}
}

func testReplaceRace(t *testing.T, b lake.Bucket) {
	put(t, b, "a", "start")
	for range rounds {
		_, info := read(t, b, "a")
		winners := race(t, lake.ErrChanged, func(i int) error {
			return b.Replace(t.Context(), "a", body(fmt.Sprint(info.ETag, " racer ", i)), info.ETag)
		})
		if len(winners) != 1 {
			t.Fatalf("winners %v", winners)
		}
		if got, _ := read(t, b, "a"); got != fmt.Sprint(info.ETag, " racer ", winners[0]) {
			t.Fatalf("content %q, winner %d", got, winners[0])
		}
	}
}

func testLargeRace(t *testing.T, b lake.Bucket) {
	bodies := make([]lake.Body, racers)
	for i := range bodies {
		bodies[i] = large(byte(i))
		if i >= 4 { // few large ones are enough, and small ones race with them
			bodies[i] = body(fmt.Sprint("small ", i))
		}
	}
	winners := race(t, lake.ErrExists, func(i int) error { return b.PutIfAbsent(t.Context(), "large", bodies[i]) })
	if len(winners) != 1 {
		t.Fatalf("winners %v", winners)
	}
	if got, _ := read(t, b, "large"); got != string(bodies[winners[0]].Bytes()) {
		t.Fatal("the content is not the winner's")
	}
}
