package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Kind names what is wrong in one word per rule.
type Kind string

// The kinds of damage.
const (
	Gap            Kind = "gap"             // a number of a commit log is missing
	BadManifest    Kind = "manifest"        // a manifest does not decode
	CutOff         Kind = "cut-off"         // a head knows windows that the log does not have
	WrongHead      Kind = "head"            // what a head says of its writers does not follow from the manifests
	Misplaced      Kind = "misplaced"       // a manifest says it is another one than its key says
	BrokenChain    Kind = "chain"           // prev is not the manifest before
	OutOfOrder     Kind = "order"           // after is not the end of the writer's window before
	WrongWriters   Kind = "writers"         // what a manifest says of the writers before it does not follow from the log
	Overlap        Kind = "overlap"         // two windows of a writer share stamps
	BadTimes       Kind = "times"           // the record times of a window are not those of its objects
	ForeignKey     Kind = "object-key"      // an object's key is not of the window that names it
	NamedTwice     Kind = "object-twice"    // two windows name one object
	ObjectMissing  Kind = "object-missing"  // a named object does not exist
	WrongSize      Kind = "object-size"     // it has another size
	WrongHash      Kind = "object-hash"     // it has other bytes
	WrongRows      Kind = "object-rows"     // it has another number of rows
	Unreadable     Kind = "object-format"   // it is not a file of its kind
	ForeignContent Kind = "object-identity" // its footer says another tenant, signal or writer
	OutOfBounds    Kind = "object-bounds"   // it holds records received outside its window
)

// The kinds of what is reported and no damage.
const (
	Uncommitted Kind = "uncommitted" // an object that no manifest names
	Leftover    Kind = "leftover"    // an orphan: an object that no manifest names, of a writer that has committed past it
	Duplicate   Kind = "duplicate"   // records that are in the lake more than once; looked for on request
	Stray       Kind = "stray"       // a key that is nothing of a lake's
	Lost        Kind = "lost"        // an entry that a manifest reports as lost
)

// ofLog says whether k is damage of a commit log rather than of an object.
func (k Kind) ofLog() bool {
	return slices.Contains([]Kind{Gap, BadManifest, CutOff, Misplaced, BrokenChain, OutOfOrder, WrongWriters, Overlap}, k)
}

// Finding is one thing that verify has to say.
type Finding struct {
	Kind Kind   `json:"kind"`
	Key  string `json:"key"`  // of the manifest or object that it is about
	Text string `json:"text"` // a sentence about it
	// Also is another key that it is about: the manifest that names an object,
	// the one beside a manifest, the head that knows better.
	Also string `json:"also,omitempty"`

	reaches bool // of an orphan: beyond its writer's end
}

func (f Finding) about(also string) Finding {
	f.Also = also
	return f
}

func (f Finding) String() string { return f.Key + ": " + f.Text }

// Partition is the outcome for one commit log.
type Partition struct {
	Sink    string `json:"sink"`
	Tenant  string `json:"tenant"`
	Signal  string `json:"signal"`
	Windows int64  `json:"windows"`
	K       uint64 `json:"k"` // newest
	Objects int64  `json:"objects"`
	Records int64  `json:"records"`
	Bytes   int64  `json:"bytes"`
	Writers int    `json:"writers"`
	Damage  int    `json:"damage"` // findings, with those that Report leaves out
}

// Report is the outcome for a lake.
type Report struct {
	Lake       string      `json:"lake"`
	Sound      bool        `json:"sound"`
	Content    bool        `json:"content"` // objects were read; else their sizes alone were compared
	Partitions []Partition `json:"partitions"`
	Windows    int64       `json:"windows"`
	Objects    int64       `json:"objects"`
	Records    int64       `json:"records"`
	Bytes      int64       `json:"bytes"`
	Damage     []Finding   `json:"damage"`
	Notes      []Finding   `json:"notes"`
	Duplicates *Duplicates `json:"duplicates,omitempty"` // nil if nobody looked for them
	Plan       []Repair    `json:"plan,omitempty"`       // only where it was asked for
	Omitted    int         `json:"omitted"`              // findings and notes beyond the first maxFindings of each
}

const maxFindings = 1000

func (r *Report) add(p *partitionReport) {
	for _, log := range p.logs {
		r.Partitions = append(r.Partitions, *log)
		r.Windows += log.Windows
		r.Objects += log.Objects
		r.Records += log.Records
		r.Bytes += log.Bytes
	}
	if r.Duplicates != nil {
		r.Duplicates.Records += p.duplicates.Records
		r.Duplicates.Duplicated += p.duplicates.Duplicated
		r.Duplicates.Unread += p.duplicates.Unread
	}
	r.Damage = r.limited(r.Damage, p.damage)
	r.Notes = r.limited(r.Notes, p.notes)
}

func (r *Report) limited(have, more []Finding) []Finding {
	room := min(max(maxFindings-len(have), 0), len(more))
	r.Omitted += len(more) - room
	return append(have, more[:room]...)
}

// finish sorts the report, so that equal lakes give equal reports.
func (r *Report) finish() {
	r.Sound = len(r.Damage) == 0
	slices.SortFunc(r.Partitions, func(a, b Partition) int {
		return cmp.Or(strings.Compare(a.Sink, b.Sink), strings.Compare(a.Tenant, b.Tenant), strings.Compare(a.Signal, b.Signal))
	})
	slices.SortFunc(r.Damage, byKey)
	slices.SortFunc(r.Notes, byKey)
	// A stray key can be met by two listings.
	r.Notes = slices.CompactFunc(r.Notes, func(a, b Finding) bool { return a.Kind == Stray && a.Kind == b.Kind && a.Key == b.Key })
}

func byKey(a, b Finding) int {
	return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Text, b.Text))
}

// Count returns how many notes are of a kind.
func (r *Report) Count(kind Kind) int {
	n := 0
	for _, f := range r.Notes {
		if f.Kind == kind {
			n++
		}
	}
	return n
}

func found(kind Kind, key, format string, args ...any) Finding {
	return Finding{Kind: kind, Key: key, Text: fmt.Sprintf(format, args...)}
}
