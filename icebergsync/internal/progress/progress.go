// Package progress says which windows of which lake an Iceberg table holds. That
// stands in the table alone, in the same change as the files themselves, so that
// it cannot be lost or be ahead of them. The package is pure.
package progress

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/s3window/s3window/icebergsync/internal/table"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// The names of properties and of entries of a snapshot's summary.
const (
	// PropVersion marks a table that this module made, and says by which rules.
	PropVersion = "s3window.version"
	// PropCommit is the sequence number of the newest snapshot that added
	// windows. Each such snapshot has its own in its summary. The format never
	// gives out a sequence number twice, so a number means one snapshot for
	// ever, also after rollbacks.
	PropCommit = "s3window.commit"
	// SummaryAfter is, in a snapshot's summary, what PropCommit was before.
	SummaryAfter = "s3window.after"
	// SummaryWindows names the windows of a snapshot, by log.
	SummaryWindows = "s3window.windows"
	// SummarySkipped names windows that were passed over, by log.
	SummarySkipped = "s3window.skipped"

	keyPrefix = "s3window.k."
	topPrefix = "s3window.top."

	// Version is the version of these rules.
	Version = "1"
)

// hashDigits is how much of a manifest's SHA-256 stands in a property.
const hashDigits = 16

// Key names the property that holds the progress of one commit log. It tells any
// two logs of any two lakes apart.
func Key(ref lake.Ref, id partition.ID) string {
	return keyPrefix + strings.Join([]string{
		partition.Escape(ref.Bucket), partition.Escape(ref.Prefix), partition.Escape(id.Sink), partition.Escape(id.Tenant), string(id.Signal),
	}, "/")
}

// LogOf reverses Key for the logs of one lake; false for any other property.
func LogOf(ref lake.Ref, property string) (partition.ID, bool) {
	rest, ok := strings.CutPrefix(property, keyPrefix+partition.Escape(ref.Bucket)+"/"+partition.Escape(ref.Prefix)+"/")
	part := strings.Split(rest, "/")
	if !ok || len(part) != 3 {
		return partition.ID{}, false
	}
	sink, err1 := partition.Unescape(part[0])
	tenant, err2 := partition.Unescape(part[1])
	signal, err3 := partition.ParseSignal(part[2])
	return partition.ID{Sink: sink, Tenant: tenant, Signal: signal}, err1 == nil && err2 == nil && err3 == nil
}

// Mark is how far a log is in a table: up to manifest K, which has that hash.
// The zero Mark is before the first window.
type Mark struct {
	K    uint64
	Hash string // the first 16 hex digits of the manifest's SHA-256
}

// MarkOf returns the mark of a manifest with its SHA-256 in hex.
func MarkOf(k uint64, sha string) Mark { return Mark{K: k, Hash: sha[:min(len(sha), hashDigits)]} }

// Is says that a manifest with that SHA-256 is the mark's own.
func (m Mark) Is(sha string) bool { return strings.HasPrefix(sha, m.Hash) }

// String is the property's value.
func (m Mark) String() string { return fmt.Sprintf("%d %s", m.K, m.Hash) }

// Of returns how far a log is in the table. A value that no release wrote is an
// error.
func Of(s table.State, key string) (Mark, error) {
	v := s.Properties[key]
	if v == "" { // also of a log that begins again after a rollback
		return Mark{}, nil
	}
	return parse(key, v)
}

func parse(key, value string) (Mark, error) {
	num, hash, _ := strings.Cut(value, " ")
	k, err := strconv.ParseUint(num, 10, 64)
	m := Mark{K: k, Hash: hash}
	if err != nil || k == 0 || len(hash) != hashDigits || strings.Trim(hash, "0123456789abcdef") != "" || m.String() != value {
		return Mark{}, fmt.Errorf("property %q (%q) must be a window's number and %d hex digits: somebody else wrote it", key, value, hashDigits)
	}
	return m, nil
}

// TopKey names the property that keeps how far a log once was in the table, where
// its mark was set back to add windows again. key is the log's own property.
func TopKey(key string) string { return topPrefix + strings.TrimPrefix(key, keyPrefix) }

// Top returns a log's mark, and the furthest it ever was.
func Top(s table.State, key string) (mark, top Mark, err error) {
	if mark, err = Of(s, key); err != nil {
		return mark, top, err
	}
	if top, err = Of(s, TopKey(key)); err != nil || top.K < mark.K {
		top = mark
	}
	return mark, top, err
}

// Range is windows From to To of one log.
type Range struct{ From, To uint64 }

// Ranges are windows by log. The log's name is its property's without the
// beginning.
type Ranges map[string]Range

// Add notes windows of a log.
func (r Ranges) Add(key string, from, to uint64) {
	r[strings.TrimPrefix(key, keyPrefix)] = Range{from, to}
}

// Encode writes the ranges for a snapshot's summary.
func (r Ranges) Encode() string {
	text := make(map[string]string, len(r))
	for log, is := range r {
		text[log] = fmt.Sprintf("%d-%d", is.From, is.To)
	}
	b, _ := json.Marshal(text) // of strings: cannot fail
	return string(b)
}

// DecodeRanges reads what Encode wrote. The keys are properties' names.
func DecodeRanges(summary string) (map[string]Range, error) {
	var text map[string]string
	if err := json.Unmarshal([]byte(summary), &text); err != nil {
		return nil, fmt.Errorf("read %s: %w", SummaryWindows, err)
	}
	out := make(map[string]Range, len(text))
	for log, is := range text {
		from, to, ok := strings.Cut(is, "-")
		a, err1 := strconv.ParseUint(from, 10, 64)
		b, err2 := strconv.ParseUint(to, 10, 64)
		if !ok || err1 != nil || err2 != nil || a == 0 || a > b {
			return nil, fmt.Errorf("read %s: %q is no range of windows", SummaryWindows, is)
		}
		out[keyPrefix+log] = Range{a, b}
	}
	return out, nil
}

// Commit returns the sequence number of the newest snapshot that added windows, as
// the property has it; 0 where there is none.
func Commit(s table.State) (int64, error) {
	v, ok := s.Properties[PropCommit]
	if !ok {
		return 0, nil
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("property %q (%q) must be a sequence number: somebody else wrote it", PropCommit, v)
	}
	return n, nil
}

// Advance returns the properties and the summary of a change that adds windows,
// apart from the windows themselves.
func Advance(s table.State) (properties, summary map[string]string, err error) {
	n, err := Commit(s)
	if err != nil {
		return nil, nil, err
	}
	next := strconv.FormatInt(s.Sequence+1, 10)
	return map[string]string{PropCommit: next}, map[string]string{PropCommit: next, SummaryAfter: strconv.FormatInt(n, 10)}, nil
}

// EncodeSkipped writes which windows of each log were passed over, for a
// snapshot's summary. The keys are properties' names.
func EncodeSkipped(windows map[string]string) string {
	text := make(map[string]string, len(windows))
	for key, is := range windows {
		text[strings.TrimPrefix(key, keyPrefix)] = is
	}
	b, _ := json.Marshal(text) // of strings: cannot fail
	return string(b)
}
