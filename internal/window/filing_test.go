package window

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/wal"
)

// filedSpec files records under their own hour and their service, in a few
// directories, and cuts objects when they have some row groups.
func filedSpec() encode.Spec {
	s := testSpec()
	s.RowGroupRows = 40
	s.ObjectBytes = 40_000
	s.Filing = &encode.Filing{
		EventTime: true, MaxSkew: (200 * time.Minute).Microseconds(), Align: partition.AlignHour, MaxPlaces: 6,
		By: []encode.Level{{ResourceAttribute: "service.name", As: "service"}},
	}
	return s
}

// place is the service and the age in hours of the record that spread makes
// of an id.
func place(id string) (service string, hours int) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return fmt.Sprintf("s/%d", h.Sum32()%4), int(h.Sum32() / 4 % 5)
}

// spread is record with records of several services and hours.
func spread(tenant string, ids ...string) wal.Record {
	ld := plog.NewLogs()
	for _, id := range ids {
		service, hours := place(id)
		rl := ld.ResourceLogs().AppendEmpty()
		rl.Resource().Attributes().PutStr("service.name", service)
		lr := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		lr.Body().SetStr(id)
		lr.SetTimestamp(pcommon.NewTimestampFromTime(time.Now().Add(-time.Duration(hours) * time.Hour)))
	}
	b, err := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	if err != nil {
		panic(err)
	}
	return wal.Record{Tenant: tenant, Signal: "logs", Items: len(ids), Payload: b}
}

func (p *process) spread(tenant string, ids ...string) {
	p.t.Helper()
	require.NoError(p.t, p.wal.Append(p.t.Context(), spread(tenant, ids...)))
}

// TestRecordsAreFiled has the records of a window in the directories of their
// hour and service, each once, and the manifest name all objects.
func TestRecordsAreFiled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		time.Sleep(90 * time.Minute) // into an hour with others before it
		w := newWorld(t)
		spec := filedSpec()
		spec.Filing.MaxPlaces = 100
		p := w.start(newDisk(), settings{maxAge: 10 * time.Second, spec: spec})
		start := time.Now()
		var want []string
		for i := range 5 {
			x := ids(fmt.Sprint("r", i), 60)
			p.spread("acme", x...)
			want = append(want, x...)
		}
		time.Sleep(time.Minute)
		p.quiet()
		windows := w.windows("acme")
		require.Len(t, windows, 1)
		assert.ElementsMatch(t, want, windows[0].bodies)
		m := windows[0].Manifest
		assert.Len(t, m.Objects, 16, "4 services in 4 hours; what is 4 hours old is filed under the window's")
		at := 0
		skewed := int64(0)
		for _, o := range m.Objects {
			for _, body := range windows[0].bodies[at : at+int(o.Records)] {
				service, hours := place(body)
				if hours > 3 {
					skewed++
					hours = 0
				}
				dir := partition.Place{Time: start.Add(-time.Duration(hours) * time.Hour).UnixMicro(), Align: partition.AlignHour,
					Levels: partition.Level("service", service)}
				assert.Contains(t, o.Key, "/"+dir.String()+"w-", body)
			}
			at += int(o.Records)
		}
		c := p.seen.windows()[0]
		assert.Equal(t, skewed, c.Skewed)
		assert.Equal(t, 16, c.Objects)
		assert.Zero(t, c.Refiled)
		p.shutdown()
	})
}

// TestManyPlacesAreBounded has the smallest directories filed together.
func TestManyPlacesAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(newDisk(), settings{maxAge: 10 * time.Second, spec: filedSpec()})
		p.spread("acme", ids("r", 300)...)
		time.Sleep(time.Minute)
		p.quiet()
		m := w.windows("acme")[0].Manifest
		dirs := map[string]bool{}
		for _, o := range m.Objects {
			dirs[path.Dir(o.Key)] = true
		}
		assert.LessOrEqual(t, len(dirs), 6+1)
		assert.Len(t, w.bodies("acme"), 300)
		assert.Positive(t, p.seen.windows()[0].Refiled)
		p.shutdown()
	})
}

// TestObjectsOfAWindowAreCut has objects of at most the size that is asked for,
// numbered, and in the order of the records.
func TestObjectsOfAWindowAreCut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		spec := testSpec()
		spec.RowGroupRows, spec.ObjectBytes = 10, 100_000
		p := w.start(newDisk(), settings{maxAge: 10 * time.Second, spec: spec})
		var want []string
		r := rand.New(rand.NewPCG(1, 1))
		for i := range 40 {
			x := noise(r, fmt.Sprintf("r%02d", i), 10, 2000)
			p.append("acme", x...)
			want = append(want, x...)
		}
		time.Sleep(time.Minute)
		p.quiet()
		windows := w.windows("acme")
		require.Len(t, windows, 1)
		assert.Equal(t, want, windows[0].bodies)
		require.Greater(t, len(windows[0].Objects), 3)
		for i, o := range windows[0].Objects {
			_, name, err := partition.ParseObjectKey(w.ref.Prefix, o.Key)
			require.NoError(t, err)
			assert.Equal(t, i+1, name.Part)
			assert.LessOrEqual(t, o.Bytes, int64(110_000))
		}
		p.shutdown()
	})
}

// TestObjectsOfAWindowThatFailAreTriedAgainAlone has an object refused for a
// while: the others are not uploaded again.
func TestObjectsOfAWindowThatFailAreTriedAgainAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(newDisk(), settings{maxAge: 2 * time.Second, spec: filedSpec()})
		var refused string
		w.bucket.Script(func(op laketest.Op) laketest.Fault {
			if op.Kind == laketest.PutIfAbsent && strings.Contains(op.Key, "/tenant=acme/") && !strings.Contains(op.Key, "_s3window") {
				if refused == "" {
					refused = op.Key
				}
				if refused == op.Key {
					return laketest.Fault{Before: errDown}
				}
			}
			return laketest.Fault{}
		})
		x := ids("r", 200)
		p.spread("acme", x...)
		time.Sleep(30 * time.Second)
		assert.Empty(t, w.bodies("acme"), "a window is committed whole or not at all")
		puts := map[string]int{}
		for _, op := range w.bucket.Ops() {
			if op.Kind == laketest.PutIfAbsent && !strings.Contains(op.Key, "_s3window") {
				puts[op.Key]++
			}
		}
		assert.Greater(t, puts[refused], 2)
		delete(puts, refused)
		for key, n := range puts {
			assert.Equal(t, 1, n, key)
		}
		w.bucket.Script(nil)
		time.Sleep(time.Minute)
		p.quiet()
		assert.ElementsMatch(t, x, w.bodies("acme"))
		p.shutdown()
	})
}

// TestObjectOfOtherRecordsUnderOneOfTheKeys has one of a window's objects there
// with records that are not its own, as another version of the program may
// leave it: the window is cut anew, nothing is lost or twice.
func TestObjectOfOtherRecordsUnderOneOfTheKeys(t *testing.T) {
	for _, more := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t)
			d := newDisk()
			p := w.start(d, settings{maxAge: 2 * time.Second, spec: filedSpec()})
			w.bucket.Script(func(op laketest.Op) laketest.Fault {
				if strings.Contains(op.Key, "/windows/") && op.Kind == laketest.PutIfAbsent {
					return laketest.Fault{Before: errDown}
				}
				return laketest.Fault{}
			})
			x := ids("r", 200)
			p.spread("acme", x...)
			time.Sleep(10 * time.Second)
			p.crash()
			w.bucket.Script(nil)
			keys := w.uncommitted("acme")
			require.Greater(t, len(keys), 5)
			replaceObject(t, w, keys[len(keys)/2], more)
			p = w.start(d, settings{maxAge: 2 * time.Second, spec: filedSpec()})
			time.Sleep(2 * time.Minute)
			p.quiet()
			assert.ElementsMatch(t, x, w.bodies("acme"))
			assert.Equal(t, []string{keys[len(keys)/2]}, slices.DeleteFunc(w.uncommitted("acme"),
				func(k string) bool { return k != keys[len(keys)/2] }), "an older writer's object is not swept")
			p.shutdown()
		})
	}
}

// replaceObject puts a well-formed object with other records under key.
func replaceObject(t *testing.T, w *world, key string, more bool) {
	t.Helper()
	n := 1
	if more {
		n = 500
	}
	e, err := encode.New(testSpec())
	require.NoError(t, err)
	staged, err := e.Stage([]encode.Entry{{Payload: payload(ids("other", n)...), ReceivedAt: 1}})
	require.NoError(t, err)
	o, err := e.Assemble(partition.ID{Sink: "default", Tenant: "acme", Signal: partition.Logs}, "aaaaaaaaaaaaa", []encode.Staged{staged})
	require.NoError(t, err)
	w.bucket.Remove(key)
	_, err = lake.New(w.bucket, w.ref).PutObject(t.Context(), key,
		lake.Body{Segments: o.Segments, Size: o.Size, SHA256: o.SHA256, ContentType: o.ContentType},
		lake.ObjectMeta{Records: o.Records, MinTime: o.MinTime, MaxTime: o.MaxTime, Encoder: o.Encoder})
	require.NoError(t, err)
}
