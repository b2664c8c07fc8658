package lake_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
)

func TestProve(t *testing.T) {
	unconditional := func(m *laketest.Memory) lake.Bucket { return forgetful{m} }
	same := func(m *laketest.Memory) lake.Bucket { return m }
	for name, tc := range map[string]struct {
		bucket func(*laketest.Memory) lake.Bucket
		script func(laketest.Op) laketest.Fault
		err    string
		left   int
	}{
		"honoured":           {bucket: same},
		"ignored":            {bucket: unconditional, err: "does not honour If-None-Match"},
		"put refused":        {bucket: same, script: all(laketest.PutIfAbsent), err: "put probe: 503 SlowDown"},
		"read refused":       {bucket: same, script: all(laketest.Open), err: "read probe: 503 SlowDown"},
		"delete refused":     {bucket: same, script: all(laketest.Delete), err: "503 SlowDown", left: 1},
		"answer lost":        {bucket: same, script: at(laketest.PutIfAbsent, 1, laketest.Fault{After: errStore})},
		"content of a loser": {bucket: func(m *laketest.Memory) lake.Bucket { return lying{m} }, err: "does not honour If-None-Match"},
	} {
		t.Run(name, func(t *testing.T) {
			m := laketest.NewMemory()
			m.Script(tc.script)
			err := lake.New(tc.bucket(m), lake.Ref{Bucket: "b", Prefix: "p"}).Prove(t.Context())
			if tc.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tc.err)
			}
			require.Len(t, m.Keys(""), tc.left, "what is left behind")
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
