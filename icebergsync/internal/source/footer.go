package source

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/s3window/s3window/icebergsync/internal/syncer"
	"github.com/s3window/s3window/internal/lake"
)

const (
	firstTail = 64 << 10 // most footers fit
	maxFooter = 64 << 20
	endBytes  = 8 // the footer's length and the magic
	magic     = "PAR1"
)

// tailer is a bucket that gives the end of an object in one request.
type tailer interface {
	Tail(ctx context.Context, key string, n int64) (tail []byte, size int64, err error)
}

// Contents reads what a Parquet object says of itself: one request, two where
// the footer is long. *syncer.Unreadable says that it is no Parquet file.
func (s *Source) Contents(ctx context.Context, o lake.Object) (syncer.Contents, error) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return syncer.Contents{}, ctx.Err()
	}
	tail, size, err := s.tail(ctx, o.Key, firstTail)
	if err != nil {
		return syncer.Contents{}, err
	}
	length, bad := footerLength(tail, size)
	if bad == "" && length+endBytes > int64(len(tail)) {
		if tail, size, err = s.tail(ctx, o.Key, length+endBytes); err != nil {
			return syncer.Contents{}, err
		}
		_, bad = footerLength(tail, size)
	}
	if bad != "" {
		return syncer.Contents{}, &syncer.Unreadable{Why: bad}
	}
	footer, err := decode(tail, size)
	if err != nil {
		return syncer.Contents{}, &syncer.Unreadable{Why: "its footer does not decode: " + err.Error()}
	}
	columns, err := s.schemas.of(footer)
	if err != nil {
		return syncer.Contents{}, &syncer.Unreadable{Why: "its columns are not read: " + err.Error()}
	}
	return syncer.Contents{Bytes: size, Records: footer.NumRows, Columns: columns, Stats: statistics(footer)}, nil
}

func (s *Source) tail(ctx context.Context, key string, n int64) ([]byte, int64, error) {
	if t, ok := s.lake.Bucket().(tailer); ok {
		return t.Tail(ctx, key, n)
	}
	r, _, err := s.lake.Bucket().Open(ctx, key)
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	all, err := io.ReadAll(r)
	return all[max(0, int64(len(all))-n):], int64(len(all)), err
}

// footerLength reads how long the footer is from the end of an object, or says
// why that is none.
func footerLength(tail []byte, size int64) (length int64, bad string) {
	if len(tail) < endBytes || string(tail[len(tail)-4:]) != magic {
		return 0, "it does not end as a Parquet file does"
	}
	length = int64(binary.LittleEndian.Uint32(tail[len(tail)-endBytes:]))
	if length > size-endBytes-int64(len(magic)) || length > maxFooter {
		return 0, fmt.Sprintf("its footer of %d bytes does not fit into it", length)
	}
	return length, ""
}

// decode reads the footer at the end of an object of a size. arrow-go panics on
// some footers that are damaged.
func decode(tail []byte, size int64) (m *metadata.FileMetaData, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	r, err := file.NewParquetReader(&end{tail: tail, size: size})
	if err != nil {
		return nil, err
	}
	return r.MetaData(), nil
}

// end is a file of which only the end can be read.
type end struct {
	tail []byte
	size int64
	pos  int64
}

// ReadAt implements io.ReaderAt.
func (e *end) ReadAt(p []byte, off int64) (int, error) {
	from := off - (e.size - int64(len(e.tail)))
	if from < 0 {
		return 0, fmt.Errorf("read at %d: only the last %d bytes are there", off, len(e.tail))
	}
	return bytes.NewReader(e.tail).ReadAt(p, from)
}

// Seek implements io.Seeker.
func (e *end) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += e.pos
	case io.SeekEnd:
		offset += e.size
	}
	e.pos = offset
	return offset, nil
}
