package dict

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStringsNumbersInOrderOfAppearance(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	d := NewStrings()
	for round := range 3 {
		d.Reset()
		want := map[string]uint32{}
		var order []string
		for range 40000 {
			v := fmt.Sprintf("%0*d", r.IntN(70), r.IntN(30000))
			n, added := d.Put([]byte(v))
			w, known := want[v]
			if !known {
				w = uint32(len(order))
				want[v] = w
				order = append(order, v)
			}
			if n != w || added == known {
				t.Fatalf("round %d: Put(%q) = %d, %v; want %d, %v", round, v, n, added, w, !known)
			}
		}
		data := d.Data()
		for i, v := range order {
			if got := string(d.At(uint32(i))); got != v {
				t.Fatalf("At(%d) = %q, want %q", i, got, v)
			}
			n := binary.LittleEndian.Uint32(data)
			if got := string(data[4 : 4+n]); got != v {
				t.Fatalf("value %d in Data is %q, want %q", i, got, v)
			}
			data = data[4+n:]
		}
		if len(data) > 0 || d.Len() != len(order) {
			t.Fatalf("%d bytes behind the last of %d values, want %d values", len(data), d.Len(), len(order))
		}
	}
}

func TestStringsGivesUpALargeTable(t *testing.T) {
	d := NewStrings()
	for i := range keepSlots {
		d.Put(binary.LittleEndian.AppendUint32(nil, uint32(i)))
	}
	d.Reset()
	if len(d.slots) != minSlots {
		t.Errorf("%d slots are kept", len(d.slots))
	}
	if n, added := d.Put([]byte("x")); n != 0 || !added {
		t.Errorf("Put after Reset = %d, %v", n, added)
	}
}

func TestInts(t *testing.T) {
	d := NewInts()
	for range 2 {
		d.Reset()
		for i := range int64(5000) {
			for _, k := range []int64{i, -i - 1, math.MaxInt64 - i, i << 32} {
				if _, found := d.Get(k); !found {
					d.Set(k, uint32(k)>>1)
				}
			}
		}
		for i := range int64(5000) {
			for _, k := range []int64{i, -i - 1, math.MaxInt64 - i, i << 32} {
				if v, found := d.Get(k); !found || v != uint32(k)>>1 {
					t.Fatalf("Get(%d) = %d, %v", k, v, found)
				}
			}
		}
		if _, found := d.Get(math.MinInt64); found {
			t.Error("a key that was not set is found")
		}
	}
}

// A hash that ignored part of a value would make tables slow, not wrong.
func TestHashSeesEveryByte(t *testing.T) {
	for n := 4; n < 70; n++ {
		v := make([]byte, n)
		h := hash(7, v)
		for i := range v {
			v[i] = 1
			if hash(7, v) == h {
				t.Errorf("byte %d of %d is not hashed", i, n)
			}
			v[i] = 0
		}
	}
}

func BenchmarkFind(b *testing.B) {
	d := NewStrings()
	var keys [][]byte
	for i := range 20000 {
		keys = append(keys, fmt.Appendf(nil, "u-%07d", i*7919%9999999))
		d.Put(keys[i])
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, _, found := d.Find(keys[i%len(keys)]); !found {
			b.Fatal("not found")
		}
		i++
	}
}
