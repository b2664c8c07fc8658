package verify

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// Head is a register of a lease store, as exported.
type Head struct {
	Name   string          `json:"name"`   // of the register, with the store's own prefix or without
	Record json.RawMessage `json:"record"` // the record, or a string that holds it
}

// ReadHeads reads exported heads: JSON values, one after another.
func ReadHeads(r io.Reader) ([]Head, error) {
	d := json.NewDecoder(r)
	var out []Head
	for {
		var h Head
		err := d.Decode(&h)
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("read exported head %d: %w", len(out)+1, err)
		case h.Name == "" || len(h.Record) == 0:
			return nil, fmt.Errorf(`read exported head %d: it must be {"name": …, "record": …}`, len(out)+1)
		}
		var text string
		if json.Unmarshal(h.Record, &text) == nil {
			h.Record = json.RawMessage(text)
		}
		out = append(out, h)
	}
}

// head is what a lease record says of a commit log: the fold of its manifests
// 1..K, less the writers that were pruned. It can be behind the manifests, never
// ahead of them: that is how a log that lost its newest manifests is told from
// one that never had them.
type head struct {
	where string // its key in the bucket, or its name in the lease store
	bad   string // why nothing can be compared with it, or nothing
	told  bool   // bad was reported

	K       uint64               `json:"k"`
	SHA256  string               `json:"manifest_sha256"`
	Writers map[string]committed `json:"writers"`
	Pruned  int64                `json:"pruned"`
}

// committed is how far a writer is committed, and by which window.
type committed lake.Reach

// UnmarshalJSON reads [end, k, at], and the object that heads of version 1 have.
func (c *committed) UnmarshalJSON(b []byte) error {
	if strings.HasPrefix(string(b), "{") {
		return json.Unmarshal(b, (*struct {
			End int64
			K   uint64
		})(c))
	}
	var numbers []json.RawMessage
	err := json.Unmarshal(b, &numbers)
	if err == nil && len(numbers) != 3 {
		err = fmt.Errorf("%d numbers of a writer in place of end, k and at", len(numbers))
	}
	if err != nil {
		return err
	}
	return errors.Join(json.Unmarshal(numbers[0], &c.End), json.Unmarshal(numbers[1], &c.K))
}

func decodeHead(where string, record []byte) head {
	var h head
	switch err := json.Unmarshal(record, &h); {
	case err != nil:
		h.bad = "does not decode: " + err.Error()
	case h.K > 0 && (len(h.SHA256) != 64 || strings.Trim(h.SHA256, "0123456789abcdef") != ""):
		h.bad = fmt.Sprintf("says that window %d is committed and names no sha256 of its manifest", h.K)
	}
	h.where = where
	return h
}

// of says whether the head knows anything of its commit log.
func (h head) of() bool { return h.K > 0 || h.bad != "" }

// sumAtHead compares manifest k, whose bytes hash to sum, with the heads that
// name it.
func (c *commitLog) sumAtHead(k uint64, key, sum string) {
	for i := range c.heads {
		h := &c.heads[i]
		if h.K != k || h.bad != "" || h.SHA256 == sum {
			continue
		}
		c.fail(found(BrokenChain, key, "has sha256 %.12s…, but the head %s says %.12s…: it was changed", sum, h.where, h.SHA256).about(h.where))
		h.bad, h.told = "is of another log", true
	}
}

// endsAtHead compares what the manifests 1..k commit of each writer with the
// heads that are the fold of just these.
func (c *commitLog) endsAtHead(k uint64) {
	if c.holes {
		return
	}
	for _, h := range c.heads {
		if h.K == k && h.bad == "" {
			c.ends(h)
		}
	}
}

func (c *commitLog) ends(h head) {
	var highest int64
	for _, w := range slices.Sorted(maps.Keys(c.folded)) {
		is := c.folded[w]
		highest = max(highest, is.End)
		says, known := h.Writers[w]
		switch {
		case !known && is.End > h.Pruned:
			c.fail(found(WrongHead, h.where, "does not know writer %s, but the manifests 1 to %d commit it up to %d, and it was not pruned (pruned is %d): its records could be committed twice",
				w, h.K, is.End, h.Pruned).about(partition.ManifestKey(c.prefix, c.id, is.K)))
		case known && says != is:
			c.fail(found(WrongHead, h.where, "says writer %s is committed up to %d by window %d, but the manifests 1 to %d say up to %d by window %d",
				w, says.End, says.K, h.K, is.End, is.K).about(partition.ManifestKey(c.prefix, c.id, is.K)))
		}
	}
	for _, w := range slices.Sorted(maps.Keys(h.Writers)) {
		if _, ok := c.folded[w]; !ok {
			c.fail(found(WrongHead, h.where, "says writer %s is committed up to %d by window %d, but none of the manifests 1 to %d is of it: its records could be dropped",
				w, h.Writers[w].End, h.Writers[w].K, h.K))
		}
	}
	if h.Pruned > highest {
		c.fail(found(WrongHead, h.where, "says that writers up to %d were pruned, but the manifests 1 to %d end at %d", h.Pruned, h.K, highest))
	}
}

// behindHeads compares the log's end with its heads, once it was read.
func (c *commitLog) behindHeads() {
	for _, h := range c.heads {
		switch {
		case h.told:
		case h.bad != "":
			c.fail(found(WrongHead, h.where, "%s", h.bad))
		case h.K > c.out.K:
			c.fail(found(CutOff, partition.ManifestKey(c.prefix, c.id, h.K),
				"does not exist, but the head %s says it was committed: the log ends at window %d and its newest windows are missing",
				h.where, c.out.K).about(h.where))
		}
	}
}
