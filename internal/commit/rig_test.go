package commit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/lease/memory"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
)

var (
	testID  = partition.ID{Sink: "default", Tenant: "acme", Signal: partition.Logs}
	testRef = lake.Ref{Bucket: "b", Prefix: "p"}
	headKey = partition.HeadName(testRef.Bucket, testRef.Prefix, testID)
)

const (
	writerA = "aaaaaaaaaaaaa"
	writerB = "bbbbbbbbbbbbb"
)

// kvOp is one call of a lease store.
type kvOp struct {
	Kind string // get, put
	Free bool   // the put leaves the register without a lease
}

// kv counts the calls of a lease store and lets a script fail them.
type kv struct {
	lease.Store
	mu     sync.Mutex
	ops    []kvOp
	script func(n int, op kvOp) laketest.Fault
}

func (s *kv) begin(op kvOp) laketest.Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ops = append(s.ops, op)
	if s.script == nil {
		return laketest.Fault{}
	}
	return s.script(len(s.ops)-1, op)
}

func (s *kv) Get(ctx context.Context, key string) (lease.Record, error) {
	f := s.begin(kvOp{Kind: "get"})
	if f.Pause != nil {
		f.Pause(ctx)
	}
	if f.Before != nil {
		return lease.Record{}, f.Before
	}
	rec, err := s.Store.Get(ctx, key)
	if f.After != nil {
		return lease.Record{}, f.After
	}
	return rec, err
}

func (s *kv) Put(ctx context.Context, key string, value []byte, rev string) (string, error) {
	var r map[string]any
	_ = json.Unmarshal(value, &r)
	f := s.begin(kvOp{Kind: "put", Free: r["lease"] == nil})
	if f.Pause != nil {
		f.Pause(ctx)
	}
	if f.Before != nil {
		return "", f.Before
	}
	next, err := s.Store.Put(context.WithoutCancel(ctx), key, value, rev)
	if f.After != nil {
		return "", f.After
	}
	return next, err
}

func (s *kv) count(kind string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, op := range s.ops {
		if op.Kind == kind {
			n++
		}
	}
	return n
}

func (s *kv) set(script func(n int, op kvOp) laketest.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script, s.ops = script, nil
}

// rig is one lake and one lease store, and the processes that share them.
type rig struct {
	t      *testing.T
	bucket *laketest.Memory
	kv     *kv
	lake   *lake.Lake
	turns  bool // processes take turns
	scale  scale
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, scale: fullScale, bucket: laketest.NewMemory(), kv: &kv{Store: memory.New()}}
	r.lake = lake.New(r.bucket, testRef)
	return r
}

// process is one life of a process.
type process struct {
	*Log
	leases *lease.Participant
	labels []string
	onStep func(label string)
}

func (r *rig) process(holder string, opts ...func(*Options)) *process {
	p := &process{leases: lease.NewParticipant(r.kv, lease.Options{Holder: holder})}
	o := Options{
		Turns:        r.turns,
		scale:        r.scale,
		Holder:       holder,
		Predecessors: func(h string) bool { return h == holder },
		Step: func(label string) {
			p.labels = append(p.labels, label)
			if p.onStep != nil {
				p.onStep(label)
			}
		},
	}
	for _, f := range opts {
		f(&o)
	}
	p.Log = New(r.lake, p.leases, testID, o)
	r.t.Cleanup(p.leases.Close)
	return p
}

// win is a window with one object, which is put if it is not there.
func (r *rig) win(writer string, after, start, end int64) Window {
	r.t.Helper()
	w := Window{
		ID: testID, Writer: writer, After: after, Start: start, End: end,
		Reason: "age", Format: "jsonl", Compression: "none", Schema: 1, Records: 1,
	}
	name := partition.ObjectName{Start: start, End: end, Writer: writer, Ext: "jsonl"}
	body := lake.NewBody("application/x-ndjson", fmt.Appendf(nil, "%s %d\n", writer, start))
	o, err := r.lake.PutObject(r.t.Context(), laketest.ObjectKey(testRef.Prefix, testID, name),
		body, lake.ObjectMeta{Records: 1, Encoder: "test/1"})
	require.NoError(r.t, err)
	w.Objects, w.Bytes, w.RawBytes = []lake.Object{o}, o.Bytes, o.Bytes
	return w
}

// commit commits ws and expects them all.
func (r *rig) commit(p *process, ws ...Window) {
	r.t.Helper()
	n, err := p.Commit(r.t.Context(), ws)
	require.NoError(r.t, err)
	require.Equal(r.t, len(ws), n)
}

// putManifest puts a manifest for w at the end of the log, as a committer that
// dies before its confirmation does.
func (r *rig) putManifest(w Window) {
	r.t.Helper()
	k, prev, writers := uint64(1), (*lake.Prev)(nil), map[string]lake.Reach{}
	require.NoError(r.t, r.lake.Manifests(r.t.Context(), testID, func(n uint64, m lake.Manifest, sha string) error {
		k, prev = n+1, &lake.Prev{K: n, Key: partition.ManifestKey(testRef.Prefix, testID, n), SHA256: sha}
		writers[m.Writer] = lake.Reach{End: m.End, K: n}
		return nil
	}))
	maps.DeleteFunc(writers, func(_ string, at lake.Reach) bool { return k-at.K >= r.scale.span })
	writers[w.Writer] = lake.Reach{End: w.End, K: k}
	_, err := r.lake.PutManifest(r.t.Context(), testID, lake.Manifest{
		Version: lake.ManifestVersion, Writers: writers, Sink: testID.Sink, Tenant: testID.Tenant, Signal: testID.Signal, K: k, Prev: prev,
		Writer: w.Writer, After: w.After, Start: w.Start, End: w.End, Reason: w.Reason, Format: w.Format,
		Compression: w.Compression, Schema: w.Schema, Objects: w.Objects, Records: w.Records, Bytes: w.Bytes,
		RawBytes: w.RawBytes, CommittedAt: time.Now(),
	})
	require.NoError(r.t, err)
}

// head gives the record in the lease store.
func (r *rig) head() (state State, held bool) {
	r.t.Helper()
	rec, err := r.kv.Store.Get(r.t.Context(), headKey)
	require.NoError(r.t, err)
	var lease struct{ Lease *struct{} }
	require.NoError(r.t, json.Unmarshal(rec.Value, &lease))
	state, err = decodeState(rec.Value)
	require.NoError(r.t, err)
	return state, lease.Lease != nil
}

// setHead replaces the state of the record, as a KV that was rolled back does;
// nil removes the record.
func (r *rig) setHead(s *State) {
	r.t.Helper()
	ctx := r.t.Context()
	rec, err := r.kv.Store.Get(ctx, headKey)
	if !errors.Is(err, lease.ErrNotFound) {
		require.NoError(r.t, err)
	}
	if s == nil {
		require.NoError(r.t, r.kv.Store.Delete(ctx, headKey, rec.Revision))
		return
	}
	value := fmt.Appendf(nil, `{"version":1,"epoch":7,"write":"rolledback",%s`, s.encode()[1:])
	_, err = r.kv.Store.Put(ctx, headKey, value, rec.Revision)
	require.NoError(r.t, err)
}

// judged reads the bucket alone and returns the windows of its log.
func (r *rig) judged() []judgedWindow {
	r.t.Helper()
	ws, violations := judgeLog(r.bucket, testRef.Prefix, testID, int(r.scale.span))
	require.Empty(r.t, violations)
	return ws
}
