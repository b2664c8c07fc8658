package commit

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/internal/lake"
)

// netBucket is the bucket as one life of a process sees it.
type netBucket struct{ *life }

type opened struct {
	content []byte
	info    lake.Info
}

func isManifest(key string) bool { return strings.Contains(key, "/windows/") }

func (b netBucket) PutIfAbsent(ctx context.Context, key string, body lake.Body) error {
	_, err := call(ctx, b.life, "put", key, bucketLimit, func() (struct{}, error) {
		w := b.world
		if isManifest(key) && w.broken == "manifest without If-None-Match" ||
			!isManifest(key) && w.broken == "data without If-None-Match" {
			_ = w.bucket.Delete(context.Background(), key)
		}
		return struct{}{}, w.bucket.PutIfAbsent(context.Background(), key, body)
	})
	return err
}

func (b netBucket) Replace(ctx context.Context, key string, body lake.Body, etag string) error {
	_, err := call(ctx, b.life, "replace", key, bucketLimit, func() (struct{}, error) {
		return struct{}{}, b.world.bucket.Replace(context.Background(), key, body, etag)
	})
	return err
}

func (b netBucket) Open(ctx context.Context, key string) (io.ReadCloser, lake.Info, error) {
	if isManifest(key) && b.hidesManifests() {
		return nil, lake.Info{}, lake.ErrNotExist
	}
	o, err := call(ctx, b.life, "open", key, bucketLimit, func() (opened, error) {
		r, info, err := b.world.bucket.Open(context.Background(), key)
		if err != nil {
			return opened{}, err
		}
		content, err := io.ReadAll(r)
		return opened{content, info}, err
	})
	if err != nil {
		return nil, lake.Info{}, err
	}
	return io.NopCloser(bytes.NewReader(o.content)), o.info, nil
}

func (b netBucket) Stat(ctx context.Context, key string) (lake.Info, error) {
	return call(ctx, b.life, "stat", key, bucketLimit, func() (lake.Info, error) {
		return b.world.bucket.Stat(context.Background(), key)
	})
}

func (b netBucket) List(ctx context.Context, prefix, after string, visit func(lake.Info) error) error {
	if isManifest(prefix) && b.hidesManifests() {
		return nil
	}
	infos, err := call(ctx, b.life, "list", prefix, bucketLimit, func() (infos []lake.Info, err error) {
		err = b.world.bucket.List(context.Background(), prefix, after, func(i lake.Info) error {
			infos = append(infos, i)
			return nil
		})
		return infos, err
	})
	if err != nil {
		return err
	}
	for _, i := range infos {
		if err := visit(i); err != nil {
			return err
		}
	}
	return nil
}

func (b netBucket) Dirs(ctx context.Context, prefix string, visit func(string) error) error {
	dirs, err := call(ctx, b.life, "dirs", prefix, bucketLimit, func() (dirs []string, err error) {
		err = b.world.bucket.Dirs(context.Background(), prefix, func(dir string) error {
			dirs = append(dirs, dir)
			return nil
		})
		return dirs, err
	})
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if err := visit(dir); err != nil {
			return err
		}
	}
	return nil
}

func (b netBucket) Delete(ctx context.Context, key string) error {
	_, err := call(ctx, b.life, "delete", key, bucketLimit, func() (struct{}, error) {
		return struct{}{}, b.world.bucket.Delete(context.Background(), key)
	})
	return err
}

// hidesManifests is how rules that read manifests are broken.
func (x *life) hidesManifests() bool {
	x.world.mu.Lock()
	defer x.world.mu.Unlock()
	switch x.world.broken {
	case "no look":
		return !x.reading
	case "no rebuild and no look":
		return true
	}
	return false
}

// netKV is the lease store as one life of a process sees it.
type netKV struct{ *life }

func (s netKV) Get(ctx context.Context, key string) (lease.Record, error) {
	return call(ctx, s.life, "kv-get", key, kvLimit, func() (lease.Record, error) {
		w := s.world
		w.mu.Lock()
		defer w.mu.Unlock()
		r, ok := w.stores[s.turns].records[key]
		if !ok {
			return r, lease.ErrNotFound
		}
		return r, nil
	})
}

func (s netKV) Put(ctx context.Context, key string, value []byte, ifRevision string) (string, error) {
	return call(ctx, s.life, "kv-put", key, kvLimit, func() (string, error) {
		w := s.world
		w.mu.Lock()
		defer w.mu.Unlock()
		store := w.stores[s.turns]
		old := store.records[key]
		if old.Revision != ifRevision && !w.blindKV {
			return "", lease.ErrConflict
		}
		store.revision++
		r := lease.Record{Key: key, Value: w.breakHead(old.Value, value), Revision: strconv.Itoa(store.revision)}
		store.records[key] = r
		return r.Revision, nil
	})
}

func (s netKV) Delete(context.Context, string, string) error { panic("not used") }

func (s netKV) List(context.Context, string) ([]lease.Record, error) { panic("not used") }

// breakHead is how rules about the head are broken. It needs mu held.
func (w *world) breakHead(old, value []byte) []byte {
	type fields = map[string]json.RawMessage
	var was, is fields
	holder := func(f fields) string { return string(f["lease"]) }
	_ = json.Unmarshal(old, &was)
	_ = json.Unmarshal(value, &is)
	takeover := holder(was) != "" && holder(is) != "" && !bytes.Equal(was["epoch"], is["epoch"])
	if takeover {
		w.stats.Takeovers++
	}
	switch {
	case w.broken == "prune without pruned" && is["pruned"] != nil:
		is["pruned"] = json.RawMessage("0")
	case w.broken == "take-over replaces the state" && takeover && is["writers"] != nil:
		is["writers"] = json.RawMessage("{}")
	default:
		return value
	}
	raw, _ := json.Marshal(is)
	return raw
}
