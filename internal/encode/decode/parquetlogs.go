package decode

import (
	pq "github.com/parquet-go/parquet-go"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/partition"
)

// parquetLogs is the log records of a Parquet object. Its fields but for the
// first are numbers of leaves.
type parquetLogs struct {
	*parquetRows

	time, observed, severity, severityText, eventName, body, bodyType int
	traceID, spanID, flags, dropped                                   int
	attrs                                                             parquetMap

	scopeName, scopeVersion, scopeDropped, scopeSchema int
	scopeAttrs                                         parquetMap
	scopeLeaves                                        []int

	resourceDropped, resourceSchema int
	resourceAttrs                   parquetMap
	resourceLeaves                  []int
}

// openParquetLogs opens an object and finds its columns.
func openParquetLogs(o Object) (*parquetLogs, error) {
	rows, columns, err := openParquet(o, partition.Logs)
	if err != nil {
		return nil, err
	}
	p := &parquetLogs{parquetRows: rows}
	if err := p.find(); err != nil {
		return nil, err
	}
	for _, c := range columns {
		to, key := &p.attrs, c.Attribute
		switch {
		case c.ScopeAttribute != "":
			to, key = &p.scopeAttrs, c.ScopeAttribute
		case c.ResourceAttribute != "":
			to, key = &p.resourceAttrs, c.ResourceAttribute
		}
		if err := rows.promote(to, key, c); err != nil {
			return nil, err
		}
	}
	p.scopeLeaves = append(p.scopeAttrs.leaves(), p.scopeName, p.scopeVersion, p.scopeDropped, p.scopeSchema)
	p.resourceLeaves = append(p.resourceAttrs.leaves(), p.resourceDropped, p.resourceSchema)
	return p, p.complete()
}

func (p *parquetLogs) find() (err error) {
	for name, to := range map[string]*int{
		"severity_text": &p.severityText, "event_name": &p.eventName, "body": &p.body, "body_type": &p.bodyType,
		"trace_id": &p.traceID, "span_id": &p.spanID, "scope_name": &p.scopeName, "scope_version": &p.scopeVersion,
		"scope_schema_url": &p.scopeSchema, "resource_schema_url": &p.resourceSchema,
	} {
		if *to, err = p.leaf([]pq.Kind{pq.ByteArray}, name); err != nil {
			return err
		}
	}
	for name, to := range map[string]*int{
		"time_unix_nano": &p.time, "observed_time_unix_nano": &p.observed, "severity_number": &p.severity,
		"flags": &p.flags, "dropped_attributes_count": &p.dropped,
		"scope_dropped_attributes_count": &p.scopeDropped, "resource_dropped_attributes_count": &p.resourceDropped,
	} {
		if *to, err = p.leaf([]pq.Kind{pq.Int64, pq.Int32}, name); err != nil {
			return err
		}
	}
	for name, to := range map[string]*parquetMap{
		"attributes": &p.attrs, "scope_attributes": &p.scopeAttrs, "resource_attributes": &p.resourceAttrs,
	} {
		if *to, err = p.mapColumns(name); err != nil {
			return err
		}
	}
	return nil
}

// complete tells whether every column of the object is one that is read, or
// follows from those.
func (p *parquetLogs) complete() error {
	known := map[int]bool{}
	for _, leaf := range append(p.attrs.leaves(), p.time, p.observed, p.severity, p.severityText, p.eventName, p.body,
		p.bodyType, p.traceID, p.spanID, p.flags, p.dropped) {
		known[leaf] = true
	}
	for _, leaf := range append(p.scopeLeaves, p.resourceLeaves...) {
		known[leaf] = true
	}
	for i, path := range p.file.Schema().Columns() {
		switch path[0] {
		case "ts", "received_at", "service_name":
		default:
			if !known[i] {
				return malformed("column %q is not known: what it holds would be lost", path[0])
			}
		}
	}
	return nil
}

func (p *parquetLogs) appendResource(dst []byte) []byte { return p.appendCells(dst, p.resourceLeaves) }
func (p *parquetLogs) appendScope(dst []byte) []byte    { return p.appendCells(dst, p.scopeLeaves) }

func (p *parquetLogs) resource(rl plog.ResourceLogs) error {
	rl.SetSchemaUrl(p.text(p.resourceSchema))
	rl.Resource().SetDroppedAttributesCount(uint32(p.number(p.resourceDropped)))
	return p.attributes(rl.Resource().Attributes(), &p.resourceAttrs)
}

func (p *parquetLogs) scope(sl plog.ScopeLogs) error {
	sl.SetSchemaUrl(p.text(p.scopeSchema))
	sl.Scope().SetName(p.text(p.scopeName))
	sl.Scope().SetVersion(p.text(p.scopeVersion))
	sl.Scope().SetDroppedAttributesCount(uint32(p.number(p.scopeDropped)))
	return p.attributes(sl.Scope().Attributes(), &p.scopeAttrs)
}

func (p *parquetLogs) record(lr plog.LogRecord) error {
	lr.SetTimestamp(pcommon.Timestamp(p.number(p.time)))
	lr.SetObservedTimestamp(pcommon.Timestamp(p.number(p.observed)))
	lr.SetSeverityNumber(plog.SeverityNumber(p.number(p.severity)))
	lr.SetSeverityText(p.text(p.severityText))
	lr.SetEventName(p.text(p.eventName))
	lr.SetFlags(plog.LogRecordFlags(p.number(p.flags)))
	lr.SetDroppedAttributesCount(uint32(p.number(p.dropped)))
	var trace pcommon.TraceID
	var span pcommon.SpanID
	if err := setID(trace[:], p.text(p.traceID)); err != nil {
		return err
	}
	if err := setID(span[:], p.text(p.spanID)); err != nil {
		return err
	}
	lr.SetTraceID(trace)
	lr.SetSpanID(span)
	kind := p.text(p.bodyType)
	if len(kind) != 1 {
		return malformed("the body has the type %q", short(kind))
	}
	if err := setText(lr.Body(), otlp.Kind(kind[0]), p.text(p.body)); err != nil {
		return err
	}
	return p.attributes(lr.Attributes(), &p.attrs)
}
