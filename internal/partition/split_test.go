package partition

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"pgregory.net/rapid"
)

// resource is one resource group of a test request: attributes, and bodies of
// its records.
type resource struct {
	attributes map[string]any
	bodies     []string
}

func tenant(name any, bodies ...string) resource {
	return resource{attributes: map[string]any{"tenant.id": name}, bodies: bodies}
}

func request(t require.TestingT, resources ...resource) plog.Logs {
	ld := plog.NewLogs()
	for _, r := range resources {
		rl := ld.ResourceLogs().AppendEmpty()
		require.NoError(t, rl.Resource().Attributes().FromRaw(r.attributes))
		sl := rl.ScopeLogs().AppendEmpty()
		sl.Scope().SetName("test")
		for _, b := range r.bodies {
			sl.LogRecords().AppendEmpty().Body().SetStr(b)
		}
	}
	return ld
}

func byAttribute() Rules {
	return Rules{From: []Rule{{ResourceAttribute: "tenant.id"}}, Default: "default"}
}

// marshalled is the oracle: the bytes of a request of these resources alone.
func marshalled(t require.TestingT, resources ...resource) []byte {
	b, err := (&plog.ProtoMarshaler{}).MarshalLogs(request(t, resources...))
	require.NoError(t, err)
	return b
}

func TestSplit(t *testing.T) {
	a1, a2, b, empty := tenant("a", "1", "2"), tenant("a", "3"), tenant("b", "4"), tenant("c")
	none := resource{bodies: []string{"5"}}
	for name, c := range map[string]struct {
		in   []resource
		want []Part
	}{
		"nothing":             {nil, nil},
		"no record":           {[]resource{empty, tenant("a")}, nil},
		"one tenant":          {[]resource{a1, a2}, []Part{{"a", 3, 0, marshalled(t, a1, a2)}}},
		"default":             {[]resource{none}, []Part{{"default", 1, 1, marshalled(t, none)}}},
		"two in order":        {[]resource{b, a1}, []Part{{"b", 1, 0, marshalled(t, b)}, {"a", 2, 0, marshalled(t, a1)}}},
		"interleaved":         {[]resource{a1, b, a2, none}, []Part{{"a", 3, 0, marshalled(t, a1, a2)}, {"b", 1, 0, marshalled(t, b)}, {"default", 1, 1, marshalled(t, none)}}},
		"empty is left out":   {[]resource{a1, empty, b}, []Part{{"a", 2, 0, marshalled(t, a1)}, {"b", 1, 0, marshalled(t, b)}}},
		"empty beside one":    {[]resource{empty, a1}, []Part{{"a", 2, 0, marshalled(t, a1)}}},
		"types with one text": {[]resource{tenant(1, "x"), tenant("1", "y")}, []Part{{"1", 2, 0, marshalled(t, tenant(1, "x"), tenant("1", "y"))}}},
	} {
		t.Run(name, func(t *testing.T) {
			ld := request(t, c.in...)
			ld.MarkReadOnly() // a split that changes the request panics
			parts, err := NewSplitter(byAttribute(), Bounds{}).Logs(context.Background(), ld)
			require.NoError(t, err)
			assert.Equal(t, c.want, parts)
		})
	}
}

// I7: whatever the interleaving, a part holds one tenant's records, all of
// them, in order.
func TestSplitGivesEveryTenantItsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.SampledFrom(hostile()), 0, 40).Draw(t, "tenants")
		var in []resource
		want := map[string][]string{}
		for i, name := range names {
			r := tenant(name)
			for j := range rapid.IntRange(0, 3).Draw(t, "records") {
				r.bodies = append(r.bodies, fmt.Sprint(i, "/", j))
			}
			in = append(in, r)
			owner := Tenant(name)
			if name == "" {
				owner = "default"
			}
			if len(r.bodies) > 0 {
				want[owner] = append(want[owner], r.bodies...)
			}
		}
		parts, err := NewSplitter(byAttribute(), Bounds{}).Logs(context.Background(), request(t, in...))
		require.NoError(t, err)
		got := map[string][]string{}
		for _, p := range parts {
			require.NotContains(t, got, p.Tenant)
			got[p.Tenant] = bodies(t, p.Payload)
			require.Len(t, got[p.Tenant], p.Items)
		}
		require.Equal(t, want, got)
	})
}

func bodies(t require.TestingT, payload []byte) []string {
	ld, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(payload)
	require.NoError(t, err)
	var out []string
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				out = append(out, lr.Body().Str())
			}
		}
	}
	return out
}

func TestPartsShareNoMemory(t *testing.T) {
	parts, err := NewSplitter(byAttribute(), Bounds{}).Logs(context.Background(), request(t, tenant("a", "1"), tenant("b", "2")))
	require.NoError(t, err)
	require.Len(t, parts, 2)
	for _, p := range parts {
		assert.Equal(t, len(p.Payload), cap(p.Payload), "a part holds its own bytes and no more")
	}
	clear(parts[0].Payload)
	assert.Equal(t, []string{"2"}, bodies(t, parts[1].Payload))
}

func spanCount(rs ptrace.ResourceSpans) int {
	n := 0
	for _, ss := range rs.ScopeSpans().All() {
		n += ss.Spans().Len()
	}
	return n
}

// The way of a request is the same for every signal.
func TestSplitOtherSignal(t *testing.T) {
	td := ptrace.NewTraces()
	for _, name := range []string{"a", "b", "a"} {
		rs := td.ResourceSpans().AppendEmpty()
		rs.Resource().Attributes().PutStr("tenant.id", name)
		rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty().SetName("of " + name)
	}
	parts, err := split(context.Background(), NewSplitter(byAttribute(), Bounds{}), td.ResourceSpans(), spanCount, func() ([]byte, error) {
		return (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	})
	require.NoError(t, err)
	require.Len(t, parts, 2)
	for i, want := range []string{"a", "b"} {
		got, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(parts[i].Payload)
		require.NoError(t, err)
		assert.Equal(t, parts[i].Items, got.SpanCount())
		for _, rs := range got.ResourceSpans().All() {
			assert.Equal(t, "of "+want, rs.ScopeSpans().At(0).Spans().At(0).Name())
		}
	}
}

func TestMarshalErrorRefusesTheRequest(t *testing.T) {
	ld := request(t, tenant("a", "1"))
	_, err := split(context.Background(), NewSplitter(byAttribute(), Bounds{}), ld.ResourceLogs(), logRecords, func() ([]byte, error) {
		return nil, errors.New("no bytes")
	})
	assert.EqualError(t, err, "marshal request: no bytes")
}

func TestCutRefusesOtherBytes(t *testing.T) {
	for name, c := range map[string]struct {
		payload string
		groups  int
	}{
		"too few groups":  {"\x0a\x01x", 2},
		"too many groups": {"\x0a\x01x\x0a\x01y", 1},
		"another field":   {"\x12\x01x", 1},
		"another type":    {"\x08\x01", 1},
		"cut short":       {"\x0a\x05x", 1},
		"no length":       {"\x0a", 1},
		"endless length":  {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 1},
		"length of 2^63":  {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 1},
	} {
		t.Run(name, func(t *testing.T) {
			assert.ErrorIs(t, cut([]byte(c.payload), make([]int, c.groups), make([]Part, 1)), errNotGroups)
		})
	}
}

func FuzzCut(f *testing.F) {
	f.Add([]byte("\x0a\x01x\x0a\x01y"), 2)
	f.Add([]byte("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 1)
	f.Fuzz(func(t *testing.T, payload []byte, n int) {
		if n < 0 || n > 100 {
			return
		}
		parts := make([]Part, 1)
		if cut(payload, make([]int, n), parts) == nil {
			require.Equal(t, string(payload), string(parts[0].Payload))
		}
	})
}

func BenchmarkSplit(b *testing.B) {
	for _, tenants := range []int{1, 20} {
		b.Run(fmt.Sprint("tenants=", tenants), func(b *testing.B) {
			var in []resource
			for i := range 20 {
				r := tenant(fmt.Sprint("tenant-", i%tenants))
				for j := range 50 {
					r.bodies = append(r.bodies, fmt.Sprint("a log line of a usual length, with a number in it: ", j))
				}
				in = append(in, r)
			}
			ld := request(b, in...)
			s := NewSplitter(byAttribute(), Bounds{})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Logs(context.Background(), ld); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
