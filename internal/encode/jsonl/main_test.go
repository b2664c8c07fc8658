package jsonl

import (
	"testing"

	"github.com/s3window/s3window/internal/encode/idle"
	"github.com/s3window/s3window/internal/encode/otlp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newEncoder(t testing.TB, c Config) *Encoder {
	t.Helper()
	e, err := New(c, idle.NewKeeper(1), 32<<20)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// stage stages entries that are all well-formed.
func stage(t testing.TB, e *Encoder, entries []otlp.Entry) Staged {
	t.Helper()
	s, err := e.Stage(entries)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
