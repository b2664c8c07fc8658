package otlp

import (
	"bytes"
	"errors"
	"testing"

	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestUvarint(t *testing.T) {
	for _, c := range []struct {
		in    []byte
		value uint64
		at    int
	}{
		{[]byte{0}, 0, 1},
		{[]byte{0x7f}, 127, 1},
		{[]byte{0x80, 0x01}, 128, 2},
		{[]byte{0x80, 0x00}, 0, 2},
		{append(bytes.Repeat([]byte{0xff}, 9), 1), 1<<64 - 1, 10},
		{nil, 0, faultTruncated},
		{[]byte{0x80}, 0, faultTruncated},
		{append(bytes.Repeat([]byte{0xff}, 9), 2), 0, faultVarint},
		{bytes.Repeat([]byte{0x80}, 20), 0, faultVarint},
	} {
		if v, at := Uvarint(c.in, 0); v != c.value || at != c.at {
			t.Errorf("Uvarint(%x) = %d, %d; want %d, %d", c.in, v, at, c.value, c.at)
		}
	}
}

func TestBytesChecksItsBounds(t *testing.T) {
	for _, c := range []struct {
		in   []byte
		want string
		at   int
	}{
		{[]byte{0}, "", 1},
		{[]byte{2, 'a', 'b', 'c'}, "ab", 3},
		{[]byte{0x82, 0, 'a', 'b'}, "ab", 4},
		{[]byte{0x82, 0x80, 0, 'a', 'b'}, "ab", 5},
		{[]byte{3, 'a', 'b'}, "", faultTruncated},
		{[]byte{0x80}, "", faultTruncated},
		{append(bytes.Repeat([]byte{0xff}, 9), 1, 'a'), "", faultTruncated}, // a length that is negative as an int
	} {
		if v, at := Bytes(c.in, 0); string(v) != c.want || at != c.at {
			t.Errorf("Bytes(%x) = %q, %d; want %q, %d", c.in, v, at, c.want, c.at)
		}
	}
}

func TestFaultsAreMalformed(t *testing.T) {
	for i := faultTruncated; i >= BadID; i-- {
		if err := Fault(i); !errors.Is(err, ErrMalformed) {
			t.Errorf("fault %d is %v", i, err)
		}
	}
	if err := Fault(0); err != nil {
		t.Errorf("position 0 is %v", err)
	}
}

func TestPointsOfMetrics(t *testing.T) {
	m := pmetric.NewMetrics()
	ms := m.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics()
	ms.AppendEmpty().SetName("no data")
	g := ms.AppendEmpty().SetEmptyGauge().DataPoints()
	g.AppendEmpty()
	g.AppendEmpty()
	ms.AppendEmpty().SetEmptySum().DataPoints().AppendEmpty().SetIntValue(3)
	ms.AppendEmpty().SetEmptyHistogram().DataPoints().AppendEmpty().SetCount(1)
	ms.AppendEmpty().SetEmptyExponentialHistogram().DataPoints().AppendEmpty()
	ms.AppendEmpty().SetEmptySummary().DataPoints().AppendEmpty()
	b, err := (&pmetric.ProtoMarshaler{}).MarshalMetrics(m)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	groups := NewGroups(b)
	for groups.Next() {
		scopes := groups.Group.Scopes()
		for scopes.Next() {
			for scopes.Scope.Next() {
				m, at := ParseMetric(scopes.Scope.Item)
				if at < 0 {
					t.Fatal(Fault(at))
				}
				for points := m.Points(); points.Next(); {
					n++
				}
			}
		}
	}
	if n != m.DataPointCount() || n != 6 {
		t.Errorf("%d points, pdata says %d", n, m.DataPointCount())
	}
	for _, bad := range [][]byte{{0x2a}, {0x2a, 5}, {0x28, 1}, {0x2a, 1, 0x0a}, {0x80}, {0x03}} {
		if _, at := ParseMetric(bad); !errors.Is(Fault(at), ErrMalformed) {
			t.Errorf("ParseMetric(%x): %v", bad, Fault(at))
		}
	}
}

func TestQuoting(t *testing.T) {
	for in, want := range map[string]string{
		"":                         `""`,
		"plain text of 24 bytes..": `"plain text of 24 bytes.."`,
		"12345678\"":               `"12345678\""`,
		"1234567\\8":               `"1234567\\8"`,
		"\x00\x1f\n\r\t":           `"\u0000\u001f\n\r\t"`,
		"é12345678é\x7f":           "\"é12345678é\x7f\"",
		"日本語日本語\n":                 `"日本語日本語\n"`,
	} {
		if got := string(appendQuoted(nil, []byte(in))); got != want {
			t.Errorf("%q is quoted as %s, want %s", in, got, want)
		}
	}
}

// FuzzWalk walks anything to its end, touching every byte that it is given.
func FuzzWalk(f *testing.F) {
	f.Add([]byte{0x0a, 4, 0x12, 2, 0x12, 0})
	f.Add([]byte{0x0a, 12, 0x0a, 2, 0x0a, 0, 0x12, 4, 0x12, 2, 0x32, 0, 0x1a, 0})
	f.Add([]byte{0x0a, 2, 0x2a, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		groups := NewGroups(b)
		for groups.Next() {
			a := NewAttributes(groups.Group.Resource, ResourceAttributes)
			for a.Next() {
				if v, at := ParseValue(a.Value); at >= 0 {
					_, _ = v.Text(nil)
				}
			}
			_ = new(Resource).Parse(groups.Group.Resource, nothing{})
			scopes := groups.Group.Scopes()
			for scopes.Next() {
				whole, err := scopes.Scope.Locate()
				n := 0
				for scopes.Scope.Next() {
					n += len(scopes.Scope.Item)
					_, _ = ParseMetric(scopes.Scope.Item)
				}
				if (err == nil) != (scopes.Scope.Err() == nil) {
					t.Errorf("Locate says %v, the walk %v", err, scopes.Scope.Err())
				}
				if err == nil && !bytes.Equal(whole.Scope, scopes.Scope.Scope) {
					t.Error("Locate finds another scope than the walk")
				}
				if n > len(b) {
					t.Errorf("items of %d bytes in %d", n, len(b))
				}
				_ = new(Scope).Parse(scopes.Scope.Scope, nothing{})
			}
		}
	})
}

// nothing takes all that a message has several of.
type nothing struct{}

func (nothing) Attribute([]byte) int { return 0 }
