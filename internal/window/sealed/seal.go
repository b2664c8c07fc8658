package sealed

import (
	"encoding/json"
	"fmt"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// SealVersion is the version of the seal's format.
const SealVersion = 1

// Seal is what is written to the queue's storage before a window is uploaded:
// the window's bounds and everything that decides its keys and which row goes
// to which object. A window is finished as its seal says, whatever the
// configuration says by then. docs/format.md has the format.
type Seal struct {
	Version int              `json:"version"`
	Sink    string           `json:"sink"`
	Tenant  string           `json:"tenant"`
	Signal  partition.Signal `json:"signal"`
	Writer  string           `json:"writer"`
	After   int64            `json:"after"`
	Start   int64            `json:"start"`
	End     int64            `json:"end"`
	Reason  flush.Reason     `json:"reason"`
	Lake    lake.Ref         `json:"lake"`
	Align   partition.Align  `json:"align"`
	Spec    encode.Spec      `json:"spec"`
}

// ID is the partition that the window belongs to.
func (s *Seal) ID() partition.ID {
	return partition.ID{Sink: s.Sink, Tenant: s.Tenant, Signal: s.Signal}
}

// Holds says whether an entry of writer with this stamp belongs to the window.
func (s *Seal) Holds(writer string, stamp int64) bool {
	return writer == s.Writer && s.Start <= stamp && stamp < s.End
}

// Overlaps says whether an entry may belong to both windows.
func (s *Seal) Overlaps(o *Seal) bool {
	return s.Writer == o.Writer && s.Start < o.End && o.Start < s.End
}

// Encode returns the bytes to store.
func (s *Seal) Encode() ([]byte, error) { return json.Marshal(s) }

// DecodeSeal reads what Encode wrote. It refuses another version.
func DecodeSeal(b []byte) (Seal, error) {
	var s Seal
	if err := json.Unmarshal(b, &s); err != nil {
		return Seal{}, fmt.Errorf("decode seal: %w", err)
	}
	if s.Version != SealVersion {
		return Seal{}, fmt.Errorf("decode seal: version %d is not %d: start the version of this program that wrote it", s.Version, SealVersion)
	}
	if s.Writer == "" || s.Start >= s.End || s.Lake.Bucket == "" {
		return Seal{}, fmt.Errorf("decode seal: writer %q, window [%d,%d) in bucket %q is not a window", s.Writer, s.Start, s.End, s.Lake.Bucket)
	}
	return s, nil
}
