package verify_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/s3window/s3window/cmd/s3window/internal/verify"
	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
)

// request is log records as a client sends them; zero has no time of its own.
func request(t testing.TB, bodies ...string) []byte {
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", "shop")
	records := rl.ScopeLogs().AppendEmpty().LogRecords()
	for _, body := range bodies {
		r := records.AppendEmpty()
		text, timeless := strings.CutPrefix(body, "timeless ")
		if !timeless {
			r.SetTimestamp(pcommon.Timestamp(at(1) * 1000))
		}
		r.Body().SetStr(text)
		r.Attributes().PutInt("n", int64(len(text)))
	}
	b, err := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	require.NoError(t, err)
	return b
}

// send commits a window whose one request was received at second start.
func (l *testLake) send(k uint64, start int64, format, codec string, columns []encode.Column, bodies ...string) {
	e, err := encode.New(encode.Spec{Signal: partition.Logs, Format: format, Codec: codec, RowGroupRows: 100, RowGroupBytes: 1 << 20, Columns: columns})
	require.NoError(l.t, err)
	staged, err := e.Stage([]encode.Entry{{Payload: request(l.t, bodies...), ReceivedAt: at(start)}})
	require.NoError(l.t, err)
	object, err := e.Assemble(acme, writerA, []encode.Staged{staged})
	require.NoError(l.t, err)
	var data []byte
	for _, s := range object.Segments {
		data = append(data, s...)
	}
	l.commit(win{id: acme, k: k, writer: writerA, after: start, start: start, end: start + 1, rows: object.Records, ext: object.Ext, data: data})
}

func duplicates(t *testing.T, l *testLake) *verify.Report {
	r := judge(t, l, verify.Options{Duplicates: true, TempDir: t.TempDir()})
	require.Empty(t, r.Damage)
	require.NotNil(t, r.Duplicates)
	return r
}

func TestDuplicates(t *testing.T) {
	for name, c := range map[string]struct {
		fill       func(l *testLake)
		duplicated int64
		texts      []string // a piece of each finding, in order
	}{
		"a request was sent again": {func(l *testLake) {
			l.send(1, 0, "parquet", "zstd", nil, "a", "b", "c")
			l.send(2, 1, "parquet", "zstd", nil, "a", "b", "c")
		}, 3, []string{"holds 3 records that are in otel/tenant=acme/signal=logs/dt=2026-11-30/hour=08/w-" + fmt.Sprint(at(0))}},
		"records without a time were sent again": {func(l *testLake) {
			l.send(1, 0, "parquet", "zstd", nil, "timeless a", "b")
			l.send(2, 1, "parquet", "zstd", nil, "timeless a", "c")
		}, 1, []string{"holds 1 records that are in"}},
		"nothing was sent again": {func(l *testLake) {
			l.send(1, 0, "parquet", "zstd", nil, "a", "timeless b")
			l.send(2, 1, "parquet", "zstd", nil, "timeless a", "b")
		}, 0, nil},
		"a record is twice in an object": {func(l *testLake) {
			l.send(1, 0, "parquet", "zstd", nil, "a", "b", "a", "a")
		}, 2, []string{"holds 2 records that stand before them in it already"}},
		"lines were sent again": {func(l *testLake) {
			l.send(1, 0, "jsonl", "zstd", nil, "a", "timeless b")
			l.send(2, 1, "jsonl", "gzip", nil, "timeless b", "a", "c")
		}, 2, []string{"holds 2 records that are in"}},
		"a column was promoted that none of them has": {func(l *testLake) {
			l.send(1, 0, "parquet", "zstd", nil, "a")
			l.send(2, 1, "parquet", "zstd", []encode.Column{{Attribute: "user", As: "user", Type: "string"}}, "a")
		}, 1, []string{"holds 1 records that are in"}},
		"three objects share": {func(l *testLake) {
			l.send(1, 0, "parquet", "zstd", nil, "a", "b")
			l.send(2, 1, "parquet", "zstd", nil, "a")
			l.send(3, 2, "parquet", "zstd", nil, "b", "a", "b")
		}, 4, []string{"holds 1 records that are in", "holds 3 records that are in"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := &testLake{Memory: laketest.NewMemory(), t: t}
			c.fill(l)
			r := duplicates(t, l)
			require.Equal(t, c.duplicated, r.Duplicates.Duplicated, "%v", r.Notes)
			require.Equal(t, r.Records, r.Duplicates.Records)
			require.Len(t, r.Notes, len(c.texts))
			for i, text := range c.texts {
				require.Equal(t, verify.Duplicate, r.Notes[i].Kind)
				require.Contains(t, r.Notes[i].Text, text)
			}
			require.True(t, r.Sound)
			require.Nil(t, judge(t, l, verify.Options{}).Duplicates, "nobody asked")
		})
	}
}

func TestDuplicatesStayWithinATenant(t *testing.T) {
	l := goodLake(t)
	r := duplicates(t, l)
	// Of acme's Parquet files, "line 0" to "line 3" are in three and "line 4" in two.
	require.EqualValues(t, 9, r.Duplicates.Duplicated)
	for _, n := range r.Notes {
		require.Contains(t, n.Key, "tenant=acme")
		require.Contains(t, n.Also, "tenant=acme")
	}
}

func TestDuplicatesPassOverWhatIsDamaged(t *testing.T) {
	l, dir := goodLake(t), t.TempDir()
	l.Remove(l.object(1))
	junk := []byte("junk")
	l.Set(l.object(2), junk)
	l.edit(2, func(m *lake.Manifest) { m.Objects[0].SHA256, m.Objects[0].Bytes, m.Bytes = sum(junk), 4, 4 })
	r := judge(t, l, verify.Options{Duplicates: true, TempDir: dir, SizesOnly: true})
	require.EqualValues(t, 2, r.Duplicates.Unread)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left, "nothing stays in the temporary directory")

	denied := errors.New("denied")
	l.Script(func(op laketest.Op) laketest.Fault {
		if op.Kind == laketest.Open && strings.Contains(op.Key, "/dt=") {
			return laketest.Fault{Before: denied}
		}
		return laketest.Fault{}
	})
	_, err = verify.Lake(t.Context(), lake.New(l, lake.Ref{Bucket: "b", Prefix: prefix}), verify.Options{Duplicates: true, SizesOnly: true}, nil)
	require.ErrorIs(t, err, denied)
	_, err = verify.Lake(t.Context(), lake.New(goodLake(t), lake.Ref{Bucket: "b", Prefix: prefix}),
		verify.Options{Duplicates: true, TempDir: "/does/not/exist"}, nil)
	require.ErrorContains(t, err, "make room for hashes")
}
