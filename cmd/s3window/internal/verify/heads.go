package verify

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// head is what a lease record in the bucket says of a commit log. It can be
// behind the manifests, never ahead of them: that is how a log that lost its
// newest manifests is told from one that never had them.
type head struct {
	Key    string `json:"-"`
	K      uint64 `json:"k"`
	SHA256 string `json:"manifest_sha256"`
}

const maxHead = 16 << 20

// readHeads reads the heads of the lake, by the partition that they are of.
// There are none where the leases are kept elsewhere.
func (v *verifier) readHeads(ctx context.Context) (map[partition.ID]head, error) {
	var mu sync.Mutex // guards heads
	heads := map[partition.ID]head{}
	prefix := partition.LeasePrefix(v.prefix)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(2 * v.Workers)
	err := v.bucket.List(ctx, prefix, "", func(i lake.Info) error {
		g.Go(func() error {
			id, h, ok, err := v.readHead(ctx, i.Key, strings.TrimPrefix(i.Key, prefix))
			if err != nil {
				return fmt.Errorf("read head %q: %w", i.Key, err)
			}
			mu.Lock()
			defer mu.Unlock()
			if ok && h.K >= heads[id].K {
				heads[id] = h
			}
			return nil
		})
		return nil
	})
	if waited := g.Wait(); waited != nil {
		return nil, waited
	}
	if err != nil {
		return nil, fmt.Errorf("list %q: %w", prefix, err)
	}
	return heads, nil
}

// readHead reads one record; false if it is not the head of a partition of
// this lake.
func (v *verifier) readHead(ctx context.Context, key, object string) (id partition.ID, h head, ok bool, err error) {
	var info lake.Info
	var content []byte
	err = v.try(ctx, func() error {
		r, opened, err := v.bucket.Open(ctx, key)
		if err != nil {
			return err
		}
		defer r.Close()
		info = opened
		content, err = io.ReadAll(io.LimitReader(r, maxHead))
		return err
	})
	if errors.Is(err, lake.ErrNotExist) {
		return id, h, false, nil // released and removed meanwhile
	}
	if err != nil {
		return id, h, false, err
	}
	id, ok = v.headOf(object, info.Metadata)
	if !ok || json.Unmarshal(content, &h) != nil {
		return id, h, false, nil
	}
	h.Key = key
	return id, h, true, nil
}

// headOf says whose head lies in the object: its name is the register's,
// percent-encoded, or cut where that is long and whole in the metadata.
func (v *verifier) headOf(object string, metadata map[string]string) (partition.ID, bool) {
	name, err := url.PathUnescape(strings.TrimSuffix(object, ".json"))
	if strings.Contains(object, "~") {
		var whole []byte
		whole, err = base64.RawURLEncoding.DecodeString(metadata["lease-name"])
		name = string(whole)
	}
	level := strings.Split(name, "/")
	if err != nil || len(level) != 5 || level[1] != "prefix="+partition.Escape(v.prefix) {
		return partition.ID{}, false
	}
	// A manifest's key has the same levels, and a parser.
	id, _, err := partition.ParseManifestKey("", partition.SystemPrefix("")+strings.Join(level[2:], "/")+"/windows/0000000001.json")
	return id, err == nil
}

// atHead compares the log, as far as it was read, with its head.
func (c *commitLog) atHead() {
	switch {
	case c.head.K == 0:
	case c.head.K > c.out.K:
		c.fail(found(CutOff, partition.ManifestKey(c.prefix, c.id, c.head.K),
			"does not exist, but the head %s says it was committed: the log ends at window %d and its newest windows are missing", c.head.Key, c.out.K))
	case c.atHeadSum != "" && c.head.SHA256 != "" && c.atHeadSum != c.head.SHA256:
		c.fail(found(BrokenChain, partition.ManifestKey(c.prefix, c.id, c.head.K),
			"has sha256 %.12s…, but the head %s says %.12s…: it was changed", c.atHeadSum, c.head.Key, c.head.SHA256))
	}
}
