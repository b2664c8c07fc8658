package otlp

// Attributes walks the attributes of a message in the order sent.
type Attributes struct {
	Key   []byte
	Value []byte // the AnyValue message
	b     []byte
	tag   uint64
	i     int
}

// NewAttributes starts a walk over the KeyValues in the given field of a
// message. Other fields are stepped over.
func NewAttributes(message []byte, field uint64) Attributes {
	return Attributes{b: message, tag: field<<3 | 2}
}

// Next moves to the next attribute; see Groups.Next.
func (a *Attributes) Next() bool {
	for a.i >= 0 && a.i < len(a.b) {
		var tag uint64
		if tag, a.i = Uvarint(a.b, a.i); a.i < 0 {
			return false
		}
		if tag != a.tag {
			a.i = Skip(a.b, a.i, tag, 1<<(a.tag>>3))
			continue
		}
		var kv []byte
		if kv, a.i = Bytes(a.b, a.i); a.i < 0 {
			return false
		}
		var at int
		if a.Key, a.Value, at = KeyValue(kv); at < 0 {
			a.i = at
			return false
		}
		return true
	}
	return false
}

// Each has sink take the KeyValue messages that are left. It returns a fault if
// the message is malformed, or what sink returns.
func (a *Attributes) Each(sink AttributeSink) int {
	for a.i < len(a.b) {
		var tag uint64
		if tag, a.i = Uvarint(a.b, a.i); a.i < 0 {
			return a.i
		}
		if tag != a.tag {
			if a.i = Skip(a.b, a.i, tag, 1<<(a.tag>>3)); a.i < 0 {
				return a.i
			}
			continue
		}
		var kv []byte
		if kv, a.i = Bytes(a.b, a.i); a.i < 0 {
			return a.i
		}
		if at := sink.Attribute(kv); at < 0 {
			return at
		}
	}
	return 0
}

// Err returns why the walk ended early, or nil.
func (a *Attributes) Err() error { return Fault(a.i) }

// At is Err as a fault.
func (a *Attributes) At() int { return a.i }

// KeyValue splits a KeyValue message into its key and its AnyValue message.
// The last result is a fault if the message is malformed.
func KeyValue(b []byte) (key, value []byte, at int) {
	// The usual layouts: SDKs write key then value, the collector value then
	// key, each with a length of one byte, and nothing else.
	if len(b) > 4 {
		n := int(b[1])
		if e := n + 4; n < 0x80 && e <= len(b) && b[e-1] < 0x80 && int(b[e-1])+e == len(b) {
			if b[0] == 0x0a && b[e-2] == 0x12 {
				return b[2 : e-2 : e-2], b[e:], e
			}
			if b[0] == 0x12 && b[e-2] == 0x0a {
				return b[e:], b[2 : e-2 : e-2], e
			}
		}
	}
	return keyValueSlow(b)
}

func keyValueSlow(b []byte) (key, value []byte, i int) {
	for i < len(b) {
		var tag uint64
		tag, i = Uvarint(b, i)
		switch {
		case i < 0:
		case tag == 1<<3|2:
			key, i = Bytes(b, i)
		case tag == 2<<3|2:
			var v []byte
			v, i = Bytes(b, i)
			value = Merge(value, v)
		default:
			i = Skip(b, i, tag, 1<<1|1<<2)
		}
		if i < 0 {
			return nil, nil, i
		}
	}
	return key, value, i
}
