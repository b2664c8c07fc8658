package encode

import (
	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/encode/parquet"
)

// logs has the columns of log records, one row per record.
type logs struct {
	runs

	ts, time, observed, received *parquet.Int64
	severity, flags, dropped     *parquet.Number
	severityText, eventName      *parquet.Label
	body                         *parquet.Text
	bodyType                     *parquet.Label
	traceID, spanID              *parquet.ID
	attributes                   rowAttributes

	text []byte
}

// logColumns are the columns of the schema before the promoted ones, in order.
var logColumns = [...]string{
	"ts", "time_unix_nano", "observed_time_unix_nano", "received_at", "severity_number", "severity_text",
	"service_name", "event_name", "body", "body_type", "trace_id", "span_id", "flags",
	"attributes", "attributes_types", "dropped_attributes_count",
	"scope_name", "scope_version", "scope_attributes", "scope_attributes_types",
	"scope_dropped_attributes_count", "scope_schema_url",
	"resource_attributes", "resource_attributes_types", "resource_dropped_attributes_count", "resource_schema_url",
}

func newLogs(t *parquet.Table, columns []Column) *logs {
	l := &logs{runs: newRuns(t)}
	l.item = l.put
	l.ts = t.Timestamp("ts")
	l.time = t.Int64("time_unix_nano", false)
	l.observed = t.Int64("observed_time_unix_nano", false)
	l.received = t.Timestamp("received_at")
	l.severity = t.Int32("severity_number", true)
	l.severityText = t.Label("severity_text", true)
	l.resources.service = l.resources.set.Label("service_name", true)
	l.eventName = t.Label("event_name", false)
	l.body = t.Text("body")
	l.bodyType = t.Label("body_type", false)
	l.traceID = t.ID("trace_id", true)
	l.spanID = t.ID("span_id", false)
	l.flags = t.Count("flags")
	l.attributes.columns(t)
	l.dropped = t.Count("dropped_attributes_count")
	l.attributes.promoted = l.columns(columns)
	return l
}

func (l *logs) held() int {
	return l.runs.held() + l.attributes.held() + cap(l.text)
}

func (l *logs) reset() {
	l.runs.reset()
	l.attributes.reset()
}

// put adds the row of a LogRecord message.
func (l *logs) put(s *stager, b []byte, received int64) error {
	if l.full() {
		if err := l.cut(s); err != nil {
			return err
		}
	}
	var r otlp.Log
	if at := r.Parse(b, &l.attributes); at < 0 {
		return otlp.Fault(at)
	}
	ts := s.time(r.Nanos(), received)
	l.ts.Add(ts)
	l.time.Add(int64(r.Time))
	l.observed.Add(int64(r.Observed))
	l.received.Add(received)
	l.severity.Add(int64(r.Severity))
	l.severityText.Add(r.SeverityText)
	l.eventName.Add(r.EventName)
	if at := l.putBody(r.Body); at < 0 {
		return otlp.Fault(at)
	}
	l.traceID.Add(r.TraceID)
	l.spanID.Add(r.SpanID)
	l.flags.Add(int64(r.Flags))
	l.attributes.endRow()
	l.dropped.Add(int64(r.Dropped))
	l.table.EndRow(len(b))
	return nil
}

func (l *logs) putBody(v otlp.Value) int {
	l.bodyType.Add([]byte{byte(v.Kind)})
	if v.Kind == otlp.String {
		l.body.Add(v.Raw)
		return 0
	}
	var at int
	if l.text, at = v.AppendText(l.text[:0]); at < 0 {
		return at
	}
	l.body.Add(l.text)
	return 0
}
