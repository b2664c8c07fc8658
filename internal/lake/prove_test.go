package lake_test

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/testbed/s3test"
)

func TestProve(t *testing.T) {
	same := func(m *laketest.Memory) lake.Bucket { return m }
	for name, tc := range map[string]struct {
		bucket func(*laketest.Memory) lake.Bucket
		script func(laketest.Op) laketest.Fault
		err    string
		litter bool
		left   int
	}{
		"honoured":           {bucket: same},
		"ignored":            {bucket: func(m *laketest.Memory) lake.Bucket { return forgetful{m} }, err: "does not honour If-None-Match"},
		"put refused":        {bucket: same, script: all(laketest.PutIfAbsent), err: "put probe: 503 SlowDown"},
		"read refused":       {bucket: same, script: all(laketest.Open), err: "read probe: 503 SlowDown"},
		"list refused":       {bucket: same, script: all(laketest.List), err: "list probe: 503 SlowDown"},
		"replace refused":    {bucket: same, script: all(laketest.Replace), err: "replace probe: 503 SlowDown"},
		"delete refused":     {bucket: same, script: all(laketest.Delete), litter: true, left: 1},
		"absence forbidden":  {bucket: same, script: at(laketest.Open, 2, laketest.Fault{Before: errStore}), err: "s3:ListBucket"},
		"answer lost":        {bucket: same, script: at(laketest.PutIfAbsent, 1, laketest.Fault{After: errStore})},
		"every answer lost":  {bucket: same, script: func(op laketest.Op) laketest.Fault { return after(op, laketest.PutIfAbsent) }},
		"content of a loser": {bucket: func(m *laketest.Memory) lake.Bucket { return lying{m} }, err: "does not honour If-None-Match"},
		"content of nobody":  {bucket: func(m *laketest.Memory) lake.Bucket { return inventive{m} }, err: "does not honour If-None-Match"},
		"no metadata":        {bucket: func(m *laketest.Memory) lake.Bucket { return bare{m} }, err: "does not keep the metadata"},
		"not listed":         {bucket: func(m *laketest.Memory) lake.Bucket { return unlisted{m} }, err: "does not list"},
		"If-Match ignored":   {bucket: func(m *laketest.Memory) lake.Bucket { return careless{m} }, err: "does not honour If-Match"},
		"ETags changed":      {bucket: func(m *laketest.Memory) lake.Bucket { return weak{m} }, err: "does not honour If-Match"},
	} {
		t.Run(name, func(t *testing.T) {
			m := laketest.NewMemory()
			m.Script(tc.script)
			l := lake.New(tc.bucket(m), lake.Ref{Bucket: "b", Prefix: "p"})
			litter, err := l.Prove(t.Context(), lake.Needs{Replace: true})
			if tc.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tc.err)
			}
			require.Equal(t, tc.litter, litter != nil)
			require.Len(t, m.Keys(""), tc.left, "what is left behind")
		})
	}
}

// TestProveAsksForWhatIsUsed has a store without If-Match hold a lake whose
// leases are elsewhere.
func TestProveAsksForWhatIsUsed(t *testing.T) {
	_, err := lake.New(careless{laketest.NewMemory()}, lake.Ref{Bucket: "b"}).Prove(t.Context(), lake.Needs{})
	require.NoError(t, err)
}

// TestProveS3 proves a real store, and one behind something that weakens ETags.
func TestProveS3(t *testing.T) {
	s := s3test.Start(t)
	for name, tc := range map[string]struct {
		weaken bool
		needs  lake.Needs
		err    error
	}{
		"all of it":            {needs: lake.Needs{Replace: true, Parts: true}},
		"weak ETags":           {weaken: true, needs: lake.Needs{Replace: true, Parts: true}, err: lake.ErrIrreplaceable},
		"weak ETags, parts":    {weaken: true, needs: lake.Needs{Parts: true}, err: lake.ErrNoParts},
		"weak ETags, not used": {weaken: true},
	} {
		t.Run(name, func(t *testing.T) {
			p, url := s3test.StartProxy(t, s.Endpoint)
			c := settings(t, s, url)
			client := newClient(t, c)
			p.Break(s3test.Rule{Weaken: tc.weaken})
			litter, err := lake.New(lake.NewS3(client, small(c)), lake.Ref{Bucket: c.Bucket}).Prove(t.Context(), tc.needs)
			require.NoError(t, litter)
			require.ErrorIs(t, err, tc.err)
			require.Zero(t, uploads(t, client, c.Bucket))
		})
	}
}

func all(kind string) func(laketest.Op) laketest.Fault {
	return func(op laketest.Op) laketest.Fault {
		if op.Kind == kind {
			return laketest.Fault{Before: errStore}
		}
		return laketest.Fault{}
	}
}

// forgetful is a store that ignores If-None-Match.
type forgetful struct{ *laketest.Memory }

func (f forgetful) PutIfAbsent(_ context.Context, key string, body lake.Body) error {
	f.Set(key, body.Bytes())
	return nil
}

// lying is a store that answers as it should and stores what it should not.
type lying struct{ *laketest.Memory }

func (f lying) PutIfAbsent(ctx context.Context, key string, body lake.Body) error {
	err := f.Memory.PutIfAbsent(ctx, key, body)
	if err != nil {
		f.Set(key, body.Bytes())
	}
	return err
}

// after has calls of a kind take effect and return an error.
func after(op laketest.Op, kind string) laketest.Fault {
	if op.Kind == kind {
		return laketest.Fault{After: lake.ErrExists}
	}
	return laketest.Fault{}
}

// inventive is a store that keeps something else.
type inventive struct{ *laketest.Memory }

func (f inventive) PutIfAbsent(ctx context.Context, key string, body lake.Body) error {
	err := f.Memory.PutIfAbsent(ctx, key, body)
	f.Set(key, []byte("something else"))
	return err
}

// bare is a store that drops metadata.
type bare struct{ *laketest.Memory }

func (f bare) PutIfAbsent(ctx context.Context, key string, body lake.Body) error {
	body.Metadata = nil
	return f.Memory.PutIfAbsent(ctx, key, body)
}

// unlisted is a store whose listings lag behind.
type unlisted struct{ *laketest.Memory }

func (unlisted) List(context.Context, string, string, func(lake.Info) error) error { return nil }

// careless is a store that ignores If-Match.
type careless struct{ *laketest.Memory }

func (f careless) Replace(_ context.Context, key string, body lake.Body, _ string) error {
	f.Set(key, body.Bytes())
	return nil
}

// weak is a store behind something that changes ETags.
type weak struct{ *laketest.Memory }

func (f weak) Open(ctx context.Context, key string) (io.ReadCloser, lake.Info, error) {
	r, info, err := f.Memory.Open(ctx, key)
	info.ETag = "W/" + info.ETag
	return r, info, err
}
