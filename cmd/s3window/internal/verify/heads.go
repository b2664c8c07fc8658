package verify

import (
	"context"
	"encoding/base64"
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

// ErrBadHead says that a lease store has a record which is none. That is damage.
var ErrBadHead = errors.New("is no record of a lease")

const maxHead = 16 << 20

// heads are those of each partition. One that is in the bucket may stand beside
// one of a lease store that was used before or after it.
type heads map[partition.ID][]head

// readHeads reads the heads that are in the bucket, and takes those that were
// exported from elsewhere.
func (v *verifier) readHeads(ctx context.Context) (heads, error) {
	out := heads{}
	for _, exported := range v.Heads {
		if id, ok := v.headOf(exported.Name); ok {
			out[id] = append(out[id], decodeHead(exported.Name, exported.Record))
		}
	}
	var mu sync.Mutex // guards out
	prefix := partition.LeasePrefix(v.prefix)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(2 * v.Workers)
	err := v.bucket.List(ctx, prefix, "", func(i lake.Info) error {
		g.Go(func() error {
			name, content, err := v.readHead(ctx, i.Key, strings.TrimPrefix(i.Key, prefix))
			v.progress.Heads.Add(1)
			if err != nil {
				return fmt.Errorf("read head %q: %w", i.Key, err)
			}
			id, ok := v.headOf(name)
			if !ok {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			out[id] = append(out[id], decodeHead(i.Key, content))
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
	return out, nil
}

// readHead reads the record that object holds, and its register's name: that is
// the object's, percent-encoded, or stands whole in the metadata where it is
// long. There is no name if the object is no register's or is gone.
func (v *verifier) readHead(ctx context.Context, key, object string) (name string, content []byte, err error) {
	var info lake.Info
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
		return "", nil, nil // released and removed meanwhile
	}
	if err != nil {
		return "", nil, err
	}
	if strings.Contains(object, "~") {
		whole, err := base64.RawURLEncoding.DecodeString(info.Metadata["lease-name"])
		if err != nil {
			return "", nil, nil
		}
		return string(whole), content, nil
	}
	if name, err = url.PathUnescape(strings.TrimSuffix(object, ".json")); err != nil {
		return "", nil, nil
	}
	return name, content, nil
}

// headOf says whose head a register is; false if it is not one of this lake. A
// prefix that the store puts in front of its keys may stand before the name.
func (v *verifier) headOf(name string) (partition.ID, bool) {
	level := strings.Split(name, "/")
	if len(level) < 5 {
		return partition.ID{}, false
	}
	level = level[len(level)-5:]
	if level[1] != "prefix="+partition.Escape(v.prefix) || !strings.HasPrefix(level[0], "bucket=") {
		return partition.ID{}, false
	}
	if v.HeadBucket != "" && level[0] != "bucket="+partition.Escape(v.HeadBucket) {
		return partition.ID{}, false
	}
	// A manifest's key has the same levels, and a parser.
	id, _, err := partition.ParseManifestKey("", partition.SystemPrefix("")+strings.Join(level[2:], "/")+"/windows/0000000001.json")
	return id, err == nil
}

// askStore adds the head that the lease store has of this commit log. It comes
// before the manifests: what it knows is then in those that are read later.
func (c *commitLog) askStore(ctx context.Context) error {
	if c.ReadHead == nil {
		return nil
	}
	name := partition.HeadName(c.HeadBucket, c.prefix, c.id)
	var record []byte
	err := c.try(ctx, func() (err error) {
		record, err = c.ReadHead(ctx, name)
		return err
	})
	if errors.Is(err, ErrBadHead) {
		c.heads = append(c.heads, head{where: name, bad: err.Error()})
		return nil
	}
	if err != nil {
		return fmt.Errorf("read head %q: %w", name, err)
	}
	if record != nil {
		c.heads = append(c.heads, decodeHead(name, record))
	}
	return nil
}
