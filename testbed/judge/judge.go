package judge

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// Verdict is what the judge found.
type Verdict struct {
	Windows, Objects, Rows int64
	Acked                  int64 // acknowledged records of the journal
	Found                  int64 // of these, in exactly one row of their own tenant
	Unknown                int64 // records without an acknowledgement
	UnknownFound           int64 // of these, in one row
	Lost                   int64 // acknowledged records in no row
	Doubled                int64 // records in more than one row
	Problems               []string
	Suppressed             int // problems beyond the first hundred
}

const maxProblems = 100

func (v *Verdict) problem(format string, args ...any) {
	if len(v.Problems) == maxProblems {
		v.Suppressed++
		return
	}
	v.Problems = append(v.Problems, fmt.Sprintf(format, args...))
}

// Err is nil if the lake keeps its promise, else an error that names the
// problems.
func (v *Verdict) Err() error {
	if len(v.Problems) == 0 {
		return nil
	}
	text := strings.Join(v.Problems, "\n  ")
	if v.Suppressed > 0 {
		text += fmt.Sprintf("\n  and %d more", v.Suppressed)
	}
	return errors.New("the lake does not keep its promise:\n  " + text)
}

// String is the verdict in one sentence.
func (v *Verdict) String() string {
	return fmt.Sprintf("%d of %d acknowledged records are in exactly one of %d committed windows of their own tenant; lost %d, twice %d; of %d records without an answer %d arrived",
		v.Found, v.Acked, v.Windows, v.Lost, v.Doubled, v.Unknown, v.UnknownFound)
}

// Judge reads the lake below prefix in bucket and compares it with the
// journal. It returns an error if the bucket cannot be read; what is wrong
// with the lake is in the Verdict. A journal serves one judgement.
func Judge(bucket fs.FS, prefix string, j *Journal) (*Verdict, error) {
	v := &Verdict{}
	logs, err := commitLogs(bucket, prefix)
	if err != nil {
		return nil, err
	}
	for _, dir := range slices.Sorted(maps.Keys(logs)) {
		if err := v.partition(bucket, dir, logs[dir], j); err != nil {
			return nil, err
		}
	}
	v.compare(j)
	return v, nil
}

// partition checks one commit log and counts its rows.
func (v *Verdict) partition(bucket fs.FS, dir string, names []string, j *Journal) error {
	prev := ""
	for i, name := range names {
		k := uint64(i + 1)
		if want := fmt.Sprintf("%010d.json", k); name != want {
			v.problem("%s: %s stands where %s should: the commit log has a gap or a stranger", dir, name, want)
			return nil
		}
		m, sum, err := readManifest(bucket, dir+"/"+name)
		if err != nil {
			v.problem("%s/%s: %v", dir, name, err)
			return nil
		}
		v.chain(m, k, prev, dir+"/"+name)
		prev = sum
		v.Windows++
		if err := v.window(bucket, m, dir+"/"+name, j); err != nil {
			return err
		}
	}
	return nil
}

func (v *Verdict) chain(m manifest, k uint64, prev, key string) {
	if m.K != k {
		v.problem("%s: says it is k %d", key, m.K)
	}
	if k == 1 && m.Prev != nil || k > 1 && (m.Prev == nil || m.Prev.SHA256 != prev || m.Prev.K != k-1) {
		v.problem("%s: does not name the manifest before it by its hash", key)
	}
}

// window counts the rows of a manifest's objects.
func (v *Verdict) window(bucket fs.FS, m manifest, key string, j *Journal) error {
	var total int64
	for _, o := range m.Objects {
		v.Objects++
		data, err := fs.ReadFile(bucket, o.Key)
		if errors.Is(err, fs.ErrNotExist) {
			v.problem("%s: object %s does not exist", key, o.Key)
			continue
		}
		if err != nil {
			return fmt.Errorf("read object %q: %w", o.Key, err)
		}
		if int64(len(data)) != o.Bytes || hash(data) != o.SHA256 {
			v.problem("%s: object %s is not the one it names (%d bytes, named %d)", key, o.Key, len(data), o.Bytes)
			continue
		}
		rows, err := eachID(o.Key, data, func(id string) { v.row(id, m.Tenant, o.Key, j) })
		if err != nil {
			v.problem("object %s: %v", o.Key, err)
		}
		if rows != o.Records {
			v.problem("%s: object %s has %d rows, named %d", key, o.Key, rows, o.Records)
		}
		total += rows
	}
	if total != m.Records {
		v.problem("%s: holds %d rows, says %d", key, total, m.Records)
	}
	v.Rows += total
	return nil
}

// row counts one row with its record's id; "" if it has none.
func (v *Verdict) row(id, tenant, object string, j *Journal) {
	seen, owner, ok := j.find(id)
	if !ok {
		v.problem("object %s: a row with id %q was never sent", object, id)
		return
	}
	if owner != tenant {
		v.problem("object %s: record %q of tenant %q is in a window of tenant %q", object, id, owner, tenant)
	}
	if *seen < 255 {
		*seen++
	}
}

// compare judges the counts.
func (v *Verdict) compare(j *Journal) {
	for _, name := range slices.Sorted(maps.Keys(j.requests)) {
		r := j.requests[name]
		for _, tenant := range slices.Sorted(maps.Keys(r.seen)) {
			v.compareRequest(name, tenant, r.seen[tenant], r.acked)
		}
	}
}

func (v *Verdict) compareRequest(name, tenant string, seen []uint8, acked bool) {
	var none, once, more int64
	for _, n := range seen {
		switch n {
		case 0:
			none++
		case 1:
			once++
		default:
			more++
		}
	}
	v.Doubled += more
	if more > 0 {
		v.problem("request %s, tenant %q: %d records are there more than once", name, tenant, more)
	}
	if !acked {
		v.Unknown += int64(len(seen))
		v.UnknownFound += once
		if none > 0 && once+more > 0 {
			v.problem("request %s, tenant %q: %d of its %d records are there: it was taken in part", name, tenant, once+more, len(seen))
		}
		return
	}
	v.Acked += int64(len(seen))
	v.Found += once
	v.Lost += none
	if none > 0 {
		v.problem("request %s, tenant %q: %d of %d acknowledged records are nowhere", name, tenant, none, len(seen))
	}
}
