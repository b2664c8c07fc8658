package syncer

import (
	"maps"
	"slices"
	"strings"

	"github.com/s3window/s3window/icebergsync/internal/progress"
	"github.com/s3window/s3window/icebergsync/internal/table"
)

// plan is the one change that a step makes.
type plan struct {
	columns   []table.Column // that the table lacks; then nothing else counts
	files     []table.File
	windows   int
	marks     map[string]string
	added     progress.Ranges
	skipped   map[string]string
	writeDown bool // marks are written although nothing is added
	more      bool // nothing is added, and there is more to read
}

// plan decides what becomes of the news, one log after the other. A log ends at
// its first window that the table cannot take; the others go on.
func (t *Table) plan(is table.State, found []news) plan {
	p := plan{marks: map[string]string{}, added: progress.Ranges{}, skipped: map[string]string{}}
	s := schemaOf(is.Columns)
	for _, n := range found {
		t.planLog(&p, s, n)
	}
	p.columns = s.added
	slices.SortFunc(p.files, func(a, b table.File) int { return strings.Compare(a.URI, b.URI) })
	return p
}

func (t *Table) planLog(p *plan, s *schema, n news) {
	mem := t.remember(n.log)
	to, files, taken := n.from, 0, 0
	to.skipped = slices.Clone(to.skipped)
	for _, w := range n.windows {
		if err := s.fit(w); err != nil {
			n.problem, n.more = &Problem{Log: n.log, K: w.manifest.K, Blocked: true, Why: err.Error()}, false
			break
		}
		taken++
		if w.skip && len(w.manifest.Objects) > 0 {
			t.skip(&to, n.log, w)
		}
		for i, c := range w.contents {
			p.files = append(p.files, fileOf(t.lake.Ref().Bucket, w, i, c))
			files++
		}
		if len(w.contents) > 0 {
			p.windows++
		}
		to.to = w.mark()
	}
	t.learn(mem, n, taken)
	if to.to == to.base {
		return
	}
	if files == 0 && to.to.K-to.base.K < loneSkips {
		mem.ahead = to // written down with the next file
		p.more = p.more || n.more
		return
	}
	p.writeDown = p.writeDown || files == 0
	p.marks[n.key] = to.to.String()
	p.added.Add(n.key, to.base.K+1, to.to.K)
	if len(to.skipped) > 0 {
		p.skipped[n.key] = compact(to.skipped)
	}
}

// skip notes a window that the table cannot hold, and tells of it once.
func (t *Table) skip(to *ahead, log Log, w window) {
	k := w.manifest.K
	to.skipped = append(to.skipped, k)
	if mem := t.remember(log); k > mem.told {
		mem.told = k
		if t.opts.Observer.Skipped != nil {
			t.opts.Observer.Skipped(log, k, w.manifest.Format)
		}
	}
}

// learn keeps what the news say of a log: whether it goes on, and what waits. A
// log of which nothing could be taken is left alone for a while.
func (t *Table) learn(mem *memory, n news, taken int) {
	mem.problem, mem.behind = n.problem, len(n.windows)
	if len(n.windows) > 0 {
		mem.oldest, mem.checked = n.windows[0].manifest.CommittedAt, t.opts.Now()
	}
	if n.problem != nil && mem.behind == 0 {
		mem.behind = 1
		if mem.oldest.IsZero() {
			mem.oldest = t.opts.Now()
		}
	}
	if taken > 0 {
		mem.wake()
	} else {
		mem.rest(t.opts)
	}
}

func fileOf(bucket string, w window, i int, c Contents) table.File {
	m := w.manifest
	return table.File{
		URI: "s3://" + bucket + "/" + m.Objects[i].Key, Bytes: c.Bytes, Records: c.Records,
		Tenant: m.Tenant, Start: m.Start, End: m.End, Stats: c.Stats,
	}
}

// change is the plan as one change of the table.
func (p plan) change(is table.State) (table.Change, error) {
	c := table.Change{Files: p.files, Properties: maps.Clone(p.marks)}
	if len(p.files) == 0 {
		return c, nil
	}
	properties, summary, err := progress.Advance(is)
	if err != nil {
		return c, err
	}
	maps.Copy(c.Properties, properties)
	summary[progress.SummaryWindows] = p.added.Encode()
	if len(p.skipped) > 0 {
		summary[progress.SummarySkipped] = progress.EncodeSkipped(p.skipped)
	}
	c.Summary = summary
	return c, nil
}

// expired returns the oldest snapshots beyond keep, a few at a time. What a
// branch or tag names stays, and the whole history of a branch other than main.
func expired(is table.State, keep int) []int64 {
	if len(is.Snapshots) < keep+max(1, keep/5) {
		return nil
	}
	stays := map[int64]bool{}
	for name, id := range is.Refs {
		stays[id] = true
		for name != table.MainBranch {
			s, ok := is.Snapshots[id]
			if !ok {
				break
			}
			stays[s.ID], id = true, s.Parent
		}
	}
	all := slices.SortedFunc(maps.Values(is.Snapshots), func(a, b table.Snapshot) int {
		return int(max(-1, min(1, a.Sequence-b.Sequence)))
	})
	var out []int64
	for _, s := range all[:len(all)-keep] {
		if !stays[s.ID] {
			out = append(out, s.ID)
		}
	}
	return out
}
