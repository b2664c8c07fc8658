package jsonl

import "github.com/s3window/s3window/internal/encode/otlp"

// Bounds of what keys remembers: far above what real attributes need.
const (
	maxKeys     = 1 << 14
	maxKeyBytes = 1 << 20
)

// keys remembers attribute keys as they are written. Keys that follow each
// other once tend to do so again: a key is compared with the one that came
// after the last one before it is looked up.
type keys struct {
	columns []Column // of records
	all     []key    // the first stands before the first key of a record
	numbers map[string]uint32
	bytes   int
	prev    uint32
	spare   key // of a key that is not remembered
}

type key struct {
	raw    []byte
	quoted []byte // ,"key":
	column int32  // that promotes it, from 1; 0 = none
	next   uint32 // number of the key that came after it; 0 = none yet
}

func newKeys(columns []Column) keys {
	k := keys{columns: columns}
	k.clear()
	return k
}

func (k *keys) clear() {
	clear(k.all)
	k.all, k.numbers, k.bytes, k.prev = append(k.all[:0], key{}), map[string]uint32{}, 0, 0
}

func (k *keys) held() int { return 96*len(k.all) + 3*k.bytes + cap(k.spare.quoted) }

// startRecord says that the next key is the first of a record.
func (k *keys) startRecord() {
	k.prev = 0
	if len(k.all) >= maxKeys || k.bytes > maxKeyBytes {
		k.clear()
	}
}

// find returns a key, valid until the next call.
func (k *keys) find(raw []byte) *key {
	if n := k.all[k.prev].next; n > 0 && string(k.all[n].raw) == string(raw) {
		k.prev = n
		return &k.all[n]
	}
	n, ok := k.numbers[string(raw)]
	if !ok {
		made := k.make(nil, raw)
		if len(k.all) >= maxKeys || k.bytes > maxKeyBytes {
			k.spare, k.prev = made, 0
			return &k.spare
		}
		made.raw = []byte(string(raw))
		n = uint32(len(k.all))
		k.all, k.bytes = append(k.all, made), k.bytes+len(raw)
		k.numbers[string(raw)] = n
	}
	k.all[k.prev].next, k.prev = n, n
	return &k.all[n]
}

func (k *keys) make(dst, raw []byte) key {
	made := key{quoted: append(otlp.AppendQuoted(append(dst, ','), raw), ':')}
	for i := range k.columns {
		if k.columns[i].Key == string(raw) {
			made.column = int32(i + 1)
		}
	}
	return made
}
