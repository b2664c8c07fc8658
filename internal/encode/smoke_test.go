package encode

import (
	"bytes"
	"os"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/s3window/s3window/internal/partition"
)

func TestSmoke(t *testing.T) {
	ld := plog.NewLogs()
	for i := range 3 {
		rl := ld.ResourceLogs().AppendEmpty()
		rl.Resource().Attributes().PutStr("service.name", []string{"b", "a", "b"}[i])
		rl.Resource().Attributes().PutStr("host.name", "h")
		sl := rl.ScopeLogs().AppendEmpty()
		for j := range 5 {
			r := sl.LogRecords().AppendEmpty()
			r.SetTimestamp(1789990000000000000)
			r.Body().SetStr("hello")
			r.Attributes().PutInt("n", int64(j))
			r.Attributes().PutStr("s", "x")
			r.SetTraceID([16]byte{1, 2, 3})
		}
	}
	b, _ := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	e, err := New(Spec{Signal: partition.Logs, Format: "parquet", Codec: "zstd", Columns: []Column{{ResourceAttribute: "host.name", As: "host_name"}, {Attribute: "n", As: "n", Type: "int64"}}})
	if err != nil {
		t.Fatal(err)
	}
	st, err := e.Stage([]Entry{{Payload: b, ReceivedAt: 5}, {Payload: []byte("xx")}})
	if err != nil {
		t.Fatal(err)
	}
	o, err := e.Assemble(partition.ID{Tenant: "t", Signal: partition.Logs}, "w", []Staged{st})
	if err != nil {
		t.Fatal(err)
	}
	file := bytes.Join(o.Segments, nil)
	os.WriteFile("/tmp/enc-smoke.parquet", file, 0o644)
	f, err := pq.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	t.Log(f.Schema(), st.Rejected, len(file))
	rows := make([]pq.Row, 20)
	n, err := f.RowGroups()[0].Rows().ReadRows(rows)
	t.Log(n, err)
	t.Logf("%+v", rows[0])
}
