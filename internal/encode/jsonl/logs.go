package jsonl

import (
	"strconv"
	"unicode/utf8"

	"github.com/s3window/s3window/internal/encode/otlp"
)

// logs makes the lines of log records.
type logs struct{ runs }

func newLogs(columns []Column) *logs {
	l := &logs{newRuns(columns)}
	l.item = l.record
	return l
}

// logRecord is the fields of a LogRecord but for its attributes.
type logRecord struct {
	time, observed  uint64
	severity        int32
	flags, dropped  uint32
	severityText    []byte
	eventName       []byte
	body            []byte
	traceID, spanID []byte
}

const knownLogFields = 1<<1 | 1<<2 | 1<<3 | 1<<5 | 1<<6 | 1<<7 | 1<<8 | 1<<9 | 1<<10 | 1<<11 | 1<<12

// record adds the line of a LogRecord message.
func (l *logs) record(out *lines, b []byte) error {
	if err := l.enter(out); err != nil {
		return err
	}
	l.attributes.begin()
	var r logRecord
	if at := l.parse(&r, b); at < 0 {
		return otlp.Fault(at)
	}
	return otlp.Fault(l.line(out, &r))
}

// parse decodes a record, but for its attributes, which it collects.
func (l *logs) parse(r *logRecord, b []byte) int {
	var n uint64
	for i := 0; i < len(b); {
		tag := uint64(b[i])
		if i++; tag >= 0x80 {
			if tag, i = otlp.Uvarint(b, i-1); i < 0 {
				return i
			}
		}
		switch tag {
		case 1<<3 | 1:
			r.time, i = otlp.Fixed64(b, i)
		case 2<<3 | 0:
			n, i = otlp.Uvarint(b, i)
			r.severity = int32(n)
		case 3<<3 | 2:
			r.severityText, i = otlp.Bytes(b, i)
		case 5<<3 | 2:
			var body []byte
			body, i = otlp.Bytes(b, i)
			r.body = otlp.Merge(r.body, body)
		case 6<<3 | 2:
			i = l.attributes.collect(b, i)
		case 7<<3 | 0:
			n, i = otlp.Uvarint(b, i)
			r.dropped = uint32(n)
		case 8<<3 | 5:
			r.flags, i = otlp.Fixed32(b, i)
		case 9<<3 | 2:
			r.traceID, i = otlp.Bytes(b, i)
		case 10<<3 | 2:
			r.spanID, i = otlp.Bytes(b, i)
		case 11<<3 | 1:
			r.observed, i = otlp.Fixed64(b, i)
		case 12<<3 | 2:
			r.eventName, i = otlp.Bytes(b, i)
		default:
			i = otlp.Skip(b, i, tag, knownLogFields)
		}
		if i < 0 {
			return i
		}
	}
	return 0
}

// line appends the record's line to out.
func (l *logs) line(out *lines, r *logRecord) int {
	var okTrace, okSpan bool
	if r.traceID, okTrace = otlp.ID(r.traceID, 16); !okTrace {
		return otlp.BadID
	}
	if r.spanID, okSpan = otlp.ID(r.spanID, 8); !okSpan {
		return otlp.BadID
	}
	body, at := otlp.ParseValue(r.body)
	if at < 0 {
		return at
	}
	from := len(out.buf)
	b, ts := l.times(out, r)
	b = strconv.AppendInt(append(b, `,"severity_number":`...), int64(r.severity), 10)
	b = otlp.AppendQuoted(append(b, `,"severity_text":`...), r.severityText)
	b = append(append(b, `,"service_name":`...), l.service...)
	b = otlp.AppendQuoted(append(b, `,"event_name":`...), r.eventName)
	if b, at = body.AppendJSON(append(b, `,"body":`...)); at < 0 {
		return at
	}
	b = append(append(b, `,"body_type":"`...), byte(body.Kind))
	b = appendHex(append(b, `","trace_id":"`...), r.traceID)
	b = appendHex(append(b, `","span_id":"`...), r.spanID)
	b = strconv.AppendUint(append(b, `","flags":`...), uint64(r.flags), 10)
	if b, at = l.attributes.append(b); at < 0 {
		return at
	}
	b = strconv.AppendUint(append(b, `,"dropped_attributes_count":`...), uint64(r.dropped), 10)
	if out.buf = b; !utf8.Valid(b[from:]) {
		out.mend(from)
	}
	l.rest(out, ts)
	return 0
}

// times appends the fields of the record's times, and returns its ts.
func (l *logs) times(out *lines, r *logRecord) (b []byte, ts int64) {
	nanos := r.time
	if nanos == 0 {
		nanos = r.observed
	}
	b, ts = out.begin(nanos)
	b = out.stamp.appendNanos(append(b, `,"time_unix_nano":`...), r.time)
	b = out.stamp.appendNanos(append(b, `,"observed_time_unix_nano":`...), r.observed)
	b = append(append(b, `,"received_at":`...), out.receivedText...)
	return b, ts
}
