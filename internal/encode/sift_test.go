package encode

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/encode/route"
	"github.com/s3window/s3window/internal/partition"
)

// siftSpecs are specs of a signal in which a bad record must cost nothing but
// itself.
func (s lineSignal) siftSpecs() map[string]Spec {
	parquet, lines := signalSpec(s.signal), s.spec("none", testColumns()...)
	parquet.Columns = testColumns()
	out := map[string]Spec{"parquet": parquet, "lines": lines}
	for name, spec := range map[string]Spec{"parquet": parquet, "lines": lines} {
		spec.Filing = serviceFiling()
		spec.Filing.EventTime, spec.Filing.MaxSkew = true, 1<<60
		out[name+", filed"] = spec
	}
	return out
}

// A malformed entry leaves no trace: the bytes are those of the other records
// alone.
func TestMalformedEntriesLeaveNoTrace(t *testing.T) {
	for _, s := range lineSignals(t) {
		for format, spec := range s.siftSpecs() {
			if spec.Filing != nil {
				continue
			}
			e := newTestEncoder(t, spec)
			for name, payload := range s.malformed {
				t.Run(string(s.signal)+"/"+format+"/"+name, func(t *testing.T) { s.checkNoTrace(t, e, payload) })
			}
		}
	}
}

func (s lineSignal) checkNoTrace(t *testing.T, e *Encoder, malformed []byte) {
	other := Entry{Payload: s.other, ReceivedAt: 3}
	// Damage behind a good record, so that columns are touched first.
	bad := Entry{Payload: append(bytes.Clone(s.good.Payload), malformed...)}
	staged := stage(t, e, []Entry{s.good, bad, other, {Payload: malformed}, s.good})
	require.Len(t, staged.Rejected, 2)
	part, whole := staged.Rejected[0], staged.Rejected[1]
	require.Equal(t, 1, part.Index)
	require.ErrorContains(t, part.Err, "malformed OTLP")
	require.Equal(t, Rejected{Index: 3, Payload: malformed, Err: whole.Err}, whole, "an entry without a good record")
	require.ErrorContains(t, whole.Err, "malformed OTLP")
	good := []Entry{s.good, {Payload: s.good.Payload}, other, s.good}
	if part.Record == 0 { // no record can be told from what is malformed
		require.Equal(t, bad.Payload, part.Payload)
		good = slices.Delete(good, 1, 2)
	} else {
		n := stage(t, e, []Entry{s.good}).Rows
		require.Equal(t, n+1, part.Record)
		require.Equal(t, 1, part.Records)
		require.Equal(t, []Rejected{{Payload: part.Payload, Err: part.Err}}, stage(t, e, []Entry{{Payload: part.Payload}}).Rejected)
	}
	require.True(t, bytes.Equal(object(t, e, stage(t, e, good)), object(t, e, staged)), "the rejected entries left a trace")
}

// mixed returns a request with records of several resources, scopes and, of
// metrics, metrics, and the same without those whose numbers, from 1, are given.
func (s lineSignal) mixed(t *testing.T, records int, without ...int) (all, rest []byte, count int) {
	t.Helper()
	for _, p := range s.generated(9, records) {
		all = append(all, p...)
	}
	parts, err := route.Apart(s.signal, all)
	require.NoError(t, err)
	var keep []int
	for i := range parts.Len() {
		if !slices.Contains(without, i+1) {
			keep = append(keep, i)
		}
	}
	return all, parts.Request(keep), parts.Len()
}

// spoil makes record number n of a request, from 1, one that no encoder takes:
// its last field is one that its message does not have, cut short.
func (s lineSignal) spoil(t *testing.T, payload []byte, numbers ...int) []byte {
	t.Helper()
	parts, err := route.Apart(s.signal, payload)
	require.NoError(t, err)
	var out []byte
	for i := range parts.Len() {
		one := parts.Request([]int{i})
		if slices.Contains(numbers, i+1) {
			one = s.spoilOnly(one)
		}
		out = append(out, one...)
	}
	return out
}

// spoilOnly spoils the only record of a request.
func (s lineSignal) spoilOnly(payload []byte) []byte {
	depth := 3 // request, group, scope
	if s.signal == partition.Metrics {
		depth = 5 // metric, data
	}
	return spoilAt(payload, depth, s.signal == partition.Metrics)
}

// spoilAt appends a field that is cut short to the message that lies depth
// levels deep behind fields that may hold it.
func spoilAt(b []byte, depth int, metrics bool) []byte {
	if depth == 0 {
		return append(bytes.Clone(b), 0x0a, 0x7f)
	}
	out := []byte{}
	for i := 0; i < len(b); {
		f := fieldAt(b, i)
		holds := f.number == 2 && f.wire == 2
		switch {
		case depth == 3 && !metrics, depth == 5: // of a request: the group
			holds = f.number == 1
		case metrics && depth == 2: // of a metric: its data
			holds = f.number == 5 || f.number == 7 || f.number == 9 || f.number == 10 || f.number == 11
		case metrics && depth == 1: // of the data: the point
			holds = f.number == 1 && f.wire == 2
		}
		if holds {
			out = append(out, msg(f.number, spoilAt(f.value, depth-1, metrics))...)
		} else {
			out = append(out, b[i:f.end]...)
		}
		i = f.end
	}
	return out
}

// One bad record among 1,000 costs that record, in every signal and format.
func TestOneBadRecordCostsItself(t *testing.T) {
	for _, s := range lineSignals(t) {
		all, _, n := s.mixed(t, 1000)
		for _, number := range []int{1, 417, n} {
			bad := s.spoil(t, all, number)
			want, rest, _ := s.mixed(t, 1000, number)
			for format, spec := range s.siftSpecs() {
				t.Run(fmt.Sprint(s.signal, "/", format, "/", number), func(t *testing.T) {
					e := newTestEncoder(t, spec)
					staged := stage(t, e, []Entry{entry(want, 5), entry(bad, 7), entry(want, 9)})
					require.Len(t, staged.Rejected, 1)
					r := staged.Rejected[0]
					require.Equal(t, []int{1, number, 1}, []int{r.Index, r.Record, r.Records})
					require.ErrorContains(t, r.Err, "malformed OTLP")
					require.Equal(t, s.lake(t, e, stage(t, e, []Entry{entry(want, 5), entry(rest, 7), entry(want, 9)})), s.lake(t, e, staged))
					parts, err := route.Apart(s.signal, r.Payload)
					require.NoError(t, err, "what is kept is a request")
					require.Equal(t, 1, parts.Len())
				})
			}
		}
	}
}

// lake returns the SHA-256 of all objects by where they are, and their records.
func (s lineSignal) lake(t *testing.T, e *Encoder, staged ...Staged) (out []string) {
	t.Helper()
	p := e.Plan(own(), staged)
	for i := range p.Len() {
		objects, err := p.Objects(i, testID(), "q7m2q7m2q7m2q")
		require.NoError(t, err)
		for _, o := range objects {
			out = append(out, fmt.Sprintf("%s %d %x %d", o.Place, o.Part, o.SHA256, o.Records))
		}
	}
	return out
}

// Many bad records are all found, however they lie; what is written of them has
// a bound.
func TestManyBadRecords(t *testing.T) {
	s := lineSignals(t)[0]
	var all, good []byte
	var numbers []int
	for i := range 3000 {
		one := record(str(3, fmt.Sprint(i)))
		if i%2 == 1 {
			numbers = append(numbers, i+1)
			one = s.spoilOnly(one)
		} else {
			good = append(good, one...)
		}
		all = append(all, one...)
	}
	e := newTestEncoder(t, testSpec())
	staged := stage(t, e, []Entry{entry(all, 7)})
	require.Equal(t, 1500, staged.Rows)
	require.Len(t, staged.Rejected, maxNamed)
	for i, r := range staged.Rejected[:maxNamed-1] {
		require.Equal(t, []int{numbers[i], 1}, []int{r.Record, r.Records})
	}
	last := staged.Rejected[maxNamed-1]
	require.Equal(t, []int{numbers[maxNamed-1], 1500 - maxNamed + 1}, []int{last.Record, last.Records})
	require.Less(t, len(last.Payload), 6*len(all))
	require.True(t, bytes.Equal(object(t, e, stage(t, e, []Entry{entry(good, 7)})), object(t, e, staged)))

	// Each of them in a resource that is as large as all the rest.
	large := msg(1, attr(1, "large", strings.Repeat("x", 1<<20)))
	var records []byte
	for i := range 50 {
		records = append(records, msg(2, str(3, fmt.Sprint(i)))...)
		records = append(records, msg(2, num(3, 1))...)
	}
	payload := request(large, msg(2, records))
	staged = stage(t, e, []Entry{entry(payload, 7)})
	require.Equal(t, 50, staged.Rows)
	kept, count := 0, 0
	for _, r := range staged.Rejected {
		kept, count = kept+len(r.Payload), count+r.Records
	}
	require.Equal(t, 50, count)
	require.Less(t, kept, 3*len(payload), "memory for what is kept")
}

// All records of an entry are bad: then the entry is.
func TestAllRecordsAreBad(t *testing.T) {
	bad := bytes.Repeat(record(num(3, 1)), 3)
	for _, spec := range []Spec{testSpec(), lineSpec("zstd")} {
		e := newTestEncoder(t, spec)
		staged := stage(t, e, []Entry{entry(bad, 7)})
		require.Zero(t, staged.Rows)
		require.Equal(t, []Rejected{{Payload: bad, Err: staged.Rejected[0].Err}}, staged.Rejected)
	}
}

// A value that is refused in a resource costs the records of that resource.
func TestBadResourceCostsItsRecords(t *testing.T) {
	deep := msg(1, msg(1, str(1, "k"), msg(2, nested(3000))))
	three := msg(2, msg(2, str(3, "a")), msg(2), msg(2))
	payload := slices.Concat(record(), request(deep, three), record())
	empty := request(deep) // nothing is lost with it
	e := newTestEncoder(t, testSpec())
	staged := stage(t, e, []Entry{entry(payload, 7), entry(slices.Concat(empty, record()), 7)})
	require.Equal(t, 3, staged.Rows)
	require.True(t, len(staged.Rejected) == 2, "the resource is not kept more often than it came")
	for i, r := range staged.Rejected {
		require.Equal(t, []int{0, 2 + i, 1 + i}, []int{r.Index, r.Record, r.Records})
		require.ErrorContains(t, r.Err, "nested deeper")
	}
}

// The same entries give the same rows and the same rejects, whatever was
// encoded before.
func TestSiftingIsDeterministic(t *testing.T) {
	for _, s := range lineSignals(t) {
		all, _, n := s.mixed(t, 500)
		bad := s.spoil(t, all, 3, 77, n)
		for format, spec := range s.siftSpecs() {
			used := newTestEncoder(t, spec)
			build := func(e *Encoder) ([]string, []Rejected) {
				staged := stage(t, e, []Entry{entry(bad, 7), entry([]byte{0x0a}, 8), entry(all, 9)})
				for i := range staged.Rejected {
					require.Error(t, staged.Rejected[i].Err)
					staged.Rejected[i].Err = nil
				}
				return s.lake(t, e, staged), staged.Rejected
			}
			objects, rejected := build(used)
			require.Len(t, rejected, 4, format)
			again, rejectedAgain := build(used)
			other, rejectedOther := build(newTestEncoder(t, spec))
			require.Equal(t, objects, again, format)
			require.Equal(t, objects, other, format)
			require.Equal(t, rejected, rejectedAgain, format)
			require.Equal(t, rejected, rejectedOther, format)
		}
	}
}

// Time is bounded where an entry has more bad records than can be looked into.
func TestSiftingHasABudget(t *testing.T) {
	payload := bytes.Repeat(record(num(3, 1)), 64)
	payload = append(payload, record()...)
	e := newTestEncoder(t, testSpec())
	parts, err := route.Apart(partition.Logs, payload)
	require.NoError(t, err)
	s := sifter{parts: parts, budget: 10 * attemptCost}
	for i := range parts.Len() {
		s.good = append(s.good, i)
	}
	require.NoError(t, s.run(e.check))
	require.Less(t, s.budget, int64(0))
	require.Empty(t, s.good, "what was not looked into is not taken")
	require.Len(t, s.bad, 65)
}

// checkRejected checks that each record of an entry is in a row or rejected.
func checkRejected(t *testing.T, signal partition.Signal, payload []byte, staged Staged, rows int) {
	t.Helper()
	if staged.Rejected[0].Record == 0 {
		require.Zero(t, rows, "an entry that is rejected as a whole has no rows")
		return
	}
	parts, err := route.Apart(signal, payload)
	require.NoError(t, err)
	for _, r := range staged.Rejected {
		rows += r.Records
	}
	require.Equal(t, parts.Len(), rows)
}
