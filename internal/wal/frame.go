package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// The frame of an entry; DESIGN.md describes it byte by byte.
const (
	frameMagic    = "s3we"
	formatVersion = 1

	frameHeaderCRC  = 8
	framePayloadCRC = 12
	framePayloadLen = 16
	frameItems      = 20
	frameSeq        = 24
	frameStamp      = 32
	frameSegment    = 40
	frameGroupFirst = 48
	frameGroupLen   = 56
	frameWriter     = 60
	frameSignalLen  = 73
	frameTenantLen  = 74
	frameNames      = 76

	flagRequestStart = 1 // the first entry of its request

	writerLen = 13
	maxSignal = math.MaxUint8
	maxTenant = math.MaxUint16 - frameNames - maxSignal
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frameSize is the length of the frame that holds rec.
func frameSize(rec *Record) int64 {
	return int64(frameNames + len(rec.Signal) + len(rec.Tenant) + len(rec.Payload))
}

// newFrame builds the part of rec's frame that does not depend on its place in
// the queue, and copies the payload into it. place completes it.
func newFrame(rec *Record, requestStart bool) []byte {
	head := frameNames + len(rec.Signal) + len(rec.Tenant)
	f := make([]byte, head+len(rec.Payload))
	copy(f, frameMagic)
	f[4] = formatVersion
	if requestStart {
		f[5] = flagRequestStart
	}
	le := binary.LittleEndian
	le.PutUint16(f[6:], uint16(head))
	le.PutUint32(f[framePayloadLen:], uint32(len(rec.Payload)))
	le.PutUint32(f[frameItems:], uint32(rec.Items))
	f[frameSignalLen] = byte(len(rec.Signal))
	le.PutUint16(f[frameTenantLen:], uint16(len(rec.Tenant)))
	copy(f[frameNames:], rec.Signal)
	copy(f[frameNames+len(rec.Signal):], rec.Tenant)
	copy(f[head:], rec.Payload)
	le.PutUint32(f[framePayloadCRC:], crc32.Checksum(rec.Payload, castagnoli))
	return f
}

// place is where a group stands in the queue.
type place struct {
	writer  string
	stamp   int64
	segment uint64
	first   uint64 // sequence number of the group's first entry
	entries int
}

// complete writes seq and p into the frame and closes it with the header's CRC.
func (p *place) complete(f []byte, seq uint64) {
	le := binary.LittleEndian
	le.PutUint64(f[frameSeq:], seq)
	le.PutUint64(f[frameStamp:], uint64(p.stamp))
	le.PutUint64(f[frameSegment:], p.segment)
	le.PutUint64(f[frameGroupFirst:], p.first)
	le.PutUint32(f[frameGroupLen:], uint32(p.entries))
	copy(f[frameWriter:], p.writer)
	le.PutUint32(f[frameHeaderCRC:], headerCRC(f[:le.Uint16(f[6:])]))
}

// headerCRC covers the header but the four bytes that hold the CRC itself.
func headerCRC(head []byte) uint32 {
	c := crc32.Update(0, castagnoli, head[:frameHeaderCRC])
	return crc32.Update(c, castagnoli, head[framePayloadCRC:])
}

// header is a frame's header. The byte slices alias the frame.
type header struct {
	requestStart   bool
	items          int
	seq            uint64
	stamp          int64
	segment        uint64
	groupFirst     uint64
	groupLen       int
	writer         []byte
	signal, tenant []byte
	size           int // of the header
	payloadLen     int
	payloadCRC     uint32
}

var (
	errFrameVersion = errors.New("unknown frame version")
	errPayload      = errors.New("payload does not match its CRC")
)

// parseHeader checks and reads the header of the frame stored under seq. It
// does not touch the payload, so that an index is built without reading it.
func parseHeader(f []byte, seq uint64) (header, error) {
	if len(f) < frameNames || string(f[:4]) != frameMagic {
		return header{}, errors.New("not a frame")
	}
	if f[4] != formatVersion {
		return header{}, fmt.Errorf("%w %d", errFrameVersion, f[4])
	}
	le := binary.LittleEndian
	h := header{size: int(le.Uint16(f[6:]))}
	if h.size < frameNames || h.size > len(f) {
		return header{}, errors.New("header is cut short")
	}
	if headerCRC(f[:h.size]) != le.Uint32(f[frameHeaderCRC:]) {
		return header{}, errors.New("header does not match its CRC")
	}
	signalLen, tenantLen := int(f[frameSignalLen]), int(le.Uint16(f[frameTenantLen:]))
	if h.size != frameNames+signalLen+tenantLen || f[5]&^flagRequestStart != 0 {
		return header{}, errors.New("header contradicts itself")
	}
	h.requestStart = f[5]&flagRequestStart != 0
	h.items = int(le.Uint32(f[frameItems:]))
	h.seq = le.Uint64(f[frameSeq:])
	h.stamp = int64(le.Uint64(f[frameStamp:]))
	h.segment = le.Uint64(f[frameSegment:])
	h.groupFirst = le.Uint64(f[frameGroupFirst:])
	h.groupLen = int(le.Uint32(f[frameGroupLen:]))
	h.writer = f[frameWriter:frameSignalLen]
	h.signal = f[frameNames : frameNames+signalLen]
	h.tenant = f[frameNames+signalLen : h.size]
	h.payloadLen = int(le.Uint32(f[framePayloadLen:]))
	h.payloadCRC = le.Uint32(f[framePayloadCRC:])
	return h, h.belongs(seq)
}

// belongs checks that the header was written for this key.
func (h *header) belongs(seq uint64) error {
	if h.seq != seq {
		return fmt.Errorf("frame is the one of entry %d", h.seq)
	}
	if seq < h.groupFirst || seq-h.groupFirst >= uint64(h.groupLen) {
		return errors.New("entry is outside its group")
	}
	return nil
}

// payload checks the payload against its length and CRC and gives it, aliasing f.
func (h *header) payload(f []byte) ([]byte, error) {
	p := f[h.size:]
	if len(p) != h.payloadLen {
		return nil, fmt.Errorf("payload has %d bytes instead of %d", len(p), h.payloadLen)
	}
	if crc32.Checksum(p, castagnoli) != h.payloadCRC {
		return nil, errPayload
	}
	return p, nil
}
