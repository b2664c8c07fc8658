package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"time"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

const (
	prefix = "otel"
	sink   = "default"
	writer = "q7m2q7m2q7m2q"
)

// chain is where a partition's commit log stands.
type chain struct {
	k     uint64
	after int64
	prev  *lake.Prev
}

// writeLake adds the windows of one signal to the lake in directory root.
func writeLake(ctx context.Context, root string, v variant, spec encode.Spec, e *encode.Encoder) error {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	bucket, err := lake.NewDir(root)
	if err != nil {
		return err
	}
	l := lake.New(bucket, lake.Ref{Bucket: "lake", Prefix: prefix})
	chains := map[partition.ID]*chain{}
	for _, w := range inputs(v.Levels) {
		if w.signal != spec.Signal {
			continue
		}
		id := partition.ID{Sink: sink, Tenant: w.tenant, Signal: w.signal}
		if chains[id] == nil {
			chains[id] = &chain{}
		}
		if err := writeWindow(ctx, l, id, w, spec, e, chains[id]); err != nil {
			return err
		}
	}
	return nil
}

func writeWindow(ctx context.Context, l *lake.Lake, id partition.ID, w window, spec encode.Spec, e *encode.Encoder, c *chain) error {
	var staged []encode.Staged
	for i, p := range w.requests {
		s, err := e.Stage([]encode.Entry{{Payload: p, ReceivedAt: w.received(i)}})
		if err != nil {
			return err
		}
		if len(s.Rejected) > 0 {
			return fmt.Errorf("entry %d of tenant %q is rejected: %w", i, w.tenant, s.Rejected[0].Err)
		}
		staged = append(staged, s)
	}
	o, err := e.Assemble(id, writer, staged)
	if err != nil {
		return err
	}
	name := partition.ObjectName{Start: w.received(0), End: w.received(len(w.requests)), Writer: writer, Ext: o.Ext}
	at := partition.Place{Time: name.Start, Align: partition.AlignHour}
	if w.level != nil {
		at.Levels = "service=" + *w.level
	}
	key := partition.PlacedKey(l.Prefix(), id, at, name)
	body := lake.NewBody(o.ContentType, o.Segments...)
	put, err := l.PutObject(ctx, key, body, lake.ObjectMeta{Records: o.Records, MinTime: o.MinTime, MaxTime: o.MaxTime, Encoder: o.Encoder})
	if err != nil {
		return err
	}
	return c.commit(ctx, l, id, lake.Manifest{
		Start: name.Start, End: name.End, Format: spec.Format, Compression: spec.Codec, Columns: promotedColumns(spec), Objects: []lake.Object{put},
		Records: put.Records, Bytes: put.Bytes, RawBytes: w.bytes(), MinTime: put.MinTime, MaxTime: put.MaxTime,
		CommittedAt: w.start.Add(time.Hour),
	})
}

func promotedColumns(s encode.Spec) (out []lake.Column) {
	for _, c := range s.Columns {
		out = append(out, lake.Column{Name: c.As, Type: c.Type})
	}
	return out
}

// commit puts m as the next manifest of partition id.
func (c *chain) commit(ctx context.Context, l *lake.Lake, id partition.ID, m lake.Manifest) error {
	m.Version, m.Sink, m.Tenant, m.Signal = lake.ManifestVersion, id.Sink, id.Tenant, id.Signal
	m.K, m.Writer, m.After, m.Reason = c.k+1, writer, c.after, "age"
	m.Schema, m.Epoch, m.Prev = encode.SchemaVersion(), uint64(m.Start), c.prev
	sha, err := l.PutManifest(ctx, id, m)
	if err != nil {
		return err
	}
	if b, err := hex.DecodeString(sha); err != nil || len(b) != 32 {
		return fmt.Errorf("manifest %d has no hash", m.K)
	}
	c.k, c.after = m.K, m.End
	c.prev = &lake.Prev{K: m.K, Key: partition.ManifestKey(l.Prefix(), id, m.K), SHA256: sha}
	return nil
}
