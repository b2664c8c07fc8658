package source

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/s3window/s3window/icebergsync/internal/table"
)

// statistics sums up the statistics of a file's top-level columns over its row
// groups. Parquet's plain form of a value is Iceberg's binary form of it, for all
// types that lakes have.
func statistics(footer *metadata.FileMetaData) []table.Stats {
	var out []table.Stats
	for i := range footer.Schema.NumColumns() {
		c := footer.Schema.Column(i)
		if len(c.ColumnPath()) != 1 {
			continue
		}
		s := table.Stats{Column: c.Name()}
		bounded := true
		for g := range footer.NumRowGroups() {
			chunk, err := footer.RowGroup(g).ColumnChunk(i)
			if err != nil {
				return nil
			}
			bounded = add(&s, chunk, c.PhysicalType()) && bounded
		}
		if !bounded {
			s.Lower, s.Upper = nil, nil
		}
		out = append(out, s)
	}
	return out
}

// add takes one chunk into account. It returns false if the chunk has values and
// does not say between which bounds.
func add(s *table.Stats, chunk *metadata.ColumnChunkMetaData, of parquet.Type) bool {
	s.Values += chunk.NumValues()
	s.Size += chunk.TotalCompressedSize()
	is, err := chunk.Statistics()
	if err != nil || is == nil || !is.HasNullCount() {
		s.Nulls = math.MinInt64 // stays below 0: unknown
		return false
	}
	s.Nulls += is.NullCount()
	if is.NullCount() == chunk.NumValues() {
		return true // nothing to bound
	}
	if !is.HasMinMax() {
		return false
	}
	lower, upper := is.EncodeMin(), is.EncodeMax()
	if s.Lower == nil || less(lower, s.Lower, of) {
		s.Lower = bytes.Clone(lower)
	}
	if s.Upper == nil || less(s.Upper, upper, of) {
		s.Upper = bytes.Clone(upper)
	}
	return true
}

// less compares two values in Parquet's plain form.
func less(a, b []byte, of parquet.Type) bool {
	switch {
	case of == parquet.Types.Int64 && len(a) == 8 && len(b) == 8:
		return int64(binary.LittleEndian.Uint64(a)) < int64(binary.LittleEndian.Uint64(b))
	case of == parquet.Types.Int32 && len(a) == 4 && len(b) == 4:
		return int32(binary.LittleEndian.Uint32(a)) < int32(binary.LittleEndian.Uint32(b))
	case of == parquet.Types.Double && len(a) == 8 && len(b) == 8:
		return math.Float64frombits(binary.LittleEndian.Uint64(a)) < math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return bytes.Compare(a, b) < 0
}
