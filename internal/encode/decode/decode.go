package decode

import (
	"errors"
	"fmt"
	"io"
	"math"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/s3window/s3window/internal/encode"
)

// ErrMalformed is what errors about an object's content wrap. Errors of
// reading it do not.
var ErrMalformed = errors.New("malformed object")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrMalformed, fmt.Errorf(format, args...))
}

// Object is a data object.
type Object struct {
	Content io.ReaderAt
	Size    int64
	Ext     string // parquet, jsonl, jsonl.gz, jsonl.zst
	Schema  int    // as its manifest says; 0 = not known
}

// Logs returns the log records of an object.
func Logs(o Object) (plog.Logs, error) {
	all := plog.NewLogs()
	err := EachLogs(o, math.MaxInt, func(part plog.Logs) error {
		part.ResourceLogs().MoveAndAppendTo(all.ResourceLogs())
		return nil
	})
	return all, err
}

// EachLogs visits the log records of an object in parts whose size as OTLP is
// at most limit bytes, unless a single record is larger. An error of visit ends
// it and is returned as it is. Memory is bounded by a part, by a row group's
// pages and by the longest line.
func EachLogs(o Object, limit int, visit func(plog.Logs) error) error {
	if o.Schema > encode.SchemaVersion() {
		return fmt.Errorf("decode: the object has schema %d, this version knows up to %d", o.Schema, encode.SchemaVersion())
	}
	src, err := openLogs(o)
	if err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	defer src.close()
	b := logsBuilder{src: src, limit: limit, visit: visit}
	for {
		more, err := src.next()
		if err != nil {
			return fmt.Errorf("decode record %d: %w", b.records, err)
		}
		if !more {
			return b.emit()
		}
		if err := b.add(); err != nil {
			return err
		}
	}
}

const extParquet = "parquet"

func openLogs(o Object) (logSource, error) {
	if o.Ext == extParquet {
		return openParquetLogs(o)
	}
	return openLineLogs(o)
}

// logSource is the rows of an object, one at a time.
type logSource interface {
	next() (bool, error)
	// appendResource and appendScope append what tells the row's resource and
	// scope apart from others.
	appendResource(dst []byte) []byte
	appendScope(dst []byte) []byte
	resource(plog.ResourceLogs) error
	scope(plog.ScopeLogs) error
	record(plog.LogRecord) error
	close()
}
