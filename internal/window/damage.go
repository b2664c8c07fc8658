package window

import (
	"slices"
	"sync"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/wal"
)

// maxDamage is how many damaged entries of a partition are named one by one;
// the records of further ones are added to the last of them.
const maxDamage = 256

// Damage collects what the WAL found damaged, until a manifest of the partition
// names it as lost. It is safe for concurrent use. What is collected and not
// named when the process ends is in the WAL's set-aside only.
type Damage struct {
	mu    sync.Mutex // guards everything below
	found map[key][]lake.Lost
}

// Add takes note of damage. What does not say whose entry it was is counted by
// the WAL alone.
func (d *Damage) Add(x wal.Damage) {
	if x.Kind != "entry" || x.Tenant == "" || x.Writer == "" {
		return
	}
	d.put(key{x.Tenant, partition.Signal(x.Signal)}, lake.Lost{
		Writer: x.Writer, Stamp: x.Stamp, Seq: x.Seq, Records: int64(x.Items), Reason: x.Reason,
	})
}

func (d *Damage) put(k key, lost ...lake.Lost) {
	if len(lost) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.found == nil {
		d.found = map[key][]lake.Lost{}
	}
	for _, l := range lost {
		if slices.ContainsFunc(d.found[k], func(x lake.Lost) bool { return x.Writer == l.Writer && x.Seq == l.Seq }) {
			continue
		}
		if n := len(d.found[k]); n == maxDamage {
			last := &d.found[k][n-1]
			last.Records += l.Records
			last.Reason = "several entries: " + l.Reason
			continue
		}
		d.found[k] = append(d.found[k], l)
	}
}

// take gives what is to be named in the partition's next manifest.
func (d *Damage) take(k key) []lake.Lost {
	d.mu.Lock()
	defer d.mu.Unlock()
	lost := d.found[k]
	delete(d.found, k)
	return lost
}
