package commit

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/s3window/s3window/internal/partition"
)

// judge says what is wrong by reading the bucket, and the WALs for what is
// still owed.
func (w *world) judge() {
	ws, bad := judgeLog(w.bucket, testRef.Prefix, testID, 4)
	for _, b := range bad {
		w.complain("%s", b)
	}
	w.stats.Windows, w.stats.Records = len(ws), w.records
	seen, named := map[int]int{}, map[string]bool{}
	for _, v := range ws {
		for _, o := range v.Objects {
			named[o.Key] = true
		}
		for _, row := range v.rows {
			var record int
			var stamp int64
			if _, err := fmt.Sscanf(row, "%d %d", &record, &stamp); err != nil || stamp < v.Start || stamp >= v.End {
				w.complain("ROW: %q is in window %d [%d,%d)", row, v.K, v.Start, v.End)
			}
			seen[record]++
		}
	}
	owed, own := w.owed()
	for r := 1; r <= w.records; r++ {
		switch {
		case seen[r] > 1:
			w.complain("DOUBLED: record %d is in %d windows", r, seen[r])
		case seen[r] == 0 && !w.mayLose[r] && w.trimmed[r]:
			w.complain("TRIMMED: record %d is in no window", r)
		case seen[r] == 0 && !w.mayLose[r] && !owed[r]:
			w.complain("LOST: record %d", r)
		}
	}
	w.judgeOrphans(named, owed, own)
	for _, s := range w.stores {
		w.judgeHead(s, ws)
	}
}

// owed gives the records that are still in a WAL, and the writers of those
// that are in use.
func (w *world) owed() (owed map[int]bool, own map[string]bool) {
	owed, own = map[int]bool{}, map[string]bool{}
	for _, p := range w.procs {
		for _, e := range p.wal.entries {
			owed[e.record] = true
		}
		if p.gone {
			continue
		}
		for _, writer := range p.wal.writers {
			own[writer] = true
		}
		if n := len(p.wal.entries); n > 0 {
			w.complain("LIVENESS: P%d still owes %d records", p.n, n)
		}
	}
	return owed, own
}

// judgeOrphans looks for objects that doubled rows for readers that glob.
func (w *world) judgeOrphans(named map[string]bool, owed map[int]bool, own map[string]bool) {
	for _, key := range w.bucket.Keys(partition.DataPrefix(testRef.Prefix, testID)) {
		_, name, err := partition.ParseObjectKey(testRef.Prefix, key)
		if err != nil || named[key] || !own[name.Writer] {
			continue
		}
		content, _ := w.bucket.Content(key)
		needed := false
		for row := range strings.Lines(string(content)) {
			var record int
			_, _ = fmt.Sscanf(row, "%d", &record)
			needed = needed || owed[record] || w.mayLose[record]
		}
		if !needed {
			w.complain("ORPHAN: %s", key)
		}
	}
}

// judgeHead compares the head with the manifests up to its k. It may lag where
// the last committer died and nobody came after it.
func (w *world) judgeHead(store *register, ws []judgedWindow) {
	r, ok := store.records[headKey]
	if !ok {
		return
	}
	var s struct {
		K       uint64
		Writers map[string][3]int64
		Pruned  int64
	}
	err := json.Unmarshal(r.Value, &s)
	if err == nil && s.K > uint64(len(ws)) && w.bucketBack {
		return // nobody committed since
	}
	if err != nil || s.K > uint64(len(ws)) {
		w.complain("HEAD: k %d beside %d manifests (%v)", s.K, len(ws), err)
		return
	}
	ends := map[string]int64{}
	for _, v := range ws[:s.K] {
		ends[v.Writer] = v.End
	}
	for name, writer := range s.Writers {
		if ends[name] != writer[0] {
			w.complain("HEAD: writer %s up to %d, the manifests say %d", name, writer[0], ends[name])
		}
		delete(ends, name)
	}
	for name, end := range ends {
		if end > s.Pruned {
			w.complain("HEAD: writer %s is gone with end %d above pruned %d", name, end, s.Pruned)
		}
	}
}
