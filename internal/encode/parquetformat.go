package encode

import (
	"encoding/json"
	"fmt"
	"strconv"

	pqformat "github.com/parquet-go/parquet-go/format"

	"github.com/s3window/s3window/internal/encode/idle"
	"github.com/s3window/s3window/internal/encode/parquet"
	"github.com/s3window/s3window/internal/encode/schema"
)

// Version is what manifests say a Parquet object was encoded with.
const Version = "s3window/0.1.0 parquet-go/0.32.0"

// createdBy is the footer's created_by, in the form that readers parse.
const createdBy = "s3window version 0.1.0"

// ColumnsKey is the footer's key of the Columns that an object was encoded
// with, as JSON: without them nobody could tell where a promoted value belongs.
const ColumnsKey = "s3window.columns"

// parquetFormat makes Parquet files.
type parquetFormat struct {
	spec   Spec
	schema parquet.Schema
	keeper *idle.Keeper // of stagers
}

func newParquetFormat(spec Spec, keeper *idle.Keeper) (format, error) {
	s, err := newStager(spec)
	if err != nil {
		return nil, err
	}
	return &parquetFormat{spec: spec, schema: s.table.Schema("service_name"), keeper: keeper}, nil
}

func (f *parquetFormat) Ext() string         { return "parquet" }
func (f *parquetFormat) ContentType() string { return "application/vnd.apache.parquet" }
func (f *parquetFormat) Version() string     { return Version }

// Stage implements format. The records of a row group are clustered by service.
func (f *parquetFormat) Stage(entries []Entry) (out Staged, err error) {
	err = f.with(func(s *stager) (err error) {
		out, err = s.stage(entries)
		return err
	})
	return out, err
}

func (f *parquetFormat) Check(entries []Entry) error {
	return f.with(func(s *stager) error { return s.check(entries) })
}

// with calls do with a stager. One in which it panicked is not used again.
func (f *parquetFormat) with(do func(*stager) error) error {
	memory, ok := f.keeper.Take(f)
	defer f.keeper.Done()
	s, _ := memory.(*stager)
	if !ok {
		var err error
		if s, err = newStager(f.spec); err != nil {
			return err
		}
	}
	err := do(s)
	if s.held() <= ScratchBytes {
		f.keeper.Give(f, s)
	}
	return err
}

func (f *parquetFormat) Join(of owner, content content) ([][]byte, error) {
	meta := parquet.Meta{CreatedBy: createdBy, Constants: []string{of.Tenant}, KeyValues: []pqformat.KeyValue{
		{Key: "s3window.tenant", Value: of.Tenant},
		{Key: "s3window.signal", Value: string(of.Signal)},
		{Key: "s3window.schema", Value: strconv.Itoa(schema.Version)},
		{Key: "s3window.writer", Value: of.writer},
	}}
	if len(f.spec.Columns) > 0 {
		columns, err := json.Marshal(f.spec.Columns)
		if err != nil {
			return nil, fmt.Errorf("write down columns: %w", err)
		}
		meta.KeyValues = append(meta.KeyValues, pqformat.KeyValue{Key: ColumnsKey, Value: string(columns)})
	}
	return f.schema.Assemble(meta, content.groups), nil
}
