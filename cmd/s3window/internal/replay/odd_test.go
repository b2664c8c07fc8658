package replay

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/testbed/odd"
)

// counter is a Sender that reads every request with pdata and counts.
type counter struct {
	t       *testing.T
	records map[partition.Signal]int
}

func (c *counter) Send(_ context.Context, id partition.ID, request []byte, records int) (int64, error) {
	n, err := odd.Case{Signal: id.Signal, Payload: request}.Records()
	require.NoError(c.t, err, "what is sent is OTLP")
	require.Equal(c.t, records, n)
	c.records[id.Signal] += n
	return 0, nil
}

// commitOdd commits payloads of one signal as window 1, in one object.
func commitOdd(l *testLake, id partition.ID, spec encode.Spec, payloads [][]byte) (records int64) {
	spec.Signal = id.Signal
	e, err := encode.New(spec)
	require.NoError(l.t, err)
	var entries []encode.Entry
	for _, p := range payloads {
		entries = append(entries, encode.Entry{Payload: p, ReceivedAt: at(1)})
	}
	staged, err := e.Stage(entries)
	require.NoError(l.t, err)
	o, err := e.Assemble(id, "aaaaaaaaaaaaa", []encode.Staged{staged})
	require.NoError(l.t, err)
	name := partition.ObjectName{Start: at(1), End: at(2), Writer: "aaaaaaaaaaaaa", Ext: o.Ext}
	put, err := l.PutObject(l.t.Context(), laketest.ObjectKey(prefix, id, name),
		lake.NewBody(o.ContentType, o.Segments...), lake.ObjectMeta{Records: o.Records, MinTime: o.MinTime, MaxTime: o.MaxTime, Encoder: o.Encoder})
	require.NoError(l.t, err)
	_, err = l.PutManifest(l.t.Context(), id, lake.Manifest{
		Version: 1, Sink: id.Sink, Tenant: id.Tenant, Signal: id.Signal, K: 1, Writer: name.Writer, Start: at(1), End: at(2),
		Reason: "age", Format: spec.Format, Compression: spec.Codec, Schema: encode.SchemaVersion(), Objects: []lake.Object{put},
		Records: put.Records, Bytes: put.Bytes, MinTime: put.MinTime, MaxTime: put.MaxTime, Epoch: 1, CommittedAt: time.Now(),
	})
	require.NoError(l.t, err)
	return put.Records
}

// Every odd record that is in a lake is sent, as OTLP that a receiver reads.
func TestOddRecordsAreSent(t *testing.T) {
	for _, spec := range []encode.Spec{parquet, jsonl} {
		t.Run(spec.Format, func(t *testing.T) {
			l, to := newLake(t), &counter{t: t, records: map[partition.Signal]int{}}
			want := map[partition.Signal]int{}
			for _, s := range odd.Signals() {
				cases := odd.Cases(s)
				for i, tenant := range odd.Tenants() {
					var payloads [][]byte
					for j, c := range cases {
						if c.Valid && j%len(odd.Tenants()) == i {
							payloads = append(payloads, c.Payload)
						}
					}
					id := partition.ID{Sink: "default", Tenant: tenant, Signal: s}
					want[s] += int(commitOdd(l, id, spec, payloads))
				}
			}
			var p Progress
			parts, err := Lake(t.Context(), l.Lake, to, memoryState(t, Selection{}), Options{RequestBytes: 100_000}, &p)
			require.NoError(t, err)
			for _, part := range parts {
				require.NoError(t, part.Err)
			}
			require.Len(t, parts, len(odd.Tenants())*len(odd.Signals()))
			require.Equal(t, want, to.records)
		})
	}
}
