package jsonl

import (
	"strconv"
	"unicode/utf8"

	"github.com/s3window/s3window/internal/encode/otlp"
)

// logs makes the lines of log records.
type logs struct{ runs }

func newLogs(columns []Column) *logs {
	l := &logs{runs: newRuns(columns)}
	l.item = l.line
	return l
}

// line adds the line of a LogRecord message.
func (l *logs) line(out *lines, message []byte) error {
	if err := l.enter(out); err != nil {
		return err
	}
	l.attributes.begin()
	var r otlp.Log
	if at := r.Parse(message, &l.attributes); at < 0 {
		return otlp.Fault(at)
	}
	from := len(out.buf)
	b, ts := out.begin(r.Nanos())
	b = out.stamp.appendNanos(append(b, `,"time_unix_nano":`...), r.Time)
	b = out.stamp.appendNanos(append(b, `,"observed_time_unix_nano":`...), r.Observed)
	b = append(append(b, `,"received_at":`...), out.receivedText...)
	b = strconv.AppendInt(append(b, `,"severity_number":`...), int64(r.Severity), 10)
	b = otlp.AppendQuoted(append(b, `,"severity_text":`...), r.SeverityText)
	b = append(append(b, `,"service_name":`...), l.service...)
	b = otlp.AppendQuoted(append(b, `,"event_name":`...), r.EventName)
	var at int
	if b, at = r.Body.AppendJSON(append(b, `,"body":`...)); at < 0 {
		return otlp.Fault(at)
	}
	b = append(append(b, `,"body_type":"`...), byte(r.Body.Kind))
	b = appendHex(append(b, `","trace_id":"`...), r.TraceID)
	b = appendHex(append(b, `","span_id":"`...), r.SpanID)
	b = strconv.AppendUint(append(b, `","flags":`...), uint64(r.Flags), 10)
	if b, at = l.attributes.append(b); at < 0 {
		return otlp.Fault(at)
	}
	b = strconv.AppendUint(append(b, `,"dropped_attributes_count":`...), uint64(r.Dropped), 10)
	if out.buf = b; !utf8.Valid(b[from:]) {
		out.mend(from)
	}
	l.rest(out, ts)
	return nil
}
