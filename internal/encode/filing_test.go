package encode

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/s3window/s3window/internal/encode/encodetest"
	"github.com/s3window/s3window/internal/partition"
)

// received is when the requests of these tests come: 2026-10-03T06:37:38Z.
const received = int64(1791009458377856)

func own() partition.Place { return partition.Place{Time: received, Align: partition.AlignHour} }

func eventFiling() *Filing {
	return &Filing{EventTime: true, MaxSkew: (48 * time.Hour).Microseconds(), Align: partition.AlignHour, MaxPlaces: 100}
}

func serviceFiling() *Filing {
	return &Filing{Align: partition.AlignHour, MaxPlaces: 100, By: []Level{{ResourceAttribute: "service.name", As: "service"}}}
}

// late is a request with a record per element of hours, that many hours old.
func late(t testing.TB, service string, hours ...int) Entry {
	t.Helper()
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", service)
	records := rl.ScopeLogs().AppendEmpty().LogRecords()
	for i, h := range hours {
		lr := records.AppendEmpty()
		lr.SetTimestamp(pcommon.Timestamp((received - int64(h)*time.Hour.Microseconds()) * 1000))
		lr.Body().SetStr(fmt.Sprintf("%s %d, %d hours old", service, i, h))
	}
	return entry(marshal(t, ld), received)
}

// lakeOf gives the objects of a window by directory and part, with the bodies
// of their records.
func lakeOf(t testing.TB, e *Encoder, staged ...Staged) (map[string][]string, *Plan) {
	t.Helper()
	out := map[string][]string{}
	plan := e.Plan(own(), staged)
	for i := range plan.Len() {
		objects, err := plan.Objects(i, testID(), "q7m2q7m2q7m2q")
		require.NoError(t, err)
		for _, o := range objects {
			name := o.Place.String()
			if o.Part > 0 {
				name += fmt.Sprint(o.Part)
			}
			file := bytes.Join(o.Segments, nil)
			require.Equal(t, sha256.Sum256(file), o.SHA256)
			bodies := bodiesOf(t, file)
			require.Len(t, bodies, int(o.Records))
			require.NotContains(t, out, name)
			out[name] = bodies
		}
	}
	return out, plan
}

func TestRecordsAreFiledUnderTheirOwnHour(t *testing.T) {
	spec := testSpec()
	spec.Filing = eventFiling()
	e := newTestEncoder(t, spec)
	// Three calls: what is small in each is joined.
	a := stage(t, e, []Entry{late(t, "a", 0, 1, 0), late(t, "a", 0)})
	b := stage(t, e, []Entry{late(t, "b", 1, 30)})
	c := stage(t, e, []Entry{late(t, "c", 49)})
	require.EqualValues(t, 1, c.Skewed)
	got, plan := lakeOf(t, e, a, b, c)
	require.Equal(t, map[string][]string{
		"dt=2026-10-03/hour=06/": {"c 0, 49 hours old", "a 0, 0 hours old", "a 2, 0 hours old", "a 0, 0 hours old"},
		"dt=2026-10-03/hour=05/": {"a 1, 1 hours old", "b 0, 1 hours old"},
		"dt=2026-10-02/hour=00/": {"b 1, 30 hours old"},
	}, got)
	require.Zero(t, plan.Refiled)
}

func TestLevelsOfAttributes(t *testing.T) {
	spec := testSpec()
	spec.Filing = serviceFiling()
	e := newTestEncoder(t, spec)
	got, _ := lakeOf(t, e, stage(t, e, []Entry{late(t, "a/b", 0), late(t, "", 0), late(t, "c", 0)}))
	require.Equal(t, map[string][]string{
		"dt=2026-10-03/hour=06/service=a%2Fb/":                      {"a/b 0, 0 hours old"},
		"dt=2026-10-03/hour=06/service=__HIVE_DEFAULT_PARTITION__/": {" 0, 0 hours old"},
		"dt=2026-10-03/hour=06/service=c/":                          {"c 0, 0 hours old"},
	}, got)
}

func TestPlacesWithTheFewestRecordsAreFiledTogether(t *testing.T) {
	spec := testSpec()
	spec.Filing = eventFiling()
	spec.Filing.By = serviceFiling().By
	spec.Filing.MaxPlaces = 2
	e := newTestEncoder(t, spec)
	got, plan := lakeOf(t, e,
		stage(t, e, []Entry{late(t, "a", 0, 0, 0, 1), late(t, "b", 5)}),
		stage(t, e, []Entry{late(t, "a", 2), late(t, "c", 3, 3)}))
	require.Equal(t, map[string]int{
		// The late records of a are in its own directory still.
		"dt=2026-10-03/hour=06/service=a/": 5, "dt=2026-10-03/hour=03/service=c/": 2,
		"dt=2026-10-03/hour=06/service=__HIVE_DEFAULT_PARTITION__/": 1,
	}, counts(got))
	require.EqualValues(t, 3, plan.Refiled)
}

// bodiesOf gives the bodies of a Parquet object's records, in order.
func bodiesOf(t testing.TB, file []byte) (out []string) {
	t.Helper()
	type row struct {
		Body string `parquet:"body"`
	}
	rows, err := pq.Read[row](bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	for _, r := range rows {
		out = append(out, r.Body)
	}
	return out
}

// benchEntries are requests of n records of many services.
func benchEntries(n int) (out []Entry) {
	for i, p := range encodetest.Logs(1, n) {
		out = append(out, entry(p, encodetest.Start/1000+int64(i)))
	}
	return out
}

func counts(of map[string][]string) map[string]int {
	out := map[string]int{}
	for k, v := range of {
		out[k] = len(v)
	}
	return out
}

// Objects have at most the size that is asked for, and parts then.
func TestObjectsAreCutAtTheirSize(t *testing.T) {
	for _, format := range []string{"parquet", "jsonl"} {
		spec := testSpec()
		spec.Format = format
		e := newTestEncoder(t, spec)
		one := stage(t, e, benchEntries(500))
		spec.ObjectBytes = 2 * one.Size
		e = newTestEncoder(t, spec)
		plan := e.Plan(own(), []Staged{one, one, {}, one, one, one})
		require.Equal(t, 1, plan.Len())
		objects, err := plan.Objects(0, testID(), "q7m2q7m2q7m2q")
		require.NoError(t, err)
		var parts []int
		for _, o := range objects {
			parts = append(parts, o.Part, int(o.Records)/one.Rows)
		}
		require.Equal(t, []int{1, 2, 2, 2, 3, 1}, parts, format)
	}
}

// An object smaller than the limit has no part, and neither has one of a single
// row group above it.
func TestObjectsThatAreNotCutHaveNoPart(t *testing.T) {
	spec := testSpec()
	spec.ObjectBytes = 1
	e := newTestEncoder(t, spec)
	objects, err := e.Plan(own(), []Staged{stage(t, e, benchEntries(10))}).Objects(0, testID(), "q7m2q7m2q7m2q")
	require.NoError(t, err)
	require.Len(t, objects, 1)
	require.Zero(t, objects[0].Part)
}

func TestNothingToFile(t *testing.T) {
	for _, filing := range []*Filing{nil, eventFiling()} {
		spec := testSpec()
		spec.Filing = filing
		e := newTestEncoder(t, spec)
		require.Zero(t, e.Plan(own(), []Staged{stage(t, e, nil), stage(t, e, []Entry{late(t, "a")})}).Len())
	}
}

// What is malformed is left out of all places, whether the router sees it or
// the encoder.
func TestMalformedEntriesAreFiledNowhere(t *testing.T) {
	badID := func(e Entry) Entry {
		ld, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(e.Payload)
		require.NoError(t, err)
		records := ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords()
		records.At(records.Len() - 1).SetTraceID([16]byte{1})
		b := marshal(t, ld)
		at := bytes.Index(b, []byte{0x4a, 16, 1}) // trace_id
		b[at+1] = 14                              // two bytes short: they are a field of their own, so only the encoder sees it
		copy(b[at+16:], []byte{0x78, 0})
		return entry(b, e.ReceivedAt)
	}
	spec := testSpec()
	spec.Filing = eventFiling()
	e := newTestEncoder(t, spec)
	truncated := late(t, "x", 1, 2)
	truncated.Payload = truncated.Payload[:len(truncated.Payload)-1]
	s := stage(t, e, []Entry{truncated, late(t, "a", 0, 1), badID(late(t, "bad", 0, 1)), late(t, "b", 1)})
	var rejected []int
	for _, r := range s.Rejected {
		require.Error(t, r.Err)
		rejected = append(rejected, r.Index)
	}
	require.Equal(t, []int{0, 2}, rejected)
	require.Equal(t, 4, s.Rows)
	got, _ := lakeOf(t, e, s)
	require.Equal(t, map[string]int{"dt=2026-10-03/hour=06/": 2, "dt=2026-10-03/hour=05/": 2}, counts(got))

	// One that is encoded at once, behind one of another place.
	s = stage(t, e, []Entry{late(t, "a", 1), badID(late(t, "bad", make([]int, directItems)...)), late(t, "b", 0)})
	require.Len(t, s.Rejected, 1)
	require.Equal(t, 1, s.Rejected[0].Index)
	require.Equal(t, directItems, s.Rejected[0].Record)
	require.Equal(t, 2+directItems-1, s.Rows)
}

// The same records give the same objects, and all of them, however they are
// filed; large places are encoded at once, small ones are carried.
func TestFilingIsDeterministic(t *testing.T) {
	filing := serviceFiling()
	filing.EventTime, filing.MaxSkew = true, (1000 * time.Hour).Microseconds()
	for _, format := range []string{"parquet", "jsonl"} {
		spec := testSpec(testColumns()...)
		spec.Format, spec.Filing, spec.ObjectBytes, spec.RowGroupRows = format, filing, 100_000, 500
		entries := benchEntries(40_000)
		build := func() (names []string, records int64) {
			e := newTestEncoder(t, spec)
			var staged []Staged
			for part := range slices.Chunk(entries, len(entries)/2+1) {
				s := stage(t, e, part)
				require.True(t, slices.ContainsFunc(s.filed, func(f filed) bool { return f.carried != nil }))
				staged = append(staged, s)
			}
			plan := e.Plan(own(), staged)
			for i := range plan.Len() {
				objects, err := plan.Objects(i, testID(), "q7m2q7m2q7m2q")
				require.NoError(t, err)
				for _, o := range objects {
					names = append(names, fmt.Sprintf("%s%d %x", o.Place, o.Part, o.SHA256))
					records += o.Records
				}
			}
			return names, records
		}
		first, records := build()
		again, _ := build()
		require.Equal(t, first, again)
		require.EqualValues(t, 40_000, records)
		require.Greater(t, len(first), 10)
		require.True(t, slices.ContainsFunc(first, func(n string) bool { return strings.HasPrefix(path.Base(n), "2 ") }), "a place with two parts")
	}
}

func TestLevelsAndColumnsHaveNamesOfTheirOwn(t *testing.T) {
	for _, as := range []string{"service_name", "promoted"} {
		spec := testSpec(Column{Attribute: "x", As: "promoted"})
		spec.Filing = serviceFiling()
		spec.Filing.By[0].As = as
		_, err := New(spec)
		require.ErrorContains(t, err, "which is a column's")
	}
}

func BenchmarkFiling(b *testing.B) {
	entries := benchEntries(32768)
	for name, filing := range map[string]*Filing{"none": nil, "event": eventFiling(), "service": serviceFiling()} {
		b.Run(name, func(b *testing.B) {
			spec := testSpec(DefaultColumns()...)
			spec.Filing = filing
			e := newTestEncoder(b, spec)
			b.ReportAllocs()
			for b.Loop() {
				plan := e.Plan(own(), []Staged{stage(b, e, entries)})
				for i := range plan.Len() {
					if _, err := plan.Objects(i, testID(), "q7m2q7m2q7m2q"); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*32768), "ns/record")
		})
	}
}
