package window

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/s3window/s3window/internal/commit"
	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/wal"
)

func TestEntriesThatDoNotDecodeAreNamedAndKept(t *testing.T) {
	garbage := wal.Record{Tenant: "acme", Signal: "logs", Items: 3, Payload: []byte("\x0a\xff\xff\xffno OTLP")}
	for name, tc := range map[string]struct {
		recs []wal.Record
		want []string
		lost int
	}{
		"one of three":      {[]wal.Record{record("acme", "a"), garbage, record("acme", "b")}, []string{"a", "b"}, 1},
		"all of them":       {[]wal.Record{garbage, garbage}, nil, 2},
		"none, but empty":   {[]wal.Record{record("acme"), record("acme")}, nil, 0},
		"empty between":     {[]wal.Record{record("acme"), record("acme", "a"), record("acme")}, []string{"a"}, 0},
		"no payload at all": {[]wal.Record{{Tenant: "acme", Signal: "logs"}, record("acme", "a")}, []string{"a"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				p := w.start(newDisk(), settings{maxAge: time.Second})
				fails := 5
				w.bucket.Script(func(op laketest.Op) laketest.Fault { // retries name nothing twice
					if op.Kind != laketest.PutIfAbsent || fails == 0 {
						return laketest.Fault{}
					}
					fails--
					if strings.HasSuffix(op.Key, ".parquet") {
						return laketest.Fault{Before: errDown}
					}
					return laketest.Fault{After: errDown}
				})
				for range 2 {
					require.NoError(t, p.wal.Append(t.Context(), tc.recs...))
					time.Sleep(time.Minute)
				}
				p.quiet()
				assert.Equal(t, slices.Concat(tc.want, tc.want), w.bodies("acme"))
				lost := 0
				for _, cw := range w.windows("acme") {
					for _, l := range cw.Lost {
						lost++
						assert.EqualValues(t, 3, l.Records)
						kept, ok := w.bucket.Content(l.Key)
						require.True(t, ok)
						assert.True(t, bytes.Equal(garbage.Payload, kept))
					}
				}
				assert.Equal(t, 2*tc.lost, lost)
				assert.Equal(t, 2*tc.lost, p.seen.lost)
				p.shutdown()
			})
		})
	}
}

// TestBadRecordsCostThemselves has entries with a record that does not decode
// between good ones, through retries and a restart.
func TestBadRecordsCostThemselves(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		p := w.start(d, settings{maxAge: time.Minute})
		p.append("acme", "a", "b")
		require.NoError(t, p.wal.Append(t.Context(), wal.Record{
			Tenant: "acme", Signal: "logs", Items: 5,
			Payload: slices.Concat(payload("c"), tooDeep(), payload("d", "e"), tooDeep()),
		}))
		p.append("acme", "f")
		w.bucket.Script(func(op laketest.Op) laketest.Fault {
			if op.Kind == laketest.PutIfAbsent && strings.HasSuffix(op.Key, ".parquet") {
				return laketest.Fault{Before: errDown}
			}
			return laketest.Fault{}
		})
		time.Sleep(2 * time.Minute)
		kept := w.bucket.Keys("otel/_s3window/quarantine/")
		require.Len(t, kept, 2)
		p.crash()
		w.bucket.Script(nil)
		p = w.start(d, settings{maxAge: time.Minute})
		time.Sleep(5 * time.Minute)
		p.quiet()
		assert.Equal(t, []string{"a", "b", "c", "d", "e", "f"}, w.bodies("acme"))
		assert.Equal(t, kept, w.bucket.Keys("otel/_s3window/quarantine/"), "the same at every try")
		ws := w.windows("acme")
		require.Len(t, ws, 1)
		require.Len(t, ws[0].Lost, 2)
		for i, l := range ws[0].Lost {
			assert.EqualValues(t, 1, l.Records)
			assert.Contains(t, l.Reason, "nested deeper")
			assert.True(t, strings.HasSuffix(l.Key, []string{"-2.bin", "-5.bin"}[i]), l.Key)
			content, _ := w.bucket.Content(l.Key)
			assert.Contains(t, string(content), "svc", "its resource")
			assert.Greater(t, len(content), otlp.MaxDepth)
		}
		assert.Equal(t, 1, p.seen.lost, "entries")
		p.shutdown()
	})
}

// tooDeep is a request with a record that the encoder refuses.
func tooDeep() []byte {
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", "svc")
	v := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body()
	for range otlp.MaxDepth + 2 {
		v = v.SetEmptySlice().AppendEmpty()
	}
	b, err := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	if err != nil {
		panic(err)
	}
	return b
}

// TestEntriesThatVanishAreNamed has entries missing when a window is read back.
func TestEntriesThatVanishAreNamed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		q := &counted{}
		p := w.start(newDisk(), settings{maxAge: time.Minute, queue: q.wrap})
		for i := range 4 {
			p.append("acme", fmt.Sprint(i))
		}
		synctest.Wait()
		p.do(func() { p.evict(1<<40, func(*part) bool { return true }) })
		q.withhold.Store(true)
		time.Sleep(2 * time.Minute)
		p.quiet()
		assert.Equal(t, []string{"0", "2"}, w.bodies("acme"))
		ws := w.windows("acme")
		require.Len(t, ws, 1)
		require.Len(t, ws[0].Lost, 2)
		assert.Empty(t, ws[0].Lost[0].Key)
		assert.Zero(t, p.seen.lost, "the WAL counts what it does not find")
		p.shutdown()
	})
}

// TestObjectOfOtherRecordsUnderTheKey has an earlier process upload a window
// whose WAL then lost an entry: the object in the bucket has it still.
func TestObjectOfOtherRecordsUnderTheKey(t *testing.T) {
	for name, later := range map[string]bool{"nothing comes later": false, "more comes": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				d := newDisk()
				p := w.start(d, settings{maxAge: 5 * time.Second})
				p.append("acme", "first")
				time.Sleep(10 * time.Second)
				w.bucket.Script(func(op laketest.Op) laketest.Fault {
					if strings.Contains(op.Key, "/windows/") && op.Kind == laketest.PutIfAbsent {
						return laketest.Fault{Before: errDown}
					}
					return laketest.Fault{}
				})
				p.append("acme", "a")
				p.append("acme", "gone")
				p.append("acme", "b")
				time.Sleep(10 * time.Second)
				if later {
					p.append("acme", "c")
				}
				p.crash()
				w.bucket.Script(nil)
				require.Len(t, w.uncommitted("acme"), 1)
				delete(d.values, slices.Sorted(slices.Values(keysOf(d, "l")))[1]) // the bounds stay the same
				p = w.start(d, settings{maxAge: 5 * time.Second})
				time.Sleep(5 * time.Minute)
				p.quiet()
				want := []string{"first", "a", "gone", "b"}
				if later {
					want = append(want, "c")
				}
				assert.ElementsMatch(t, want, w.bodies("acme"))
				assert.Empty(t, w.uncommitted("acme"))
				p.shutdown()
			})
		})
	}
}

func keysOf(d *disk, prefix string) (out []string) {
	for k := range d.values {
		if strings.HasPrefix(k, prefix) && len(k) == 17 {
			out = append(out, k)
		}
	}
	return out
}

// TestOverlapThatRepeats has the log refuse a window for ever: the partition
// must not spin.
func TestOverlapThatRepeats(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		var reads, commits atomic.Int64
		var mended atomic.Bool
		p := w.start(newDisk(), settings{maxAge: time.Second, log: func(l Log) Log {
			return stubborn{l, &reads, &commits, func(cw commit.Window) error {
				if !mended.Load() && cw.ID.Tenant == "acme" {
					return &commit.Overlap{Writer: cw.Writer, After: cw.After, End: 0}
				}
				return nil
			}}
		}})
		p.append("acme", "a")
		p.append("beta", "b")
		time.Sleep(10 * time.Minute)
		assert.Less(t, commits.Load(), int64(700))
		assert.Less(t, reads.Load(), int64(700))
		assert.Equal(t, []string{"b"}, w.bodies("beta"))
		mended.Store(true)
		p.quiet()
		assert.Equal(t, []string{"a"}, w.bodies("acme"))
		p.shutdown()
	})
}

func TestBlockedLogStopsItsPartitionAndSaysSo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(newDisk(), settings{maxAge: 5 * time.Second})
		p.append("acme", "a")
		time.Sleep(10 * time.Second)
		require.Len(t, w.bodies("acme"), 1)
		k := w.bucket.Keys("otel/")
		var manifest string
		for _, x := range k {
			if strings.Contains(x, "/windows/") {
				manifest = x
			}
		}
		next := strings.Replace(manifest, "0000000001", "0000000002", 1)
		require.NotEqual(t, manifest, next)
		w.bucket.Set(next, []byte(`{"version":1}`))
		p.append("acme", "b")
		for i := range 60 {
			p.append("beta", fmt.Sprint(i))
			time.Sleep(5 * time.Second)
		}
		assert.Greater(t, len(w.bodies("beta")), 50)
		last := p.seen.lastHealth()
		require.ErrorContains(t, last, next)
		require.ErrorContains(t, last, "acme")
		w.bucket.Remove(next)
		time.Sleep(time.Minute)
		p.quiet()
		assert.Equal(t, []string{"a", "b"}, w.bodies("acme"))
		p.shutdown()
	})
}
