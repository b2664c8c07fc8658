package verify_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
)

const (
	prefix  = "otel"
	writerA = "aaaaaaaaaaaaa"
	writerB = "bbbbbbbbbbbbb"
)

// at is a stamp n seconds into an hour.
func at(n int64) int64 {
	return time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC).UnixMicro() + n*1e6
}

var (
	acme   = partition.ID{Sink: "default", Tenant: "acme", Signal: partition.Logs}
	globex = partition.ID{Sink: "default", Tenant: "globex", Signal: partition.Logs}
)

// testLake writes a lake by the documented format.
type testLake struct {
	*laketest.Memory
	t *testing.T
}

// win describes a window to commit. The zero fields are filled in.
type win struct {
	id                partition.ID
	k                 uint64
	writer            string
	after, start, end int64 // seconds of at
	rows              int64
	ext               string
	edit              func(*lake.Manifest)  // just before it is written
	footer            map[string]string     // instead of what is true
	received          func(row int64) int64 // instead of stamps within the window
	data              []byte                // the object, where it is given
}

func (l *testLake) commit(w win) {
	if w.ext == "" {
		w.ext = "parquet"
	}
	data := w.data
	if data == nil {
		data = l.encode(w)
	}
	name := partition.ObjectName{Start: at(w.start), End: at(w.end), Writer: w.writer, Ext: w.ext}
	o := lake.Object{
		Key: laketest.ObjectKey(prefix, w.id, name), Bytes: int64(len(data)), Records: w.rows,
		SHA256: sum(data), Encoder: "test", MinTime: at(w.start), MaxTime: at(w.start + w.rows - 1),
	}
	l.Set(o.Key, data)
	m := lake.Manifest{
		Sink: w.id.Sink, Tenant: w.id.Tenant, Signal: w.id.Signal, K: w.k, Writer: w.writer,
		After: at(w.after), Start: at(w.start), End: at(w.end), Reason: "age", Format: "parquet", Compression: "zstd", Schema: 1,
		Objects: []lake.Object{o}, Records: o.Records, Bytes: o.Bytes, RawBytes: 100, MinTime: o.MinTime, MaxTime: o.MaxTime,
		Epoch: 1, CommittedAt: time.Now(),
	}
	if w.after == 0 {
		m.After = 0
	}
	if w.k > 1 {
		m.Prev = l.prev(w.id, w.k-1)
	}
	m.Version, m.Writers = lake.ManifestVersion, map[string]lake.Reach{w.writer: {End: m.End, K: w.k}}
	for k := w.k - 1; k > 0; k-- {
		if content, ok := l.Content(partition.ManifestKey(prefix, w.id, k)); ok {
			before, err := lake.DecodeManifest(content)
			require.NoError(l.t, err)
			if _, newer := m.Writers[before.Writer]; !newer {
				m.Writers[before.Writer] = lake.Reach{End: before.End, K: k}
			}
		}
	}
	if w.edit != nil {
		w.edit(&m)
	}
	l.manifest(partition.ManifestKey(prefix, w.id, w.k), m)
}

func (l *testLake) prev(id partition.ID, k uint64) *lake.Prev {
	key := partition.ManifestKey(prefix, id, k)
	content, ok := l.Content(key)
	require.True(l.t, ok, key)
	return &lake.Prev{K: k, Key: key, SHA256: sum(content)}
}

func (l *testLake) manifest(key string, m lake.Manifest) {
	content, err := m.Encode()
	require.NoError(l.t, err)
	l.Set(key, content)
}

// encode makes an object with w.rows rows.
func (l *testLake) encode(w win) []byte {
	var out bytes.Buffer
	if w.ext == "jsonl" {
		for i := range w.rows {
			fmt.Fprintf(&out, "{\"body\":\"line %d\"}\n", i)
		}
		return out.Bytes()
	}
	type row struct {
		ReceivedAt int64  `parquet:"received_at"`
		Body       string `parquet:"body"`
	}
	footer := map[string]string{"s3window.tenant": w.id.Tenant, "s3window.signal": string(w.id.Signal), "s3window.writer": w.writer}
	for k, v := range w.footer {
		footer[k] = v
	}
	options := []parquet.WriterOption{parquet.MaxRowsPerRowGroup(3), parquet.DataPageStatistics(true)}
	for k, v := range footer {
		options = append(options, parquet.KeyValueMetadata(k, v))
	}
	p := parquet.NewGenericWriter[row](&out, options...)
	for i := range w.rows {
		r := row{ReceivedAt: at(w.start) + i, Body: fmt.Sprint("line ", i)}
		if w.received != nil {
			r.ReceivedAt = w.received(i)
		}
		_, err := p.Write([]row{r})
		require.NoError(l.t, err)
	}
	require.NoError(l.t, p.Close())
	return out.Bytes()
}

// edit rewrites manifest k of acme and the chain behind it.
func (l *testLake) edit(k uint64, f func(*lake.Manifest)) {
	var edited lake.Manifest
	for first := k; ; k++ {
		key := partition.ManifestKey(prefix, acme, k)
		content, ok := l.Content(key)
		if !ok {
			return
		}
		m, err := lake.DecodeManifest(content)
		require.NoError(l.t, err)
		if k == first {
			f(&m)
			edited = m
		} else {
			if r := m.Writers[edited.Writer]; r.K == first {
				m.Writers[edited.Writer] = lake.Reach{End: edited.End, K: first}
			}
			m.Prev = l.prev(acme, k-1)
		}
		l.manifest(key, m)
	}
}

// head writes acme's head as it is after window k.
func (l *testLake) head(id partition.ID, k uint64) {
	l.setHead(id, l.headRecord(id, k))
}

func (l *testLake) setHead(id partition.ID, record string) { l.Set(headKey(id), []byte(record)) }

func headKey(id partition.ID) string {
	return "otel/_s3window/leases/" + url.QueryEscape(partition.HeadName("b", prefix, id)) + ".json"
}

// headRecord is the record of a head that is the fold of the manifests 1..k.
func (l *testLake) headRecord(id partition.ID, k uint64) string {
	type end struct {
		End int64  `json:"end"`
		K   uint64 `json:"k"`
	}
	writers := map[string]end{}
	for n := uint64(1); n <= k; n++ {
		content, _ := l.Content(partition.ManifestKey(prefix, id, n))
		m, err := lake.DecodeManifest(content)
		require.NoError(l.t, err)
		writers[m.Writer] = end{m.End, n}
	}
	text, err := json.Marshal(writers)
	require.NoError(l.t, err)
	return fmt.Sprintf(`{"version":1,"epoch":7,"write":"x","k":%d,"manifest_sha256":%q,"writers":%s,"pruned":0}`, k, l.prev(id, k).SHA256, text)
}

// object returns the key of the object of acme's window k.
func (l *testLake) object(k uint64) string {
	content, ok := l.Content(partition.ManifestKey(prefix, acme, k))
	require.True(l.t, ok)
	m, err := lake.DecodeManifest(content)
	require.NoError(l.t, err)
	return m.Objects[0].Key
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// goodLake has two partitions; acme's log is of two writers in turns.
func goodLake(t *testing.T) *testLake {
	l := &testLake{Memory: laketest.NewMemory(), t: t}
	l.commit(win{id: acme, k: 1, writer: writerA, start: 10, end: 20, rows: 5})
	l.commit(win{id: acme, k: 2, writer: writerB, start: 5, end: 30, rows: 7})
	l.commit(win{id: acme, k: 3, writer: writerA, after: 20, start: 25, end: 40, rows: 4})
	l.commit(win{id: acme, k: 4, writer: writerB, after: 30, start: 30, end: 31, rows: 2, ext: "jsonl"})
	l.commit(win{id: globex, k: 1, writer: writerA, start: 11, end: 21, rows: 3})
	l.head(acme, 3)
	l.head(globex, 1)
	l.Set("otel/_s3window/leases/"+url.QueryEscape("bucket=b/prefix=other/sink=default/tenant=globex/signal=logs")+".json", []byte(`{"k":9}`))
	l.Set("otel/_s3window/leases/whatever", []byte("{}"))
	l.Set("otel/_s3window/quarantine/whatever", []byte("x"))
	return l
}
