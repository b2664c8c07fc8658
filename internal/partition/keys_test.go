package partition

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// objectKey is the key of an object that is filed under the start of its window.
func objectKey(prefix string, id ID, align Align, n ObjectName) string {
	return PlacedKey(prefix, id, Place{Time: n.Start, Align: align}, n)
}

// The keys are a public format: these are goldens, none may ever change.
func TestKeys(t *testing.T) {
	id := ID{Sink: "default", Tenant: "acme", Signal: Logs}
	odd := ID{Sink: "a.b", Tenant: "../a b", Signal: Metrics}
	name := ObjectName{Start: 1791009458377856, End: 1791009758000001, Writer: "q7m2aaaaaaaaa", Ext: "parquet"}
	part := ObjectName{Start: 0, End: 1, Writer: "q7m2aaaaaaaaa", Part: 12, Ext: "jsonl.zst"}
	for got, want := range map[string]string{
		objectKey("otel", id, AlignHour, name): "otel/tenant=acme/signal=logs/dt=2026-10-03/hour=06/w-1791009458377856-1791009758000001-q7m2aaaaaaaaa.parquet",
		objectKey("", odd, AlignDay, part):     "tenant=..%2Fa%20b/signal=metrics/dt=1970-01-01/w-0000000000000000-0000000000000001-q7m2aaaaaaaaa-12.jsonl.zst",
		objectKey("a/b", id, AlignNone, name):  "a/b/tenant=acme/signal=logs/dt=2026-10-03/hour=06/w-1791009458377856-1791009758000001-q7m2aaaaaaaaa.parquet",
		DataPrefix("otel", id):                 "otel/tenant=acme/signal=logs/",
		SystemPrefix("otel"):                   "otel/_s3window/",
		SystemPrefix(""):                       "_s3window/",
		LeasePrefix("otel"):                    "otel/_s3window/leases/",
		ManifestPrefix("otel", id):             "otel/_s3window/sink=default/tenant=acme/signal=logs/windows/",
		ManifestKey("otel", id, 42):            "otel/_s3window/sink=default/tenant=acme/signal=logs/windows/0000000042.json",
		ManifestKey("", odd, 12345678901):      "_s3window/sink=a.b/tenant=..%2Fa%20b/signal=metrics/windows/12345678901.json",
		QuarantineKey("otel", id, QuarantineName{Stamp: 7, Writer: "q7m2aaaaaaaaa", Seq: 255}): "otel/_s3window/quarantine/sink=default/tenant=acme/signal=logs/" +
			"e-0000000000000007-q7m2aaaaaaaaa-00000000000000ff.bin",
		QuarantineKey("", odd, QuarantineName{Stamp: 7, Writer: "q7m2aaaaaaaaa", Seq: 1, Record: 12}): "_s3window/quarantine/sink=a.b/tenant=..%2Fa%20b/signal=metrics/" +
			"e-0000000000000007-q7m2aaaaaaaaa-0000000000000001-12.bin",
		HeadName("lake", "otel/x", odd): "bucket=lake/prefix=otel%2Fx/sink=a.b/tenant=..%2Fa%20b/signal=metrics",
		HeadName("lake", "", id):        "bucket=lake/prefix=%/sink=default/tenant=acme/signal=logs",
		id.String():                     "sink=default/tenant=acme/signal=logs",
	} {
		assert.Equal(t, want, got)
	}
}

func TestPeriod(t *testing.T) {
	const hour = 3_600_000_000
	for _, c := range []struct {
		align Align
		stamp int64
		want  int64
	}{
		{AlignHour, 0, 0}, {AlignHour, hour - 1, 0}, {AlignHour, hour, 1}, {AlignHour, -1, -1}, {AlignHour, -hour, -1},
		{AlignDay, 24*hour - 1, 0}, {AlignDay, 24 * hour, 1}, {AlignDay, -1, -1},
		{AlignNone, 5 * hour, 0}, {AlignNone, -5 * hour, 0},
	} {
		assert.Equal(t, c.want, c.align.Period(c.stamp), "%s %d", c.align, c.stamp)
		until := c.align.Until(c.stamp)
		if c.align == AlignNone {
			assert.EqualValues(t, math.MaxInt64, until, "no period ends")
			continue
		}
		assert.Equal(t, c.want, c.align.Period(until-1), "the last of its period")
		assert.Equal(t, c.want+1, c.align.Period(until), "the first of the next")
	}
}

func TestParseSignal(t *testing.T) {
	for _, s := range []Signal{Logs, Traces, Metrics} {
		got, err := ParseSignal(string(s))
		require.NoError(t, err)
		assert.Equal(t, s, got)
	}
	for _, s := range []string{"", "Logs", "log", "profiles", "logs/"} {
		_, err := ParseSignal(s)
		assert.EqualError(t, err, `signal "`+s+`" is not one of logs, traces, metrics`)
	}
}

func TestParseObjectNameRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"":                                      "is not w-<start>",
		"x-1-2-w.parquet":                       "is not w-<start>",
		"w-0000000000000001-0000000000000002-w": "is not w-<start>",
		"w-0000000000000001-0000000000000002.parquet":       "is not w-<start>",
		"w-0000000000000001-0000000000000002-w-1-2.parquet": "is not w-<start>",
		"w-000000000000000x-0000000000000002-w.parquet":     "start:",
		"w-0000000000000001-000000000000000x-w.parquet":     "end:",
		"w-0000000000000001-0000000000000002-w-x.parquet":   "part:",
		"w-1-2-w.parquet": "not in canonical form",
		"w-0000000000000001-0000000000000002-w-0.parquet":   "not in canonical form",
		"w-0000000000000001-0000000000000002-w-01.parquet":  "not in canonical form",
		"w-+000000000000001-0000000000000002-w.parquet":     "not in canonical form",
		"w-99999999999999999999-0000000000000002-w.parquet": "start:",
	} {
		_, err := ParseObjectName(in)
		assert.ErrorContains(t, err, want, "%q", in)
	}
}

func TestParseKeysRefuse(t *testing.T) {
	const name = "w-0000000000000001-0000000000000002-w.parquet"
	for in, want := range map[string]string{
		"other/tenant=a/signal=logs/dt=1970-01-01/hour=00/" + name: `is not below prefix "otel"`,
		"otel/" + name: "too few levels",
		"otel/x=a/signal=logs/dt=1970-01-01/" + name:              "is not tenant=",
		"otel/tenant=a/x=logs/dt=1970-01-01/" + name:              "is not signal=",
		"otel/tenant=a/signal=profiles/dt=1970-01-01/" + name:     "is not one of logs",
		"otel/tenant=a%2f/signal=logs/dt=1970-01-01/" + name:      "is not an escape",
		"otel/tenant=a/signal=logs/dt=1970-01-01/hour=00/x":       "is not w-<start>",
		"otel/_s3window/sink=a/tenant=b/signal=logs/windows/1.js": "is not tenant=",
	} {
		_, _, err := ParseObjectKey("otel", in)
		assert.ErrorContains(t, err, want, "%q", in)
	}
	for in, want := range map[string]string{
		"_s3window/sink=a/tenant=b/signal=logs/windows/0000000001.json": "below otel/_s3window/",
		"otel/_s3window/leases/x": "not sink=",
		"otel/_s3window/sink=a/tenant=b/signal=logs/objects/0000000001.json":           "not sink=",
		"otel/_s3window/x=a/tenant=b/signal=logs/windows/0000000001.json":              "no sink= level",
		"otel/_s3window/sink=a/b/signal=logs/windows/0000000001.json":                  "is not tenant=",
		"otel/_s3window/sink=%/tenant=b/signal=logs/windows/0000000001.txt":            "does not end in .json",
		"otel/_s3window/sink=%61/tenant=b/signal=logs/windows/0000000001.json":         "not in canonical form",
		"otel/_s3window/sink=a/tenant=b/signal=logs/windows/0000000000.json":           "no valid number k",
		"otel/_s3window/sink=a/tenant=b/signal=logs/windows/1.json":                    "no valid number k",
		"otel/_s3window/sink=a/tenant=b/signal=logs/windows/x.json":                    "no valid number k",
		"otel/_s3window/sink=a/tenant=b/signal=logs/windows/00000000001.json":          "no valid number k",
		"otel/_s3window/sink=a/tenant=b/signal=logs/windows/99999999999999999999.json": "no valid number k",
	} {
		_, _, err := ParseManifestKey("otel", in)
		assert.ErrorContains(t, err, want, "%q", in)
	}
}

func drawID(t *rapid.T, label string) ID {
	value := rapid.OneOf(rapid.SampledFrom(hostile()), rapid.String())
	return ID{
		Sink:   value.Draw(t, label+" sink"),
		Tenant: Tenant(value.Draw(t, label+" tenant")),
		Signal: rapid.SampledFrom([]Signal{Logs, Traces, Metrics}).Draw(t, label+" signal"),
	}
}

func TestKeysParseBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.SampledFrom([]string{"", "otel", "a/b", "tenant=x/signal=logs"}).Draw(t, "prefix")
		align := rapid.SampledFrom([]Align{AlignHour, AlignDay, AlignNone}).Draw(t, "align")
		id := drawID(t, "id")
		name := ObjectName{
			Start:  rapid.Int64Range(0, 253402300799999999).Draw(t, "start"),
			End:    rapid.Int64Range(0, math.MaxInt64).Draw(t, "end"),
			Writer: rapid.StringMatching("[a-z2-7]{13}").Draw(t, "writer"),
			Part:   rapid.IntRange(0, 20000).Draw(t, "part"),
			Ext:    rapid.SampledFrom([]string{"parquet", "jsonl", "jsonl.gz", "jsonl.zst"}).Draw(t, "ext"),
		}
		key := objectKey(prefix, id, align, name)
		gotID, gotName, err := ParseObjectKey(prefix, key)
		require.NoError(t, err)
		require.Equal(t, ID{Tenant: id.Tenant, Signal: id.Signal}, gotID)
		require.Equal(t, name, gotName)

		k := rapid.Uint64Range(1, math.MaxUint64).Draw(t, "k")
		gotID, gotK, err := ParseManifestKey(prefix, ManifestKey(prefix, id, k))
		require.NoError(t, err)
		require.Equal(t, id, gotID)
		require.Equal(t, k, gotK)
	})
}

// No value can leave its prefix, and no two partitions share or contain one
// another's.
func TestValuesStayInTheirPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawID(t, "a"), drawID(t, "b")
		key := objectKey("otel", a, AlignHour, ObjectName{Start: 1, End: 2, Writer: "q7m2aaaaaaaaa", Ext: "parquet"})
		segments := strings.Split(key, "/")
		require.Len(t, segments, 6)
		for _, s := range segments {
			requireSegment(t, strings.ReplaceAll(s, "=", ""))
		}
		require.False(t, strings.HasPrefix(key, SystemPrefix("otel")))
		sameData := a.Tenant == b.Tenant && a.Signal == b.Signal
		require.Equal(t, sameData, strings.HasPrefix(key, DataPrefix("otel", b)))
		require.Equal(t, a == b, strings.HasPrefix(ManifestKey("otel", a, 1), ManifestPrefix("otel", b)))
		require.Equal(t, a == b, HeadName("lake", "otel", a) == HeadName("lake", "otel", b))
	})
}

func FuzzParseObjectKey(f *testing.F) {
	for _, s := range hostile() {
		f.Add("otel", objectKey("otel", ID{Tenant: s, Signal: Logs}, AlignHour, ObjectName{Start: 1, End: 2, Writer: "w", Ext: "parquet"}))
	}
	f.Add("", "tenant=%/signal=logs/dt=1970-01-01/w-0000000000000001-0000000000000002-w-3.jsonl.gz")
	f.Fuzz(func(t *testing.T, prefix, key string) {
		id, name, err := ParseObjectKey(prefix, key)
		if err != nil {
			return
		}
		require.True(t, strings.HasPrefix(key, DataPrefix(prefix, id)))
		require.True(t, strings.HasSuffix(key, "/"+name.String()))
	})
}

func FuzzParseManifestKey(f *testing.F) {
	for _, s := range hostile() {
		f.Add("otel", ManifestKey("otel", ID{Sink: s, Tenant: s, Signal: Logs}, 42))
	}
	f.Fuzz(func(t *testing.T, prefix, key string) {
		id, k, err := ParseManifestKey(prefix, key)
		if err != nil {
			return
		}
		require.Equal(t, key, ManifestKey(prefix, id, k))
	})
}

func TestLayoutKeys(t *testing.T) {
	assert.Equal(t, "otel/prod/_s3window/sink=eu-1/layout.json", LayoutKey("otel/prod", "eu-1"))
	assert.Equal(t, "_s3window/sink=default/layout.json", LayoutKey("", "default"))
	for _, prefix := range []string{"", "otel/prod"} {
		for _, name := range hostile() {
			sink, ok := ParseLayoutKey(prefix, LayoutKey(prefix, name))
			require.True(t, ok, "%q", name)
			assert.Equal(t, name, sink)
		}
		for _, key := range []string{"", "layout.json", LayoutKey("x", "a"), SystemPrefix(prefix) + "layout.json", SystemPrefix(prefix) + "sink=/layout.json",
			SystemPrefix(prefix) + "sink=a/b/layout.json", SystemPrefix(prefix) + "sink=%61/layout.json", ManifestKey(prefix, ID{"a", "b", Logs}, 1)} {
			_, ok := ParseLayoutKey(prefix, key)
			assert.False(t, ok, "%q", key)
		}
	}
}
