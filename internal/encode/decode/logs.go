package decode

import (
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/s3window/s3window/internal/partition"
)

// The fields of a log record.
const (
	logTime = ownFields + iota
	logObserved
	logSeverity
	logSeverityText
	logEventName
	logBody
	logTraceID
	logSpanID
	logFlags
	logAttributes
	logDropped
)

// logs makes requests of log records.
type logs struct {
	one, all plog.Logs
	sizer    plog.ProtoMarshaler
}

func (l *logs) schema() schema {
	return schema{
		signal: partition.Logs, attributes: logAttributes, derived: []string{"ts", "received_at", "service_name"},
		fields: withOwn(
			fields(asNumber, "time_unix_nano", "observed_time_unix_nano", "severity_number"), fields(asText, "severity_text", "event_name"),
			fields(asValue, "body"), fields(asText, "trace_id", "span_id"), fields(asNumber, "flags"),
			fields(asObject, "attributes"), fields(asNumber, "dropped_attributes_count")),
	}
}

func (l *logs) heads() [][]int { return heads() }

func (l *logs) begin() {
	l.one = plog.NewLogs()
	l.one.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
}

func (l *logs) size() int { return l.sizer.LogsSize(l.one) }

func (l *logs) head(r row, level int) {
	rl := l.one.ResourceLogs().At(0)
	if level == 0 {
		rl.SetSchemaUrl(r.text(resourceSchema))
		readResource(r, rl.Resource())
		return
	}
	sl := rl.ScopeLogs().At(0)
	sl.SetSchemaUrl(r.text(scopeSchema))
	readScope(r, sl.Scope())
}

func (l *logs) item(r row) {
	lr := l.one.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
	lr.SetTimestamp(readTime(r, logTime))
	lr.SetObservedTimestamp(readTime(r, logObserved))
	lr.SetSeverityNumber(plog.SeverityNumber(r.number(logSeverity)))
	lr.SetSeverityText(r.text(logSeverityText))
	lr.SetEventName(r.text(logEventName))
	lr.SetFlags(plog.LogRecordFlags(r.number(logFlags)))
	lr.SetDroppedAttributesCount(uint32(r.number(logDropped)))
	lr.SetTraceID(readTraceID(r, logTraceID))
	lr.SetSpanID(readSpanID(r, logSpanID))
	r.value(logBody, lr.Body())
	r.attributes(logAttributes, lr.Attributes())
}

func (l *logs) put(level int) {
	from, to := l.one.ResourceLogs(), l.all.ResourceLogs()
	if level == 0 {
		from.MoveAndAppendTo(to)
		return
	}
	scopes, into := from.At(0).ScopeLogs(), to.At(to.Len()-1).ScopeLogs()
	if level == 1 {
		scopes.MoveAndAppendTo(into)
		return
	}
	scopes.At(0).LogRecords().MoveAndAppendTo(into.At(into.Len() - 1).LogRecords())
}

func (l *logs) take() plog.Logs {
	out := l.all
	l.all = plog.NewLogs()
	return out
}
