package encode

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/partition"
)

// A panic costs the record that it is about, and no memory that the encoder
// worked in is used again.
func TestPanicCostsItsRecord(t *testing.T) {
	marker := []byte("panic over me")
	for _, s := range lineSignals(t) {
		for format, spec := range s.siftSpecs() {
			t.Run(string(s.signal)+"/"+format, func(t *testing.T) {
				e := newTestEncoder(t, spec)
				all, _, _ := s.mixed(t, 200)
				bad := s.marked(marker)
				want := s.lake(t, e, stage(t, e, []Entry{entry(all, 1), entry(slices.Concat(all, all), 2)}))
				e.onAttempt = func(entries []Entry) {
					for _, x := range entries {
						if bytes.Contains(x.Payload, marker) {
							panic("for the test")
						}
					}
				}
				for range 2 {
					staged := stage(t, e, []Entry{entry(all, 1), entry(slices.Concat(all, bad, all), 2), entry(bad, 3)})
					require.Len(t, staged.Rejected, 2)
					require.Equal(t, []int{1, 1}, []int{staged.Rejected[0].Index, staged.Rejected[0].Records})
					require.Equal(t, []int{2, 0}, []int{staged.Rejected[1].Index, staged.Rejected[1].Record})
					require.True(t, bytes.Contains(staged.Rejected[0].Payload, marker))
					require.ErrorContains(t, staged.Rejected[0].Err, "panicked in encode.")
					require.ErrorContains(t, staged.Rejected[0].Err, "for the test")
					require.Equal(t, want, s.lake(t, e, staged))
				}
			})
		}
	}
}

// marked returns a request of one record that has a text in it.
func (s lineSignal) marked(text []byte) []byte {
	switch s.signal {
	case partition.Traces:
		return spanMessage(str(5, string(text)))
	case partition.Metrics:
		return metric(str(1, "m"), msg(5, msg(1, attr(7, "k", string(text)))))
	}
	return record(str(3, string(text)))
}

// The memory in which the encoder panicked is thrown away: also where the panic
// comes from its middle.
func TestPanicInTheMiddleThrowsMemoryAway(t *testing.T) {
	spec := testSpec()
	e := newTestEncoder(t, spec)
	entries := asEntries(lineSignals(t)[0].generated(3, 500))
	want := object(t, e, stage(t, e, entries))
	used := idleStagers(e)[0]
	armed := true
	used.table.OnPage(func([]byte) {
		if armed {
			armed = false
			panic("in the middle")
		}
	})
	staged := stage(t, e, entries)
	require.Empty(t, staged.Rejected, "a panic that does not come again costs nothing")
	require.True(t, bytes.Equal(want, object(t, e, staged)))
	require.NotContains(t, idleStagers(e), used)
}

// Entries that can be encoded each by itself and not together are encoded each
// by itself: nothing that was taken may stay in the way for ever.
func TestEntriesThatDoNotGoTogether(t *testing.T) {
	for _, s := range lineSignals(t) {
		for format, spec := range s.siftSpecs() {
			t.Run(string(s.signal)+"/"+format, func(t *testing.T) {
				e := newTestEncoder(t, spec)
				all, _, n := s.mixed(t, 100)
				e.onAttempt = func(entries []Entry) {
					if len(entries) > 1 {
						panic("too many")
					}
				}
				staged := stage(t, e, []Entry{entry(all, 1), entry(all, 2), entry(all, 3)})
				require.Empty(t, staged.Rejected)
				require.Equal(t, 3*n, staged.Rows)
				e.onAttempt = nil
				var records int64
				p := e.Plan(own(), []Staged{staged})
				for i := range p.Len() {
					objects, err := p.Objects(i, testID(), "q7m2q7m2q7m2q")
					require.NoError(t, err)
					for _, o := range objects {
						records += o.Records
					}
				}
				require.EqualValues(t, 3*n, records)
			})
		}
	}
}

// Carried records are encoded again in other company, which must not panic
// either.
func TestCarriedRecordsThatDoNotGoTogether(t *testing.T) {
	spec := testSpec()
	spec.Filing = eventFiling()
	e := newTestEncoder(t, spec)
	staged := []Staged{stage(t, e, []Entry{late(t, "a", 0, 1)}), stage(t, e, []Entry{late(t, "b", 0, 1)})}
	e.onAttempt = func(entries []Entry) {
		if len(entries) > 1 {
			panic("too many")
		}
	}
	got, _ := lakeOf(t, e, staged...)
	require.Equal(t, map[string]int{"dt=2026-10-03/hour=06/": 2, "dt=2026-10-03/hour=05/": 2}, counts(got))
}
