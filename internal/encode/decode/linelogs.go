package decode

import (
	"errors"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// The fields of a log record's line that say anything of their own.
const (
	lineTime = iota
	lineObserved
	lineSeverity
	lineSeverityText
	lineEventName
	lineBody
	lineBodyType
	lineTraceID
	lineSpanID
	lineFlags
	lineAttributes
	lineTypes
	lineDropped
	lineScopeName
	lineScopeVersion
	lineScopeAttributes
	lineScopeTypes
	lineScopeDropped
	lineScopeSchema
	lineResourceAttributes
	lineResourceTypes
	lineResourceDropped
	lineResourceSchema
)

func logFields() []string {
	return []string{
		"time_unix_nano", "observed_time_unix_nano", "severity_number", "severity_text", "event_name", "body", "body_type",
		"trace_id", "span_id", "flags", "attributes", "attributes_types", "dropped_attributes_count",
		"scope_name", "scope_version", "scope_attributes", "scope_attributes_types", "scope_dropped_attributes_count",
		"scope_schema_url",
		"resource_attributes", "resource_attributes_types", "resource_dropped_attributes_count", "resource_schema_url",
	}
}

// lineLogs is the log records of a JSONL object.
type lineLogs struct{ *lineReader }

func openLineLogs(o Object) (*lineLogs, error) {
	l, err := openLines(o, logFields())
	if err != nil {
		return nil, err
	}
	return &lineLogs{l}, nil
}

func (l *lineLogs) appendResource(dst []byte) []byte {
	return l.appendRaw(dst, lineResourceAttributes, lineResourceSchema)
}

func (l *lineLogs) appendScope(dst []byte) []byte {
	return l.appendRaw(dst, lineScopeName, lineScopeSchema)
}

// appendRaw appends fields as they stand; no JSON is a prefix of another one
// with a comma behind it.
func (l *lineLogs) appendRaw(dst []byte, first, last int) []byte {
	for n := first; n <= last; n++ {
		dst = append(append(dst, l.raw(n)...), ',')
	}
	return dst
}

// reader gathers the errors of reading one thing.
type reader struct {
	l    *lineReader
	errs []error
}

func (r *reader) text(n int) string {
	s, err := r.l.text(n)
	r.check(err)
	return s
}

func (r *reader) int(n int) int64 {
	x, err := r.l.int(n)
	r.check(err)
	return x
}

func (r *reader) check(err error) {
	if err != nil {
		r.errs = append(r.errs, err)
	}
}

func (l *lineLogs) resource(rl plog.ResourceLogs) error {
	r := reader{l: l.lineReader}
	rl.SetSchemaUrl(r.text(lineResourceSchema))
	rl.Resource().SetDroppedAttributesCount(uint32(r.int(lineResourceDropped)))
	r.check(l.attributes(rl.Resource().Attributes(), lineResourceAttributes, lineResourceTypes))
	return errors.Join(r.errs...)
}

func (l *lineLogs) scope(sl plog.ScopeLogs) error {
	r := reader{l: l.lineReader}
	sl.SetSchemaUrl(r.text(lineScopeSchema))
	sl.Scope().SetName(r.text(lineScopeName))
	sl.Scope().SetVersion(r.text(lineScopeVersion))
	sl.Scope().SetDroppedAttributesCount(uint32(r.int(lineScopeDropped)))
	r.check(l.attributes(sl.Scope().Attributes(), lineScopeAttributes, lineScopeTypes))
	return errors.Join(r.errs...)
}

func (l *lineLogs) record(lr plog.LogRecord) error {
	r := reader{l: l.lineReader}
	lr.SetTimestamp(pcommon.Timestamp(r.int(lineTime)))
	lr.SetObservedTimestamp(pcommon.Timestamp(r.int(lineObserved)))
	lr.SetSeverityNumber(plog.SeverityNumber(r.int(lineSeverity)))
	lr.SetSeverityText(r.text(lineSeverityText))
	lr.SetEventName(r.text(lineEventName))
	lr.SetFlags(plog.LogRecordFlags(r.int(lineFlags)))
	lr.SetDroppedAttributesCount(uint32(r.int(lineDropped)))
	var trace pcommon.TraceID
	var span pcommon.SpanID
	r.check(setID(trace[:], r.text(lineTraceID)))
	r.check(setID(span[:], r.text(lineSpanID)))
	lr.SetTraceID(trace)
	lr.SetSpanID(span)
	r.check(l.value(lr.Body(), lineBody, lineBodyType))
	r.check(l.attributes(lr.Attributes(), lineAttributes, lineTypes))
	return errors.Join(r.errs...)
}
