package syncer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/apache/iceberg-go"

	"github.com/s3window/s3window/icebergsync/internal/table"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

var modelRef = lake.Ref{Bucket: "lake", Prefix: "otel"}

// modelLog is a commit log of the model's lake.
type modelLog struct {
	manifests []lake.Manifest
	shas      []string
	clash     uint64 // the first window whose columns clash with what the table may have; 0 = none
}

// modelLake is the lake of a world.
type modelLake struct{ w *world }

func (l modelLake) Ref() lake.Ref { return modelRef }

func (l modelLake) Manifest(_ context.Context, id partition.ID, k uint64) (lake.Manifest, string, error) {
	log := l.w.logs[id]
	if log == nil || k == 0 || k > uint64(len(log.manifests)) {
		return lake.Manifest{}, "", lake.ErrNotExist
	}
	return log.manifests[k-1], log.shas[k-1], nil
}

func (l modelLake) ManifestsAfter(ctx context.Context, id partition.ID, after uint64, n int, visit lake.Visit) error {
	for k := after + 1; n > 0; k, n = k+1, n-1 {
		m, sha, err := l.Manifest(ctx, id, k)
		if err != nil {
			return nil //nolint:nilerr // the end of the log
		}
		if err := visit(k, m, sha); err != nil {
			return err
		}
	}
	return nil
}

func (l modelLake) Contents(_ context.Context, o lake.Object) (Contents, error) {
	c := Contents{Bytes: o.Bytes, Records: o.Records, Columns: []table.Column{
		{Name: TenantColumn, Type: iceberg.PrimitiveTypes.String}, {Name: ReceivedColumn, Type: iceberg.PrimitiveTypes.TimestampTz},
	}}
	switch o.Encoder {
	case "new column":
		c.Columns = append(c.Columns, table.Column{Name: fmt.Sprintf("c%d", o.Records), Type: iceberg.PrimitiveTypes.String})
	case "clash":
		c.Columns[1].Type = iceberg.PrimitiveTypes.String
	}
	return c, nil
}

// commit adds a window to a log of the lake.
func (w *world) commit(log Log, rnd *rand.Rand) {
	l := w.logs[log]
	if l == nil {
		l = &modelLog{}
		w.logs[log] = l
	}
	k := uint64(len(l.manifests) + 1)
	m := lake.Manifest{
		Sink: log.Sink, Tenant: log.Tenant, Signal: log.Signal, K: k, Format: "parquet",
		Start: int64(k) * 1000, End: int64(k)*1000 + 500, CommittedAt: time.Unix(int64(k), 0),
	}
	objects := 1
	kind, columns := rnd.IntN(8), rnd.IntN(12)
	if k == 1 { // the table is made with its columns
		kind, columns = 7, 11
	}
	switch kind {
	case 0:
		m.Format = "jsonl"
	case 1:
		objects = 0 // all of its entries were lost
	case 2:
		objects = 3
	}
	encoder := "plain"
	switch columns {
	case 0:
		encoder = "new column"
	case 1:
		if rnd.IntN(4) == 0 && m.Format == "parquet" && objects > 0 {
			encoder = "clash"
			if l.clash == 0 {
				l.clash = k
			}
		}
	}
	for i := range objects {
		name := partition.ObjectName{Start: m.Start, End: m.End, Writer: "abcdefghijklm", Part: i + 1, Ext: "parquet"}
		key := partition.DataPrefix(modelRef.Prefix, log) + "dt=2026-01-01/hour=00/" + name.String()
		m.Objects = append(m.Objects, lake.Object{Key: key, Bytes: 100, Records: int64(rnd.IntN(4)) + 1, Encoder: encoder})
	}
	if k > 1 {
		m.Prev = &lake.Prev{K: k - 1, SHA256: l.shas[k-2]}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%v %v %d", log, m, rnd.Uint64()))
	l.manifests, l.shas = append(l.manifests, m), append(l.shas, hex.EncodeToString(sum[:]))
}
