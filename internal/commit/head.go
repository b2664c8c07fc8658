package commit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// headVersion is the version of the state in a head. Version 1, which has none
// written down, is read.
const headVersion = 2

// head is a State as it stands in a lease record, flat beside version, epoch,
// write and lease.
type head struct {
	State          int                      `json:"state"`
	K              uint64                   `json:"k"`
	ManifestSHA256 string                   `json:"manifest_sha256"`
	Writers        map[string]writerInAHead `json:"writers"`
	Pruned         int64                    `json:"pruned"`
}

// writerInAHead is [end, k, at]; in version 1 it was an object, its at in
// microseconds.
type writerInAHead struct {
	end int64
	k   uint64
	at  uint32
}

func (w *writerInAHead) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte("{")) {
		var v1 struct {
			End int64
			K   uint64
			At  int64
		}
		err := json.Unmarshal(b, &v1)
		*w = writerInAHead{v1.End, v1.K, uint32(max(0, v1.At/1e6))}
		return err
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	if len(parts) != 3 {
		return fmt.Errorf("a writer of %d numbers in place of end, k and at", len(parts))
	}
	return errors.Join(json.Unmarshal(parts[0], &w.end), json.Unmarshal(parts[1], &w.k), json.Unmarshal(parts[2], &w.at))
}

// decodeState reads the state of a lease record. It refuses what encode never
// writes, because a fold that goes on from a wrong state is wrong.
func decodeState(raw []byte) (State, error) {
	var h head
	err := json.Unmarshal(raw, &h)
	if err == nil {
		err = h.check()
	}
	if err != nil {
		return State{}, fmt.Errorf("decode head: %w: remove its record to have it rebuilt from the bucket", err)
	}
	s := State{K: h.K, ManifestSHA256: h.ManifestSHA256, Pruned: h.Pruned, writers: make([]Writer, 0, len(h.Writers))}
	for _, name := range slices.Sorted(maps.Keys(h.Writers)) {
		w := h.Writers[name]
		s.writers = append(s.writers, Writer{End: w.end, K: w.k, At: w.at, name: [13]byte([]byte(name))})
	}
	return s, nil
}

func (h head) check() error {
	switch {
	case h.State > headVersion:
		return fmt.Errorf("version %d of the state is above %d: a newer release wrote it", h.State, headVersion)
	case h.Pruned < 0:
		return fmt.Errorf("pruned (%d) is negative", h.Pruned)
	case h.K == 0 && (h.ManifestSHA256 != "" || len(h.Writers) > 0 || h.Pruned != 0):
		return errors.New("k is 0, yet it names a manifest, a writer or a pruned end")
	case h.K == 0:
		return nil
	case len(h.ManifestSHA256) != 64 || strings.Trim(h.ManifestSHA256, "0123456789abcdef") != "":
		return fmt.Errorf("manifest_sha256 %q is not 64 lower-case hex digits", h.ManifestSHA256)
	}
	for name, w := range h.Writers {
		if len(name) != 13 || w.end <= 0 || w.k == 0 || w.k > h.K {
			return fmt.Errorf("writer %q: end %d in window %d of %d", name, w.end, w.k, h.K)
		}
	}
	return nil
}

// encode returns the state's canonical bytes: fields in the order of head,
// writers sorted by name.
func (s *State) encode() []byte {
	b := fmt.Appendf(make([]byte, 0, 128+57*len(s.writers)), `{"state":%d,"k":%d,"manifest_sha256":%q,"writers":{`,
		headVersion, s.K, s.ManifestSHA256)
	for i := range s.writers {
		w := &s.writers[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "%q:[%d,%d,%d]", w.name[:], w.End, w.K, w.At)
	}
	return fmt.Appendf(b, `},"pruned":%d}`, s.Pruned)
}
