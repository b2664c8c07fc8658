package verify

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	parquetMagic = "PAR1"
	tailBytes    = 256 << 10 // of an object, kept while it is read: most footers fit
	maxFooter    = 256 << 20
)

// readParquet reads a Parquet file to its end and takes the facts from its
// footer. Data pages are not decoded: their bytes are what the hash covers.
func readParquet(s *source, reopen func(off int64) (io.ReadCloser, error)) (facts, error) {
	head := make([]byte, len(parquetMagic))
	n, err := io.ReadFull(s, head)
	if err != nil && s.err != nil {
		return facts{}, err
	}
	size, end, err := tail(s)
	if err != nil {
		return facts{}, err
	}
	size += int64(n)
	if string(head) != parquetMagic || len(end) < 8 || string(end[len(end)-4:]) != parquetMagic {
		return facts{bad: "it does not begin and end with " + parquetMagic}, nil
	}
	length := int64(binary.LittleEndian.Uint32(end[len(end)-8:]))
	if length > size-12 || length > maxFooter {
		return facts{bad: fmt.Sprintf("its footer of %d bytes does not fit into it", length)}, nil
	}
	if length <= int64(len(end)-8) {
		return footerFacts(end[int64(len(end)-8)-length : len(end)-8]), nil
	}
	r, err := reopen(size - 8 - length)
	if err != nil {
		return facts{}, err
	}
	defer r.Close()
	footer := make([]byte, length)
	if _, err := io.ReadFull(r, footer); err != nil {
		return facts{}, err
	}
	return footerFacts(footer), nil
}

// tail reads r to its end and returns how much that was, and the last
// tailBytes or more of it.
func tail(r io.Reader) (int64, []byte, error) {
	buf := make([]byte, 0, 2*tailBytes)
	var size int64
	for {
		if len(buf) == cap(buf) {
			buf = buf[:copy(buf, buf[len(buf)-tailBytes:])]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		size += int64(n)
		buf = buf[:len(buf)+n]
		if errors.Is(err, io.EOF) {
			return size, buf, nil
		}
		if err != nil {
			return size, nil, err
		}
	}
}

func footerFacts(footer []byte) facts {
	var meta format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), footer, &meta); err != nil {
		return facts{bad: "its footer does not decode: " + err.Error()}
	}
	f := facts{rows: meta.NumRows}
	for _, kv := range meta.KeyValueMetadata {
		switch kv.Key {
		case "s3window.tenant":
			f.tenant = kv.Value
		case "s3window.signal":
			f.signal = kv.Value
		case "s3window.writer":
			f.writer = kv.Value
		}
	}
	var rows int64
	for _, g := range meta.RowGroups {
		rows += g.NumRows
		for _, c := range g.Columns {
			f.received(c.MetaData)
		}
	}
	if rows != meta.NumRows {
		f.bad = fmt.Sprintf("its footer says %d rows, its row groups hold %d", meta.NumRows, rows)
	}
	return f
}

// received widens the bounds by the statistics of a chunk of received_at.
func (f *facts) received(c format.ColumnMetaData) {
	lo, hi := c.Statistics.MinValue, c.Statistics.MaxValue
	if strings.Join(c.PathInSchema, ".") != "received_at" || c.Type != format.Int64 || len(lo) != 8 || len(hi) != 8 {
		return
	}
	f.widen(int64(binary.LittleEndian.Uint64(lo)), int64(binary.LittleEndian.Uint64(hi)))
}

// widen widens the bounds of when records were received.
func (f *facts) widen(from, to int64) {
	if !f.bounded {
		f.bounded, f.minReceived, f.maxReceived = true, from, to
		return
	}
	f.minReceived, f.maxReceived = min(f.minReceived, from), max(f.maxReceived, to)
}
