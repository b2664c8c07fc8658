package window

import (
	"encoding/json"
	"fmt"

	"github.com/s3window/s3window/internal/lake"
)

const originsVersion = 1

// Origins says where a process files its windows: what the queue keeps with the
// writer, so that a later process with another configuration reads the heads
// that know what of its entries is committed. docs/format.md has the format.
type Origins struct {
	Version int                 `json:"version"`
	Sink    string              `json:"sink"`
	Lake    lake.Ref            `json:"lake"`
	Tenants map[string]lake.Ref `json:"tenants,omitempty"` // those that are filed elsewhere
}

// Encode returns the bytes to keep with the writer.
func (o Origins) Encode() ([]byte, error) {
	o.Version = originsVersion
	return json.Marshal(o)
}

func decodeOrigins(b []byte) (Origins, error) {
	var o Origins
	if err := json.Unmarshal(b, &o); err != nil {
		return Origins{}, fmt.Errorf("decode writer: %w", err)
	}
	if o.Version != originsVersion {
		return Origins{}, fmt.Errorf("decode writer: version %d is not %d: start the version of this program that wrote it", o.Version, originsVersion)
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

// earlier is a writer of an earlier process that left entries or seals.
type earlier struct {
	id      string
	origins Origins
}

// readEarlier returns the writers of earlier processes, oldest first. Of one
// whose origins were lost what the configuration says is the best guess.
func readEarlier(q Queue, sink string) ([]earlier, error) {
	var out []earlier
	for _, w := range q.Writers() {
		if w.ID == q.Writer() {
			continue
		}
		e := earlier{w.ID, Origins{Sink: sink}}
		if w.Info != nil {
			var err error
			if e.origins, err = decodeOrigins(w.Info); err != nil {
				return nil, fmt.Errorf("read writer %q of the queue: %w", w.ID, err)
			}
		}
		out = append(out, e)
	}
	return out, nil
}
