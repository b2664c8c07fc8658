package commit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
)

// judgedWindow is a committed window as the judge reads it. It shares no code
// with what wrote it.
type judgedWindow struct {
	K       uint64
	Writer  string
	After   int64
	Start   int64
	End     int64
	Records int64
	Epoch   uint64
	Objects []struct {
		Key     string
		Bytes   int64
		Records int64
		SHA256  string
	}
	Writers map[string][2]int64
	Prev    *struct {
		K      uint64
		Key    string
		SHA256 string
	}
	rows []string // the lines of its objects
}

// judgeLog reads a partition's commit log from the bucket alone and says what
// is wrong with it: numbers, chain, objects, overlaps, and the writers of the
// span newest windows that each manifest names.
func judgeLog(b *laketest.Memory, prefix string, id partition.ID, span int) (ws []judgedWindow, bad []string) {
	complain := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	sha := func(raw []byte) string { s := sha256.Sum256(raw); return hex.EncodeToString(s[:]) }
	dir := prefix + "/_s3window/" + id.String() + "/windows/"
	ends, last := map[string]int64{}, ""
	for i, key := range b.Keys(dir) {
		raw, _ := b.Content(key)
		var w judgedWindow
		if err := json.Unmarshal(raw, &w); err != nil {
			complain("manifest %s: %v", key, err)
			continue
		}
		if w.K != uint64(i+1) || key != fmt.Sprintf("%s%010d.json", dir, i+1) {
			complain("GAP: manifest %s says k %d at place %d", key, w.K, i+1)
		}
		switch {
		case i == 0 && w.Prev != nil, i > 0 && w.Prev == nil:
			complain("CHAIN: manifest %d: prev is %v", w.K, w.Prev)
		case i > 0 && (w.Prev.SHA256 != last || w.Prev.K != w.K-1 || !strings.HasSuffix(key, fmt.Sprintf("%010d.json", w.Prev.K+1))):
			complain("CHAIN: manifest %d does not name the bytes of the one before", w.K)
		}
		last = sha(raw)
		if w.Start < ends[w.Writer] || w.Start >= w.End {
			complain("OVERLAP: window %d [%d,%d) of %s, committed up to %d", w.K, w.Start, w.End, w.Writer, ends[w.Writer])
		}
		ends[w.Writer] = max(ends[w.Writer], w.End)
		for _, o := range w.Objects {
			content, ok := b.Content(o.Key)
			if !ok {
				complain("OBJECT: %s of window %d is missing", o.Key, w.K)
				continue
			}
			lines := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
			if sha(content) != o.SHA256 || int64(len(content)) != o.Bytes || int64(len(lines)) != o.Records {
				complain("OBJECT: %s is not what window %d says", o.Key, w.K)
			}
			w.rows = append(w.rows, lines...)
		}
		ws = append(ws, w)
		recent := map[string][2]int64{}
		for _, r := range ws[max(0, len(ws)-span):] {
			recent[r.Writer] = [2]int64{r.End, int64(r.K)}
		}
		if !maps.Equal(recent, w.Writers) {
			complain("WRITERS: window %d says %v, the log before it %v", w.K, w.Writers, recent)
		}
	}
	return ws, bad
}
