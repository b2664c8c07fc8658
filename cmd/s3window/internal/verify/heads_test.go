package verify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/cmd/s3window/internal/verify"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// headDamage is every way in which a head can be wrong about a sound lake: from
// the record that is right, one that is not.
var headDamage = map[string]struct {
	record func(l *testLake) string
	kind   verify.Kind
	text   string
}{
	"it is ahead of its bucket": {func(l *testLake) string {
		return strings.Replace(l.headRecord(acme, 4), `"k":4,"manifest`, `"k":6,"manifest`, 1)
	}, verify.CutOff, "0000000006.json: does not exist, but the head "},
	"it names another manifest": {func(l *testLake) string {
		return strings.Replace(l.headRecord(acme, 3), l.prev(acme, 3).SHA256, l.prev(acme, 2).SHA256, 1)
	}, verify.BrokenChain, "0000000003.json: has sha256 "},
	"a writer ends earlier": {func(l *testLake) string {
		return strings.Replace(l.headRecord(acme, 3), fmt.Sprint(at(40)), fmt.Sprint(at(39)), 1)
	}, verify.WrongHead, "says writer aaaaaaaaaaaaa is committed up to " + fmt.Sprint(at(39))},
	"a writer ends later": {func(l *testLake) string {
		return strings.Replace(l.headRecord(acme, 3), fmt.Sprint(at(30)), fmt.Sprint(at(31)), 1)
	}, verify.WrongHead, "the manifests 1 to 3 say up to " + fmt.Sprint(at(30)) + " by window 2"},
	"a writer is of another window": {func(l *testLake) string {
		return strings.Replace(l.headRecord(acme, 3), fmt.Sprintf(`%d,"k":2`, at(30)), fmt.Sprintf(`%d,"k":1`, at(30)), 1)
	}, verify.WrongHead, "by window 1, but"},
	"a writer is forgotten and was not pruned": {func(l *testLake) string {
		return strings.Replace(l.headRecord(acme, 3), fmt.Sprintf(`,"bbbbbbbbbbbbb":{"end":%d,"k":2}`, at(30)), "", 1)
	}, verify.WrongHead, "does not know writer bbbbbbbbbbbbb"},
	"a writer never committed": {func(l *testLake) string {
		return strings.Replace(l.headRecord(acme, 3), `"writers":{`, `"writers":{"ccccccccccccc":{"end":7,"k":1},`, 1)
	}, verify.WrongHead, "says writer ccccccccccccc is committed up to 7"},
	"more was pruned than there is": {func(l *testLake) string {
		return strings.Replace(l.headRecord(acme, 3), `"pruned":0`, fmt.Sprintf(`"pruned":%d`, at(41)), 1)
	}, verify.WrongHead, "says that writers up to " + fmt.Sprint(at(41)) + " were pruned"},
	"it does not decode": {func(l *testLake) string { return l.headRecord(acme, 3)[:40] },
		verify.WrongHead, "does not decode"},
	"it names no manifest": {func(*testLake) string { return `{"version":1,"k":3}` },
		verify.WrongHead, "names no sha256 of its manifest"},
}

// A head that is wrong is refused wherever it is kept.
func TestHeadsAreHeldToManifests(t *testing.T) {
	name := partition.HeadName("b", prefix, acme)
	stores := map[string]func(l *testLake, record string) verify.Options{
		"in the bucket": func(l *testLake, record string) verify.Options {
			l.setHead(acme, record)
			return verify.Options{}
		},
		"exported": func(l *testLake, record string) verify.Options {
			l.Remove(headKey(acme))
			return verify.Options{Heads: []verify.Head{{Name: "s3window/leases/" + name, Record: []byte(record)}}}
		},
		"read from a store": func(l *testLake, record string) verify.Options {
			l.Remove(headKey(acme))
			return verify.Options{HeadBucket: "b", ReadHead: func(_ context.Context, asked string) ([]byte, error) {
				if asked != name {
					return nil, nil
				}
				return []byte(record), nil
			}}
		},
	}
	for store, options := range stores {
		t.Run("right, "+store, func(t *testing.T) {
			l := goodLake(t)
			require.Empty(t, judge(t, l, options(l, l.headRecord(acme, 4))).Damage)
		})
		for damage, c := range headDamage {
			t.Run(damage+", "+store, func(t *testing.T) {
				l := goodLake(t)
				record := c.record(l)
				require.NotEqual(t, l.headRecord(acme, 3), record)
				r := judge(t, l, options(l, record))
				require.Len(t, r.Damage, 1, "%v", r.Damage)
				require.Equal(t, c.kind, r.Damage[0].Kind)
				require.Contains(t, r.Damage[0].String(), c.text)
				require.False(t, r.Sound)
			})
		}
	}
}

func TestPrunedWritersNeedNotBeKnown(t *testing.T) {
	l := goodLake(t)
	pruned := strings.Replace(l.headRecord(acme, 3), fmt.Sprintf(`,"bbbbbbbbbbbbb":{"end":%d,"k":2}`, at(30)), "", 1)
	l.setHead(acme, strings.Replace(pruned, `"pruned":0`, fmt.Sprintf(`"pruned":%d`, at(30)), 1))
	require.Empty(t, judge(t, l, verify.Options{}).Damage)
}

func TestHeadsOfOtherLakesSayNothing(t *testing.T) {
	l := goodLake(t)
	ahead := json.RawMessage(strings.Replace(l.headRecord(acme, 4), `"k":4,"manifest`, `"k":6,"manifest`, 1))
	for _, name := range []string{
		partition.HeadName("b", "other", acme), partition.HeadName("other", prefix, acme), "whatever", "a/b/c/d/e",
		partition.HeadName("b", prefix, acme) + "/more",
	} {
		r := judge(t, l, verify.Options{HeadBucket: "b", Heads: []verify.Head{{Name: name, Record: ahead}}})
		require.Empty(t, r.Damage, name)
	}
}

func TestLakeThatIsGoneIsMissedByItsExportedHead(t *testing.T) {
	l := goodLake(t)
	other := partition.ID{Sink: "default", Tenant: "gone", Signal: partition.Traces}
	r := judge(t, l, verify.Options{Heads: []verify.Head{{Name: partition.HeadName("b", prefix, other), Record: []byte(l.headRecord(acme, 4))}}})
	require.Len(t, r.Damage, 1)
	require.Equal(t, verify.CutOff, r.Damage[0].Kind)
	require.Contains(t, r.Damage[0].Key, "tenant=gone/signal=traces/windows/0000000004.json")
}

func TestStoreThatCannotBeReached(t *testing.T) {
	down := errors.New("down")
	_, err := verify.Lake(t.Context(), lake.New(goodLake(t), lake.Ref{Bucket: "b", Prefix: prefix}), verify.Options{
		ReadHead: func(context.Context, string) ([]byte, error) { return nil, down },
	}, nil)
	require.ErrorIs(t, err, down)

	r := judge(t, goodLake(t), verify.Options{ReadHead: func(context.Context, string) ([]byte, error) { return nil, verify.ErrBadHead }})
	require.Len(t, r.Damage, 2)
	require.Equal(t, verify.WrongHead, r.Damage[0].Kind)
}

func TestReadHeads(t *testing.T) {
	got, err := verify.ReadHeads(strings.NewReader("{\"name\":\"a\",\"record\":{\"k\":1}}\n{\"name\":\"b\",\"record\":\"{\\\"k\\\":2}\"}\n"))
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.JSONEq(t, `{"k":1}`, string(got[0].Record))
	require.JSONEq(t, `{"k":2}`, string(got[1].Record))
	for _, bad := range []string{"{", `{"name":"a"}`, `{"record":{}}`, `{"name":"a","record":{}} x`, "[]"} {
		_, err := verify.ReadHeads(strings.NewReader(bad))
		require.ErrorContains(t, err, "read exported head", bad)
	}
}
