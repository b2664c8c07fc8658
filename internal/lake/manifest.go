package lake

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/s3window/s3window/internal/partition"
)

// ManifestVersion is the version of the manifests that are written. Those of
// version 1, which have no Writers and no Columns, are read.
const ManifestVersion = 2

// Span is how many windows back the Writers of a manifest reach, its own
// counted. Who knows the commit log up to one manifest knows it up to any other
// that is at most Span further on, from that one alone.
const Span = 64

// Manifest says what one committed window holds: entry K of its partition's
// commit log. The order of the fields is the order in the file. Stamps and
// times are microseconds since the epoch.
type Manifest struct {
	Version     int              `json:"version"`
	Sink        string           `json:"sink"`
	Tenant      string           `json:"tenant"`
	Signal      partition.Signal `json:"signal"`
	K           uint64           `json:"k"`
	Writer      string           `json:"writer"`
	After       int64            `json:"after"` // end of the writer's window before this one
	Start       int64            `json:"start"`
	End         int64            `json:"end"`
	Reason      string           `json:"reason"`
	Format      string           `json:"format"`
	Compression string           `json:"compression"`
	Schema      int              `json:"schema"`
	Columns     []Column         `json:"columns,omitzero"` // that are promoted, in order; nil in version 1
	Objects     []Object         `json:"objects"`
	Records     int64            `json:"records"`
	Bytes       int64            `json:"bytes"`
	RawBytes    int64            `json:"raw_bytes"`
	MinTime     int64            `json:"min_time"`
	MaxTime     int64            `json:"max_time"`
	Lost        []Lost           `json:"lost"`
	Epoch       uint64           `json:"epoch"`             // of the lease it was put under; 0 = none was held
	Writers     map[string]Reach `json:"writers,omitempty"` // of windows K-Span+1 to K; nil in version 1
	Prev        *Prev            `json:"prev"`              // null in the first manifest only
	CommittedAt time.Time        `json:"committed_at"`
}

// Reach says how far a writer is committed: up to the stamp End, by its newest
// window K. In JSON it is the array [End, K].
type Reach struct {
	End int64
	K   uint64
}

// MarshalJSON implements json.Marshaler.
func (r Reach) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "[%d,%d]", r.End, r.K), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (r *Reach) UnmarshalJSON(b []byte) error {
	var pair []json.Number
	if err := json.Unmarshal(b, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("%d numbers in place of an end and a k", len(pair))
	}
	var err error
	if r.End, err = pair[0].Int64(); err != nil {
		return err
	}
	r.K, err = strconv.ParseUint(pair[1].String(), 10, 64)
	return err
}

// Column is a promoted column of the objects.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"` // string, int64, double, bool
}

// Object is one data file as it lies in the bucket.
type Object struct {
	Key     string `json:"key"`
	Bytes   int64  `json:"bytes"`
	Records int64  `json:"records"`
	SHA256  string `json:"sha256"` // 64 lower-case hex digits
	Encoder string `json:"encoder"`
	MinTime int64  `json:"min_time"`
	MaxTime int64  `json:"max_time"`
}

// Prev names the manifest before, so that the commit log can be checked from
// its newest entry back.
type Prev struct {
	K      uint64 `json:"k"`
	Key    string `json:"key"`
	SHA256 string `json:"sha256"` // of the manifest's bytes
}

// Lost names an entry of the WAL that is in no window because it could not be
// read or decoded, or records of one. Those of one entry have one Seq and keys
// of their own.
type Lost struct {
	Writer  string `json:"writer"`
	Stamp   int64  `json:"stamp"` // 0 = unknown
	Seq     uint64 `json:"seq"`
	Records int64  `json:"records"` // 0 = unknown
	Reason  string `json:"reason"`
	Key     string `json:"key,omitempty"` // where its raw bytes are kept in the bucket
}

// ID returns the partition that the manifest belongs to.
func (m Manifest) ID() partition.ID {
	return partition.ID{Sink: m.Sink, Tenant: m.Tenant, Signal: m.Signal}
}
