package verify

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/partition"
)

// encoded is an object of n records with ten attributes each.
func encoded(t testing.TB, format string, n int) []byte {
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", "shop")
	records := rl.ScopeLogs().AppendEmpty().LogRecords()
	for i := range n {
		r := records.AppendEmpty()
		r.SetTimestamp(pcommon.Timestamp(i))
		r.Body().SetStr(fmt.Sprint("request served in ", i%977, " ms"))
		for a := range 10 {
			r.Attributes().PutStr(fmt.Sprint("key", a), fmt.Sprint("value ", i%(a+1)))
		}
	}
	payload, err := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	require.NoError(t, err)
	e, err := encode.New(encode.Spec{Signal: partition.Logs, Format: format, Codec: "zstd", RowGroupRows: 32768, RowGroupBytes: 16 << 20})
	require.NoError(t, err)
	staged, err := e.Stage([]encode.Entry{{Payload: payload, ReceivedAt: 1}})
	require.NoError(t, err)
	o, err := e.Assemble(partition.ID{Sink: "default", Tenant: "acme", Signal: partition.Logs}, "aaaaaaaaaaaaa", []encode.Staged{staged})
	require.NoError(t, err)
	return bytes.Join(o.Segments, nil)
}

// An object may be anything: what is no Parquet file is malformed, and nothing
// panics.
func TestDamagedParquetRowsAreMalformed(t *testing.T) {
	content := encoded(t, "parquet", 50)
	visit := func(rowHash) error { return nil }
	require.NoError(t, readParquetRows(bytes.NewReader(content), int64(len(content)), visit))
	for at := 0; at < len(content); at += 7 {
		damaged := bytes.Clone(content)
		damaged[at] ^= 0xff
		for _, b := range [][]byte{damaged, content[:at]} {
			err := readParquetRows(bytes.NewReader(b), int64(len(b)), visit)
			var malformed *malformedError
			require.True(t, err == nil || errors.As(err, &malformed), "%d: %v", at, err)
		}
	}
}

func TestVisitsErrorEndsReading(t *testing.T) {
	stop := errors.New("stop")
	content := encoded(t, "parquet", 50)
	n := 0
	visit := func(rowHash) error { n++; return stop }
	require.ErrorIs(t, readParquetRows(bytes.NewReader(content), int64(len(content)), visit), stop)
	require.ErrorIs(t, readLineRows(bytes.NewReader([]byte("{}\n{}\n")), visit), stop)
	require.Equal(t, 2, n)
}

func BenchmarkHashParquetRows(b *testing.B) {
	const rows = 32768
	content := encoded(b, "parquet", rows)
	b.ReportAllocs()
	for b.Loop() {
		if err := readParquetRows(bytes.NewReader(content), int64(len(content)), func(rowHash) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
}
