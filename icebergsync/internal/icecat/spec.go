package icecat

import (
	"fmt"

	"github.com/apache/iceberg-go"

	"github.com/s3window/s3window/icebergsync/internal/syncer"
	"github.com/s3window/s3window/icebergsync/internal/table"
)

const (
	firstPartitionID = 1000
	hour             = int64(3600_000_000) // microseconds
)

// shape is how files are partitioned.
type shape struct{ hourly bool }

// Windows never cross an hour of received time, unless the exporter aligns them
// to days or not at all: such stand under the tenant alone.
var (
	byHour   = shape{hourly: true}
	byTenant = shape{}
)

// shapeOf returns how a file is partitioned.
func shapeOf(f table.File) shape {
	return shape{hourly: f.Start/hour == (f.End-1)/hour}
}

// of makes the spec of a shape over a table's schema.
func (s shape) of(schema *iceberg.Schema, id int) (iceberg.PartitionSpec, error) {
	tenant, ok := schema.FindFieldByName(syncer.TenantColumn)
	if !ok {
		return iceberg.PartitionSpec{}, fmt.Errorf("there is no column %s to partition by", syncer.TenantColumn)
	}
	fields := []iceberg.PartitionField{{
		SourceIDs: []int{tenant.ID}, FieldID: firstPartitionID, Name: syncer.TenantColumn, Transform: iceberg.IdentityTransform{},
	}}
	if s.hourly {
		received, ok := schema.FindFieldByName(syncer.ReceivedColumn)
		if !ok {
			return iceberg.PartitionSpec{}, fmt.Errorf("there is no column %s to partition by", syncer.ReceivedColumn)
		}
		fields = append(fields, iceberg.PartitionField{
			SourceIDs: []int{received.ID}, FieldID: firstPartitionID + 1, Name: "received_hour", Transform: iceberg.HourTransform{},
		})
	}
	return iceberg.NewPartitionSpecID(id, fields...), nil
}

// in finds the spec of a shape among those that a table has, whichever is its
// default: an operator may have changed that.
func (s shape) in(specs []iceberg.PartitionSpec, schema *iceberg.Schema) (iceberg.PartitionSpec, bool) {
	want, err := s.of(schema, 0)
	if err != nil {
		return iceberg.PartitionSpec{}, false
	}
	for _, spec := range specs {
		if sameFields(spec, want) {
			return spec, true
		}
	}
	return iceberg.PartitionSpec{}, false
}

func sameFields(a, b iceberg.PartitionSpec) bool {
	if a.NumFields() != b.NumFields() {
		return false
	}
	for i := range a.NumFields() {
		x, y := a.Field(i), b.Field(i)
		if len(x.SourceIDs) != 1 || x.SourceIDs[0] != y.SourceIDs[0] || x.Transform.String() != y.Transform.String() {
			return false
		}
	}
	return true
}

// values are a file's values of a spec's fields, by their ids.
func (s shape) values(spec iceberg.PartitionSpec, f table.File) map[int]any {
	out := map[int]any{spec.Field(0).FieldID: f.Tenant}
	if s.hourly {
		out[spec.Field(1).FieldID] = int32(f.Start / hour)
	}
	return out
}
