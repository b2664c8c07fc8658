package window

import (
	"bytes"
	"context"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

type row struct {
	Body string `parquet:"body"`
}

// window is a committed window as the bucket has it.
type committedWindow struct {
	lake.Manifest
	bodies []string
}

// lake reads the committed windows of a tenant from the bucket alone, and
// checks that they form 1..k.
func (w *world) windows(tenant string) []committedWindow {
	w.t.Helper()
	l := lake.New(w.bucket, w.ref)
	var out []committedWindow
	id := partition.ID{Sink: "default", Tenant: tenant, Signal: partition.Logs}
	ends := map[string]int64{}
	err := l.Manifests(context.Background(), id, func(k uint64, m lake.Manifest, _ string) error {
		require.EqualValues(w.t, len(out)+1, k, "k has no gap")
		require.Equal(w.t, ends[m.Writer], m.After, "windows of one writer follow each other")
		ends[m.Writer] = m.End
		cw := committedWindow{Manifest: m}
		for _, o := range m.Objects {
			b, ok := w.bucket.Content(o.Key)
			require.True(w.t, ok, "object %s exists", o.Key)
			rows, err := parquet.Read[row](bytes.NewReader(b), int64(len(b)))
			require.NoError(w.t, err)
			require.Len(w.t, rows, int(o.Records))
			for _, r := range rows {
				cw.bodies = append(cw.bodies, r.Body)
			}
		}
		out = append(out, cw)
		return nil
	})
	require.NoError(w.t, err)
	return out
}

func (w *world) bodies(tenant string) []string {
	var out []string
	for _, cw := range w.windows(tenant) {
		out = append(out, cw.bodies...)
	}
	return out
}

// uncommitted are a tenant's objects that no manifest names.
func (w *world) uncommitted(tenant string) []string {
	named := map[string]bool{}
	for _, cw := range w.windows(tenant) {
		for _, o := range cw.Objects {
			named[o.Key] = true
		}
	}
	id := partition.ID{Tenant: tenant, Signal: partition.Logs}
	return slices.DeleteFunc(w.bucket.Keys(partition.DataPrefix(w.ref.Prefix, id)), func(k string) bool { return named[k] })
}
