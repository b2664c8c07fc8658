package decode

import (
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/s3window/s3window/internal/partition"
)

// logs makes requests of log records.
type logs struct {
	one, all plog.Logs
	sizer    plog.ProtoMarshaler
}

func (l *logs) layout() layout { return newLayout(partition.Logs, logFields(), logAttributes) }

func (l *logs) heads() [][]int { return heads() }

func (l *logs) begin() {
	l.one = plog.NewLogs()
	l.one.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
}

func (l *logs) size() int { return l.sizer.LogsSize(l.one) }

func (l *logs) head(r row, level int) {
	rl := l.one.ResourceLogs().At(0)
	if level == 0 {
		rl.SetSchemaUrl(r.text(resourceSchemaURL))
		readResource(r, rl.Resource())
		return
	}
	sl := rl.ScopeLogs().At(0)
	sl.SetSchemaUrl(r.text(scopeSchemaURL))
	readScope(r, sl.Scope())
}

func (l *logs) item(r row) {
	lr := l.one.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
	lr.SetTimestamp(readTime(r, logTimeUnixNano))
	lr.SetObservedTimestamp(readTime(r, logObservedTimeUnixNano))
	lr.SetSeverityNumber(plog.SeverityNumber(r.number(logSeverityNumber)))
	lr.SetSeverityText(r.text(logSeverityText))
	lr.SetEventName(r.text(logEventName))
	lr.SetFlags(plog.LogRecordFlags(r.number(logFlags)))
	lr.SetDroppedAttributesCount(uint32(r.number(logDroppedAttributesCount)))
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
