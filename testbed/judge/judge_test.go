package judge_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/s3window/s3window/testbed/judge"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const idKey = "s3window.test.id"

// bucketOf writes a lake by hand, so that a test can break it.
type bucketOf struct {
	fs   fstest.MapFS
	last map[string]string // tenant -> hash of its newest manifest
	k    map[string]int
}

func newBucket() *bucketOf {
	return &bucketOf{fs: fstest.MapFS{}, last: map[string]string{}, k: map[string]int{}}
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

func manifestKey(tenant string, k int) string {
	return fmt.Sprintf("otel/_s3window/sink=default/tenant=%s/signal=logs/windows/%010d.json", tenant, k)
}

// commit adds a window of tenant with the given ids.
func (b *bucketOf) commit(t *testing.T, tenant, ext string, ids ...string) {
	data := encode(t, ext, ids)
	k := b.k[tenant] + 1
	key := fmt.Sprintf("otel/tenant=%s/signal=logs/dt=2026-11-30/hour=08/w-%d.%s", tenant, k, ext)
	b.fs[key] = &fstest.MapFile{Data: data}
	m := map[string]any{
		"version": 2, "sink": "default", "tenant": tenant, "signal": "logs", "k": k, "records": len(ids), "bytes": len(data),
		"objects": []any{map[string]any{"key": key, "bytes": len(data), "records": len(ids), "sha256": sum(data)}},
	}
	if k > 1 {
		m["prev"] = map[string]any{"k": k - 1, "key": manifestKey(tenant, k-1), "sha256": b.last[tenant]}
	}
	text, err := json.Marshal(m)
	require.NoError(t, err)
	b.fs[manifestKey(tenant, k)] = &fstest.MapFile{Data: text}
	b.last[tenant], b.k[tenant] = sum(text), k
}

func encode(t *testing.T, ext string, ids []string) []byte {
	type row struct {
		Attributes map[string]string `parquet:"attributes" json:"attributes"`
	}
	rows := make([]row, len(ids))
	for i, id := range ids {
		rows[i] = row{map[string]string{"a": "b", idKey: id}}
		if id == "" {
			rows[i] = row{}
		}
	}
	var out bytes.Buffer
	if ext == "parquet" {
		w := parquet.NewGenericWriter[row](&out, parquet.MaxRowsPerRowGroup(3))
		_, err := w.Write(rows)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return out.Bytes()
	}
	w := gzip.NewWriter(&out)
	for _, r := range rows {
		require.NoError(t, json.NewEncoder(w).Encode(r))
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// ids names the first n records of a request for a tenant.
func ids(request, tenant string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%s/%s/%d", request, tenant, i))
	}
	return out
}

const journal = `{"request":"r1","state":"sent","records":{"acme":4,"globex":2}}
{"request":"r1","state":"acked"}
{"request":"r2","state":"sent","records":{"acme":3}}
{"request":"r2","state":"acked"}
{"request":"r3","state":"sent","records":{"acme":2}}
{"request":"r3","state":"unknown"}
{"request":"r4","state":"sent","records":{"acme":2}}
{"request":"r4","sta`

// good is a lake that keeps the journal's promise.
func good(t *testing.T) *bucketOf {
	b := newBucket()
	b.commit(t, "acme", "parquet", append(ids("r1", "acme", 4), ids("r3", "acme", 2)...)...)
	b.commit(t, "acme", "jsonl.gz", ids("r2", "acme", 3)...)
	b.commit(t, "globex", "parquet", ids("r1", "globex", 2)...)
	return b
}

func verdict(t *testing.T, b *bucketOf) *judge.Verdict {
	j, err := judge.ReadJournal(strings.NewReader(journal))
	require.NoError(t, err)
	v, err := judge.Judge(b.fs, "otel", j)
	require.NoError(t, err)
	return v
}

func TestGoodLake(t *testing.T) {
	v := verdict(t, good(t))
	require.NoError(t, v.Err())
	require.Equal(t, judge.Verdict{Windows: 3, Objects: 3, Rows: 11, Acked: 9, Found: 9, Unknown: 4, UnknownFound: 2}, *v)
}

func TestEmptyBucketHasLostEverything(t *testing.T) {
	v := verdict(t, newBucket())
	require.EqualValues(t, 9, v.Lost)
	require.Error(t, v.Err())
}

func TestDamageIsSeen(t *testing.T) {
	const first = "otel/tenant=acme/signal=logs/dt=2026-11-30/hour=08/w-1.parquet"
	edit := func(b *bucketOf, key, old, new string) {
		b.fs[key].Data = bytes.Replace(b.fs[key].Data, []byte(old), []byte(new), 1)
	}
	for name, c := range map[string]struct {
		damage func(t *testing.T, b *bucketOf)
		want   string
	}{
		"manifest gone":        {func(_ *testing.T, b *bucketOf) { delete(b.fs, manifestKey("acme", 1)) }, "gap or a stranger"},
		"newest manifest gone": {func(_ *testing.T, b *bucketOf) { delete(b.fs, manifestKey("acme", 2)) }, `request r2, tenant "acme": 3 of 3 acknowledged records are nowhere`},
		"manifest rewritten":   {func(_ *testing.T, b *bucketOf) { edit(b, manifestKey("acme", 1), `"signal"`, ` "signal"`) }, "does not name the manifest before it"},
		"manifest not JSON":    {func(_ *testing.T, b *bucketOf) { b.fs[manifestKey("acme", 2)].Data = []byte("{") }, "not a manifest"},
		"future version":       {func(_ *testing.T, b *bucketOf) { edit(b, manifestKey("acme", 2), `"version":2`, `"version":3`) }, "version 3 is not 2"},
		"wrong k":              {func(_ *testing.T, b *bucketOf) { edit(b, manifestKey("acme", 2), `"k":2`, `"k":7`) }, "says it is k 7"},
		"object gone":          {func(_ *testing.T, b *bucketOf) { delete(b.fs, first) }, "does not exist"},
		"object cut short":     {func(_ *testing.T, b *bucketOf) { b.fs[first].Data = b.fs[first].Data[:20] }, "is not the one it names"},
		"object changed":       {func(_ *testing.T, b *bucketOf) { b.fs[first].Data[30] ^= 1 }, "is not the one it names"},
		"wrong record count":   {func(_ *testing.T, b *bucketOf) { edit(b, manifestKey("acme", 2), `"records":3`, `"records":4`) }, "has 3 rows, named 4"},
		"record twice":         {func(t *testing.T, b *bucketOf) { b.commit(t, "acme", "parquet", ids("r2", "acme", 1)...) }, "1 records are there more than once"},
		"wrong tenant":         {func(t *testing.T, b *bucketOf) { b.commit(t, "globex", "parquet", ids("r4", "acme", 2)...) }, `of tenant "acme" is in a window of tenant "globex"`},
		"never sent":           {func(t *testing.T, b *bucketOf) { b.commit(t, "acme", "parquet", "r9/acme/0") }, `id "r9/acme/0" was never sent`},
		"number never sent":    {func(t *testing.T, b *bucketOf) { b.commit(t, "acme", "parquet", "r2/acme/3") }, `id "r2/acme/3" was never sent`},
		"no id":                {func(t *testing.T, b *bucketOf) { b.commit(t, "acme", "parquet", "") }, `id "" was never sent`},
		"request in part":      {func(t *testing.T, b *bucketOf) { b.commit(t, "acme", "parquet", "r4/acme/0") }, "it was taken in part"},
	} {
		t.Run(name, func(t *testing.T) {
			b := good(t)
			c.damage(t, b)
			require.ErrorContains(t, verdict(t, b).Err(), c.want)
		})
	}
}

func TestJournalRefusesWhatItCannotMean(t *testing.T) {
	for text, want := range map[string]string{
		"nonsense\n":                          "journal line 1",
		`{"request":"a","state":"acked"}`:     "never sent",
		`{"request":"r2","state":"sent"}`:     "sent twice",
		`{"request":"r2","state":"refused"}`:  "unknown state",
		`{"request":"r2","state":"acked"}x`:   "journal line",
		`{"request":"r2","records":"a lot"} `: "journal line",
	} {
		sent := `{"request":"r2","state":"sent","records":{"acme":3}}` + "\n"
		_, err := judge.ReadJournal(strings.NewReader(sent), strings.NewReader(text+"\n"))
		require.ErrorContains(t, err, want, text)
	}
}
