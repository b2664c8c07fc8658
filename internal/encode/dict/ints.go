package dict

// Ints maps integers to numbers that its user chooses. Not safe for
// concurrent use.
type Ints struct {
	slots []intSlot
	n     int
}

type intSlot struct {
	key   int64
	value uint32 // + 1; 0 marks an empty slot
}

// NewInts returns an empty map.
func NewInts() *Ints { return &Ints{slots: make([]intSlot, minSlots)} }

// Reset empties the map and keeps its memory.
func (d *Ints) Reset() {
	if len(d.slots) > keepSlots {
		d.slots = make([]intSlot, minSlots)
	} else if d.n > 0 {
		clear(d.slots)
	}
	d.n = 0
}

// Held returns how many bytes of memory the map holds.
func (d *Ints) Held() int { return cap(d.slots) * 16 }

// Get returns what Set stored for key.
func (d *Ints) Get(key int64) (value uint32, found bool) {
	e := d.slot(key)
	return e.value - 1, e.value != 0
}

// Set stores value for key, which is not in the map.
func (d *Ints) Set(key int64, value uint32) {
	if d.n++; 2*d.n > len(d.slots) {
		old := d.slots
		d.slots = make([]intSlot, 2*len(old))
		for _, e := range old {
			if e.value != 0 {
				*d.slot(e.key) = e
			}
		}
	}
	*d.slot(key) = intSlot{key: key, value: value + 1}
}

func (d *Ints) slot(key int64) *intSlot {
	h := mix(uint64(key)^mul1, mul0)
	for ; ; h++ {
		e := &d.slots[h&uint64(len(d.slots)-1)]
		if e.value == 0 || e.key == key {
			return e
		}
	}
}
