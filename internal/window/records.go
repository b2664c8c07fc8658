package window

import (
	"encoding/json"
	"fmt"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

const recordVersion = 1

// seal is what is written to the WAL's storage before a window is uploaded:
// the window's bounds and everything that decides its keys and which row goes
// to which object. A window is finished as its seal says, whatever the
// configuration says by then. docs/format.md has the format.
type seal struct {
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

func (s seal) encode() ([]byte, error) { return json.Marshal(s) }

func decodeSeal(b []byte) (seal, error) {
	var s seal
	if err := json.Unmarshal(b, &s); err != nil {
		return seal{}, fmt.Errorf("decode seal: %w", err)
	}
	if s.Version != recordVersion {
		return seal{}, fmt.Errorf("decode seal: version %d is not %d: start the version of this program that wrote it", s.Version, recordVersion)
	}
	if s.Writer == "" || s.Start >= s.End || s.Lake.Bucket == "" {
		return seal{}, fmt.Errorf("decode seal: writer %q, window [%d,%d) in bucket %q is not a window", s.Writer, s.Start, s.End, s.Lake.Bucket)
	}
	return s, nil
}

// Origins says where a process files its windows: what the WAL keeps with the
// writer, so that a later process with another configuration reads the heads
// that know what of its entries is committed.
type Origins struct {
	Version int                 `json:"version"`
	Sink    string              `json:"sink"`
	Lake    lake.Ref            `json:"lake"`
	Tenants map[string]lake.Ref `json:"tenants,omitempty"` // those that are filed elsewhere
}

// Encode gives the bytes to keep with the writer.
func (o Origins) Encode() ([]byte, error) {
	o.Version = recordVersion
	return json.Marshal(o)
}

func decodeOrigins(b []byte) (Origins, error) {
	var o Origins
	if err := json.Unmarshal(b, &o); err != nil {
		return Origins{}, fmt.Errorf("decode writer: %w", err)
	}
	if o.Version != recordVersion {
		return Origins{}, fmt.Errorf("decode writer: version %d is not %d: start the version of this program that wrote it", o.Version, recordVersion)
	}
	return o, nil
}

func (o Origins) of(tenant string) origin {
	ref, ok := o.Tenants[tenant]
	if !ok {
		ref = o.Lake
	}
	return origin{o.Sink, ref}
}

// origin names the commit log of a partition together with tenant and signal.
type origin struct {
	sink string
	ref  lake.Ref
}
