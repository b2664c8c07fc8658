package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// Every value but an entry's is a record: magic, version, CRC-32C, body.
const (
	markMagic   = "s3wm"
	sealMagic   = "s3ws"
	writerMagic = "s3wi"
	asideMagic  = "s3wa"

	recordCRC  = 8
	recordBody = 12
	markSize   = recordBody + 10*8
)

// ErrFormat says that the storage was written by another version of this
// format. Nothing is changed then: that version still opens it.
var ErrFormat = errors.New("unknown format version")

var errDamaged = errors.New("record is damaged")

// newRecord starts a record; append its body, then call closeRecord.
func newRecord(magic string, bodySize int) []byte {
	r := make([]byte, recordBody, recordBody+bodySize)
	copy(r, magic)
	r[4] = formatVersion
	return r
}

func closeRecord(r []byte) []byte {
	binary.LittleEndian.PutUint32(r[recordCRC:], recordSum(r))
	return r
}

func recordSum(r []byte) uint32 {
	c := crc32.Update(0, castagnoli, r[:recordCRC])
	return crc32.Update(c, castagnoli, r[recordBody:])
}

// openRecord checks a record and gives its body, which has at least minBody
// bytes. The version is judged before the CRC, since a later format may keep
// its CRC elsewhere.
func openRecord(magic string, r []byte, minBody int) ([]byte, error) {
	if len(r) < recordBody || string(r[:4]) != magic {
		return nil, errDamaged
	}
	if r[4] != formatVersion {
		return nil, fmt.Errorf("%w %d", ErrFormat, r[4])
	}
	if len(r) < recordBody+minBody || recordSum(r) != binary.LittleEndian.Uint32(r[recordCRC:]) {
		return nil, errDamaged
	}
	return r[recordBody:], nil
}

// span is a range of numbers: low is the lowest that may be in use, next the
// first that was never given out.
type span struct{ low, next uint64 }

// mark is the record that rides in every group.
type mark struct {
	seqs    span
	stamp   int64  // the last stamp given out
	segment uint64 // the segment of the last group
	seals   span
	writers span
	asides  span
}

func (m *mark) encode() []byte {
	le, r := binary.LittleEndian, newRecord(markMagic, markSize-recordBody)
	r = le.AppendUint64(r, m.seqs.low)
	r = le.AppendUint64(r, m.seqs.next)
	r = le.AppendUint64(r, uint64(m.stamp))
	r = le.AppendUint64(r, m.segment)
	for _, s := range []span{m.seals, m.writers, m.asides} {
		r = le.AppendUint64(r, s.low)
		r = le.AppendUint64(r, s.next)
	}
	return closeRecord(r)
}

func decodeMark(r []byte) (mark, error) {
	b, err := openRecord(markMagic, r, markSize-recordBody)
	if err != nil {
		return mark{}, err
	}
	if len(r) != markSize {
		return mark{}, errDamaged
	}
	at := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	m := mark{
		seqs: span{at(0), at(1)}, stamp: int64(at(2)), segment: at(3),
		seals: span{at(4), at(5)}, writers: span{at(6), at(7)}, asides: span{at(8), at(9)},
	}
	for _, s := range []span{m.seqs, m.seals, m.writers, m.asides} {
		if s.low > s.next {
			return mark{}, errDamaged
		}
	}
	return m, nil
}

func encodeSeal(id, lowWriter uint64, value []byte) []byte {
	r := newRecord(sealMagic, 16+len(value))
	r = binary.LittleEndian.AppendUint64(r, id)
	r = binary.LittleEndian.AppendUint64(r, lowWriter)
	return closeRecord(append(r, value...))
}

// decodeSeal gives a copy of the value.
func decodeSeal(r []byte, id uint64) (sealRecord, error) {
	b, err := openRecord(sealMagic, r, 16)
	if err != nil {
		return sealRecord{}, err
	}
	if binary.LittleEndian.Uint64(b) != id {
		return sealRecord{}, errDamaged
	}
	return sealRecord{lowWriter: binary.LittleEndian.Uint64(b[8:]), value: append([]byte(nil), b[16:]...)}, nil
}

func encodeWriter(number uint64, id string, info []byte) []byte {
	r := newRecord(writerMagic, 8+writerLen+len(info))
	r = binary.LittleEndian.AppendUint64(r, number)
	r = append(r, id...)
	return closeRecord(append(r, info...))
}

// decodeWriter gives a copy of the info.
func decodeWriter(r []byte, number uint64) (id string, info []byte, err error) {
	b, err := openRecord(writerMagic, r, 8+writerLen)
	if err != nil {
		return "", nil, err
	}
	if binary.LittleEndian.Uint64(b) != number {
		return "", nil, errDamaged
	}
	return string(b[8 : 8+writerLen]), append([]byte(nil), b[8+writerLen:]...), nil
}

func encodeAside(number, seq uint64, reason string, raw []byte) []byte {
	reason = reason[:min(len(reason), math.MaxUint16)]
	le, r := binary.LittleEndian, newRecord(asideMagic, 18+len(reason)+len(raw))
	r = le.AppendUint64(r, number)
	r = le.AppendUint64(r, seq)
	r = le.AppendUint16(r, uint16(len(reason)))
	r = append(r, reason...)
	return closeRecord(append(r, raw...))
}

func decodeAside(r []byte) (Aside, error) {
	b, err := openRecord(asideMagic, r, 18)
	if err != nil {
		return Aside{}, err
	}
	n := int(binary.LittleEndian.Uint16(b[16:]))
	if len(b) < 18+n {
		return Aside{}, errDamaged
	}
	return Aside{Seq: binary.LittleEndian.Uint64(b[8:]), Reason: string(b[18 : 18+n]), Raw: b[18+n:]}, nil
}
