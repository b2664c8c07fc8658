package lease

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRecordGolden keeps the format: records that exist must stay readable, and
// the same record must not come out as other bytes.
func TestRecordGolden(t *testing.T) {
	for name, want := range map[string]record{
		"held": {
			epoch: 1791009458377856, write: "k5wzq3vhyd2mvtmvqnlzo3x7ge",
			lease: &grant{holder: "gw-0/q7m2<&>", ttl: 30 * time.Second},
			state: []byte(`{"k":41,"manifest_sha256":"e3b0","writers":{"q7m2":{"end":1791009458377856,"k":41,"at":1791009464741000}},"pruned":1790000000000000}`),
		},
		"free":  {epoch: 97, write: "a", state: []byte(`{"k":41}`)},
		"empty": {epoch: 0, write: "a", lease: &grant{holder: "", ttl: time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			golden, err := os.ReadFile(filepath.Join("testdata", "record-"+name+".json"))
			require.NoError(t, err)
			require.Equal(t, strings.TrimSuffix(string(golden), "\n"), string(want.encode()))
			got, err := decodeRecord(golden)
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
}

func TestRecordsThatAreRefused(t *testing.T) {
	for give, want := range map[string]string{
		``:                                      "not a JSON object",
		`null`:                                  "not a JSON object",
		`[]`:                                    "not a JSON object",
		`{`:                                     "not a JSON object",
		`{} {}`:                                 "not a JSON object",
		`{}`:                                    `version is "", not 1: the record belongs to another release or is no lease`,
		`{"version":2}`:                         `version is "2", not 1: the record belongs to another release or is no lease`,
		`{"version":1.0,"epoch":1,"write":"a"}`: `version is "1.0", not 1: the record belongs to another release or is no lease`,
		`{"version":1}`:                         `epoch is "", not a number from 0 to 2^62-1`,
		`{"version":1,"epoch":-1,"write":"a"}`:  `epoch is "-1", not a number from 0 to 2^62-1`,
		`{"version":1,"epoch":1e3,"write":"a"}`: `epoch is "1e3", not a number from 0 to 2^62-1`,
		`{"version":1,"epoch":4611686018427387904}`:                            `epoch is "4611686018427387904", not a number from 0 to 2^62-1`,
		`{"version":1,"epoch":1}`:                                              `write is "", not a non-empty string`,
		`{"version":1,"epoch":1,"write":7}`:                                    `write is "7", not a non-empty string`,
		`{"version":1,"epoch":1,"write":"a","lease":null}`:                     `lease is "null", not {holder, ttl_ms}`,
		`{"version":1,"epoch":1,"write":"a","lease":{"x":1}}`:                  `lease is "{\"x\":1}", not {holder, ttl_ms}`,
		`{"version":1,"epoch":1,"write":"a","lease":{}}`:                       `lease.ttl_ms is 0, not a positive duration`,
		`{"version":1,"epoch":1,"write":"a","lease":{"ttl_ms":9223372036855}}`: `lease.ttl_ms is 9223372036855, not a positive duration`,
		`{"version":1,"version":1,"epoch":1,"write":"a"}`:                      `the key "version" is there twice`,
		`{"version":1,"epoch":1,"write":"a","k":1,"k":1}`:                      `the key "k" is there twice`,
	} {
		_, err := decodeRecord([]byte(give))
		require.EqualErrorf(t, err, want, "%s", give)
	}
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add([]byte(`{"version":1,"epoch":97,"write":"a","lease":{"holder":"h","ttl_ms":1},"k":[1,{"x":null}]}`))
	f.Add([]byte(`{"k":1,"write":"\u00fc","epoch":0,"version":1}`))
	f.Add([]byte(`{"version":1,"epoch":1,"write":"a","lease":{"holder":"h","ttl_ms":1,"ttl_ms":2}}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		r, err := decodeRecord(value)
		if err != nil {
			return
		}
		again, err := decodeRecord(r.encode())
		require.NoError(t, err)
		require.Equal(t, r, again)
		require.Equal(t, r.encode(), again.encode())
	})
}

func FuzzCanonicalState(f *testing.F) {
	f.Add([]byte(`{ "a" : [ 1, 2 ], "\u0062": "<" }`))
	f.Fuzz(func(t *testing.T, state []byte) {
		canonical, err := canonicalState(state)
		if err != nil || canonical == nil {
			return
		}
		again, err := canonicalState(canonical)
		require.NoError(t, err)
		require.True(t, bytes.Equal(canonical, again))
		r, err := decodeRecord(record{epoch: 1, write: "a", state: canonical}.encode())
		require.NoError(t, err)
		require.Equal(t, string(canonical), string(r.state))
	})
}

func BenchmarkRecord(b *testing.B) {
	r := record{
		epoch: 1791009458377856, write: newWriteID(), lease: &grant{holder: "gw-0", ttl: time.Minute},
		state: []byte(`{"k":41,"writers":{"q7m2":{"end":1791009458377856,"k":41,"at":1791009464741000}}}`),
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decodeRecord(r.encode()); err != nil {
			b.Fatal(err)
		}
	}
}
