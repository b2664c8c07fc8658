package wal

import (
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares bytes with testdata/name, 16 a line. A difference is a
// change of the format: existing queues are not read any more.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	text := hex.Dump(got)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text)
}

func sampleFrame(seq uint64) []byte {
	r := Record{Tenant: "acme", Signal: "logs", Items: 3, Payload: []byte("payload of it")}
	f := newFrame(&r, true)
	p := place{writer: "q7m2abcdefghi", stamp: 1791009458377856, segment: 9, first: 40, entries: 4}
	p.complete(f, seq)
	return f
}

func TestFormatsAreGolden(t *testing.T) {
	golden(t, "frame.v1.hex", sampleFrame(0x2a))
	m := mark{seqs: span{0x20, 0x2b}, stamp: 1791009458377856, segment: 9, seals: span{3, 5}, writers: span{1, 2}, asides: span{7, 8}}
	golden(t, "mark.v1.hex", m.encode())
	golden(t, "seal.v1.hex", encodeSeal(4, 1, []byte(`{"start":1}`)))
	golden(t, "writer.v1.hex", encodeWriter(2, "q7m2abcdefghi", []byte("info")))
	golden(t, "aside.v1.hex", encodeAside(7, 0x2a, "not a frame", []byte("raw")))
	require.Equal(t, "l000000000000002a", numbered(entryPrefix, 0x2a))
	require.Equal(t, "l000000000000002ac", spacerKey(0x2a, 2))
}

func TestFormatsReadBackWhatWasWritten(t *testing.T) {
	w := newWAL(Options{})
	e, damage := w.inspect(0x2a, sampleFrame(0x2a), nil)
	require.Nil(t, damage)
	require.Equal(t, Entry{Seq: 0x2a, Writer: "q7m2abcdefghi", Stamp: 1791009458377856, Segment: 9,
		Tenant: "acme", Signal: "logs", Items: 3, Payload: []byte("payload of it")}, e)
	m := mark{seqs: span{1, 2}, stamp: -5, segment: 9, seals: span{3, 5}, writers: span{1, 2}, asides: span{7, 8}}
	got, err := decodeMark(m.encode())
	require.NoError(t, err)
	require.Equal(t, m, got)
	seal, err := decodeSeal(encodeSeal(4, 1, []byte("v")), 4)
	require.NoError(t, err)
	require.Equal(t, sealRecord{value: []byte("v"), lowWriter: 1}, seal)
	aside, err := decodeAside(encodeAside(7, 42, strings.Repeat("r", 70000), []byte("raw")))
	require.NoError(t, err)
	require.Equal(t, Aside{Seq: 42, Reason: strings.Repeat("r", 65535), Raw: []byte("raw")}, aside)
	id, info, err := decodeWriter(encodeWriter(2, "q7m2abcdefghi", nil), 2)
	require.NoError(t, err)
	require.Equal(t, "q7m2abcdefghi", id)
	require.Empty(t, info)
}

// Every single byte of a frame or record that is changed, and every length it
// is cut to, is noticed.
func TestEveryChangedByteIsNoticed(t *testing.T) {
	w := newWAL(Options{})
	m := mark{seqs: span{1, 2}}
	for name, c := range map[string]struct {
		whole []byte
		good  func([]byte) bool
	}{
		"frame": {sampleFrame(0x2a), func(b []byte) bool { _, d := w.inspect(0x2a, b, nil); return d == nil }},
		"mark":  {m.encode(), func(b []byte) bool { _, err := decodeMark(b); return err == nil }},
		"seal":  {encodeSeal(4, 1, []byte("v")), func(b []byte) bool { _, err := decodeSeal(b, 4); return err == nil }},
		"writer": {encodeWriter(2, "q7m2abcdefghi", []byte("i")), func(b []byte) bool {
			_, _, err := decodeWriter(b, 2)
			return err == nil
		}},
		"aside": {encodeAside(7, 42, "r", []byte("raw")), func(b []byte) bool { _, err := decodeAside(b); return err == nil }},
	} {
		t.Run(name, func(t *testing.T) {
			require.True(t, c.good(c.whole))
			for i := range c.whole {
				for _, flip := range []byte{0x01, 0x80, 0xff} {
					b := append([]byte{}, c.whole...)
					b[i] ^= flip
					require.False(t, c.good(b), "byte %d", i)
				}
				require.False(t, c.good(c.whole[:i]), "cut to %d", i)
			}
			require.False(t, c.good(append(append([]byte{}, c.whole...), 0)), "one byte more")
		})
	}
	_, d := w.inspect(0x2b, sampleFrame(0x2a), nil)
	require.Contains(t, d.Reason, "is the one of entry 42", "a frame under another's key")
	_, d = w.inspect(0x50, sampleFrame(0x50), nil)
	require.Contains(t, d.Reason, "outside its group")
}

func TestKeysParseOnlyWhatIsWritten(t *testing.T) {
	for key, want := range map[string]struct {
		n      uint64
		spacer bool
		ok     bool
	}{
		"l000000000000002a":  {42, false, true},
		"l000000000000002ad": {42, true, true},
		"f000000000000002a":  {42, false, true},
		"l000000000000002A":  {},
		"l00000000000002a":   {},
		"l000000000000002ae": {},
		"f000000000000002aa": {},
		"l+00000000000002a":  {},
		"12345678901234567":  {0x2345678901234567, false, true}, // a stock key of 17 digits: the prefix tells
		"~":                  {}, "qmv0": {}, "": {},
	} {
		n, spacer, ok := parseNumbered(key)
		require.Equal(t, want, struct {
			n      uint64
			spacer bool
			ok     bool
		}{n, spacer, ok}, key)
	}
}

func FuzzFrame(f *testing.F) {
	f.Add(uint64(0x2a), sampleFrame(0x2a))
	f.Add(uint64(1), []byte(frameMagic))
	f.Add(uint64(0), make([]byte, 200))
	w := newWAL(Options{})
	f.Fuzz(func(t *testing.T, seq uint64, raw []byte) {
		e, damage := w.inspect(seq, raw, nil)
		if damage != nil {
			require.NotEmpty(t, damage.Reason)
			return
		}
		rec := Record{Tenant: e.Tenant, Signal: e.Signal, Items: e.Items, Payload: e.Payload}
		h, err := parseHeader(raw, seq)
		require.NoError(t, err)
		again := newFrame(&rec, h.requestStart)
		p := place{writer: e.Writer, stamp: e.Stamp, segment: e.Segment, first: h.groupFirst, entries: h.groupLen}
		p.complete(again, seq)
		require.Equal(t, raw, again, "what is accepted is what would be written")
	})
}

func FuzzRecords(f *testing.F) {
	m := mark{seqs: span{1, 2}}
	f.Add(m.encode())
	f.Add(encodeSeal(1, 1, []byte("v")))
	f.Add(encodeWriter(1, "q7m2abcdefghi", nil))
	f.Add(encodeAside(1, 42, "r", []byte("raw")))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if m, err := decodeMark(raw); err == nil {
			require.Equal(t, raw, m.encode())
		}
		if s, err := decodeSeal(raw, 1); err == nil {
			require.Equal(t, raw, encodeSeal(1, s.lowWriter, s.value))
		}
		if id, info, err := decodeWriter(raw, 1); err == nil {
			require.Equal(t, raw, encodeWriter(1, id, info))
		}
		_, _ = decodeAside(raw)
	})
}
