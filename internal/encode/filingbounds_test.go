package encode

import (
	"math"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/s3window/s3window/internal/partition"
)

// What a Staged says that it holds is what it holds.
func TestCarriedRecordsAreCounted(t *testing.T) {
	spec := testSpec()
	spec.Filing = serviceFiling()
	e := newTestEncoder(t, spec)
	s := stage(t, e, benchEntries(3000))
	require.Greater(t, len(s.filed), 5)
	var held int64
	for _, f := range s.filed {
		held += int64(unsafe.Sizeof(f)) + int64(cap(f.carried))
	}
	require.LessOrEqual(t, held, s.Bytes-s.Size)
	require.Less(t, held, 2*(s.Bytes-s.Size))
}

// oddTimes are a time per hour of a day and those that no clock says.
func oddTimes() []pcommon.Timestamp {
	out := []pcommon.Timestamp{0, 1, 999, 1000, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64}
	for h := range 24 {
		at := pcommon.Timestamp(received/3_600_000_000-int64(h)+1) * 3_600_000_000_000
		out = append(out, at-1, at, at+1)
	}
	return out
}

// timed is a request with an item for each of two times, in every kind of item
// that a signal has.
func timed(t *testing.T, signal partition.Signal, first, second pcommon.Timestamp) []byte {
	t.Helper()
	var b []byte
	var err error
	switch signal {
	case partition.Logs:
		ld := plog.NewLogs()
		lr := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		lr.SetTimestamp(first)
		lr.SetObservedTimestamp(second)
		b, err = (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	case partition.Traces:
		td := ptrace.NewTraces()
		sp := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
		sp.SetStartTimestamp(first)
		sp.SetEndTimestamp(second)
		b, err = (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	default:
		md := pmetric.NewMetrics()
		metrics := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics()
		for _, p := range []interface {
			SetTimestamp(pcommon.Timestamp)
			SetStartTimestamp(pcommon.Timestamp)
		}{
			metrics.AppendEmpty().SetEmptyGauge().DataPoints().AppendEmpty(),
			metrics.AppendEmpty().SetEmptySum().DataPoints().AppendEmpty(),
			metrics.AppendEmpty().SetEmptyHistogram().DataPoints().AppendEmpty(),
			metrics.AppendEmpty().SetEmptyExponentialHistogram().DataPoints().AppendEmpty(),
			metrics.AppendEmpty().SetEmptySummary().DataPoints().AppendEmpty(),
		} {
			p.SetTimestamp(first)
			p.SetStartTimestamp(second)
		}
		b, err = (&pmetric.ProtoMarshaler{}).MarshalMetrics(md)
	}
	require.NoError(t, err)
	return b
}

// The directory of a record is that of its column ts, unless it is the
// window's own.
func TestDirectoriesAreThoseOfTheColumnTs(t *testing.T) {
	for _, signal := range []partition.Signal{partition.Logs, partition.Traces, partition.Metrics} {
		for _, align := range []partition.Align{partition.AlignHour, partition.AlignDay, partition.AlignNone} {
			spec := Spec{Signal: signal, Format: "parquet", Codec: "snappy", Filing: eventFiling()}
			spec.Filing.Align, spec.Filing.MaxSkew = align, 12*time.Hour.Microseconds()
			e := newTestEncoder(t, spec)
			var entries []Entry
			for i, first := range oddTimes() {
				entries = append(entries, entry(timed(t, signal, first, oddTimes()[(i*7+3)%len(oddTimes())]), received))
			}
			window := partition.Place{Time: received, Align: align}
			plan := e.Plan(window, []Staged{stage(t, e, entries)})
			elsewhere, rows := 0, int64(0)
			for i := range plan.Len() {
				objects, err := plan.Objects(i, testID(), "q7m2q7m2q7m2q")
				require.NoError(t, err)
				for _, o := range objects {
					rows += o.Records
					if o.Place == window {
						continue
					}
					elsewhere++
					for _, at := range []int64{o.MinTime, o.MaxTime} {
						require.Equal(t, o.Place.String(), partition.Place{Time: at, Align: align}.String(), "%s, %s", signal, align)
					}
				}
			}
			require.Positive(t, elsewhere)
			if signal == partition.Metrics {
				rows /= 5
			}
			require.EqualValues(t, len(entries), rows)
		}
	}
}
