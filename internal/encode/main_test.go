package encode

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/goleak"

	"github.com/s3window/s3window/internal/partition"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func testID() partition.ID {
	return partition.ID{Sink: "default", Tenant: testTenant, Signal: partition.Logs}
}

func testSpec(columns ...Column) Spec {
	return Spec{Signal: partition.Logs, Format: "parquet", Codec: "zstd", Columns: columns}
}

func newTestEncoder(t testing.TB, spec Spec) *Encoder {
	t.Helper()
	e, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func entry(payload []byte, received int64) Entry {
	return Entry{Payload: payload, ReceivedAt: received}
}

func stage(t testing.TB, e *Encoder, entries []Entry) Staged {
	t.Helper()
	s, err := e.Stage(entries)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// object returns the content of the object that the staged row groups make.
func object(t testing.TB, e *Encoder, staged ...Staged) []byte {
	t.Helper()
	o, err := e.Assemble(testID(), "q7m2q7m2q7m2q", staged)
	if err != nil {
		t.Fatal(err)
	}
	file := bytes.Join(o.Segments, nil)
	if int64(len(file)) != o.Size {
		t.Fatalf("Size is %d, the content has %d bytes", o.Size, len(file))
	}
	return file
}

func marshal(t testing.TB, logs plog.Logs) []byte {
	t.Helper()
	b, err := (&plog.ProtoMarshaler{}).MarshalLogs(logs)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func saved(t testing.TB, file []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "object.parquet")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// testTenant owns the objects of tests.
const testTenant = "acme"

// idleStagers are the stagers that an encoder of Parquet keeps.
func idleStagers(e *Encoder) (out []*stager) {
	f := e.base.(*parquetFormat)
	for _, s := range f.keeper.Of(f) {
		out = append(out, s.(*stager))
	}
	return out
}
