package route

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/partition"
)

// wide is a request of one resource with a value of some length, and n records
// of three hours, of which each has a value of its own.
func wide(t testing.TB, value, n int) []byte {
	t.Helper()
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", strings.Repeat("x", value))
	records := rl.ScopeLogs().AppendEmpty().LogRecords()
	for i := range n {
		lr := records.AppendEmpty()
		lr.SetTimestamp(pcommon.Timestamp((received - int64(i%3)*time.Hour.Microseconds()) * 1000))
		lr.Attributes().PutInt("x", int64(i))
	}
	b, err := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	require.NoError(t, err)
	return b
}

// allocated is how many bytes f allocates.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// A large resource is copied to each place of its records; there may be
// thousands.
func TestCopiesAreBounded(t *testing.T) {
	rule := Rule{Align: partition.AlignHour, MaxPlaces: 1000, By: []Level{{Attribute: "x", As: "x"}}}
	r, err := New(rule, partition.Logs)
	require.NoError(t, err)
	entries := []otlp.Entry{at(wide(t, 1<<20, 500), received), at(wide(t, 100, 20), received)}
	var got Dealt
	require.Less(t, allocated(func() { got = dealt(t, r, entries...) }), int64(16<<20))
	items, size := 0, int64(0)
	for _, p := range got.Pieces {
		items, size = items+p.Items, size+p.Bytes
	}
	require.Equal(t, 520, items)
	require.LessOrEqual(t, size, (1+maxCopies)*int64(len(entries[0].Payload)+len(entries[1].Payload))+1<<10)
	require.Greater(t, len(got.Pieces), maxCopies, "those that cost little keep their places")
	require.Positive(t, got.Refiled)

	r, err = New(rules()["hours"], partition.Logs)
	require.NoError(t, err)
	got = dealt(t, r, entries...)
	require.Len(t, got.Pieces, 3, "a copy for each hour, not for each record")
	require.Zero(t, got.Refiled)
}

// A value may be long, and a resource have many records.
func TestLongValuesAreReadOnce(t *testing.T) {
	rule := rules()["all"]
	r, err := New(rule, partition.Logs)
	require.NoError(t, err)
	payload := wide(t, 1<<20, 5000)
	require.Less(t, allocated(func() { dealt(t, r, at(payload, received)) }), int64(64<<20))
}

// Only so many places of a call are told apart.
func TestPlacesOfACallAreBounded(t *testing.T) {
	rule := rules()["all"]
	rule.MaxPlaces = 10
	r, err := New(rule, partition.Logs)
	require.NoError(t, err)
	s := newSplit(r)
	n := maxMet + 5000
	require.NoError(t, s.entry(at(wide(t, 10, n), received)))
	require.LessOrEqual(t, len(s.places), maxMet+1)
	require.LessOrEqual(t, len(s.names), maxMet+1)
	got := dealt(t, r, at(wide(t, 10, n), received))
	require.Len(t, got.Pieces, 4*10, "the rest is one of those with the most")
	items := 0
	for _, p := range got.Pieces {
		items += p.Items
	}
	require.Equal(t, n, items)
	require.EqualValues(t, n-39, got.Refiled)
}
