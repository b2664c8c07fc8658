package jsonl

import (
	"strconv"
	"unicode/utf8"

	"github.com/s3window/s3window/internal/encode/otlp"
)

// logs makes the lines of log records.
type logs struct {
	keys            keys
	columns         []promoted
	resource, scope shared
	service         []byte
	attributes      [][]byte // KeyValue messages of the record
	letters         []byte
}

func newLogs(columns []Column) *logs {
	l := &logs{
		resource: shared{field: otlp.ResourceAttributes, prefix: "resource"},
		scope:    shared{field: otlp.ScopeAttributes, prefix: "scope"},
	}
	var of []Column
	l.columns, of = promotedAt(columns, Record)
	l.scope.columns, _ = promotedAt(columns, Scope)
	l.resource.columns, _ = promotedAt(columns, Resource)
	l.keys = newKeys(of)
	return l
}

func (l *logs) held() int {
	n := l.keys.held() + l.resource.held() + l.scope.held() + cap(l.service) + 24*cap(l.attributes) + cap(l.letters)
	for i := range l.columns {
		n += cap(l.columns[i].value)
	}
	return n
}

// group implements rows.
func (l *logs) group(out *lines, g *otlp.Group) (err error) {
	if l.service, err = service(out, l.service[:0], g.Resource); err != nil {
		return err
	}
	defer l.release()
	known := false
	scopes := g.Scopes()
	for scopes.Next() {
		sc := &scopes.Scope
		whole, err := sc.Locate()
		if err != nil {
			return err
		}
		for first := true; sc.Next(); first = false {
			if !known {
				if err := l.putResource(out, g); err != nil {
					return err
				}
				known = true
			}
			if first {
				if err := l.putScope(out, &whole); err != nil {
					return err
				}
			}
			if at := l.record(out, sc.Item); at < 0 {
				return otlp.Fault(at)
			}
		}
	}
	return scopes.Err()
}

// release lets go of the payload.
func (l *logs) release() { clear(l.attributes[:cap(l.attributes)]) }

func (l *logs) putResource(out *lines, g *otlp.Group) error {
	m, err := otlp.ParseResource(g.Resource)
	if err != nil {
		return err
	}
	r := &l.resource
	r.fields = r.fields[:0]
	if err := r.attributes(g.Resource); err != nil {
		return err
	}
	r.name("_dropped_attributes_count", `":`)
	r.fields = strconv.AppendUint(r.fields, uint64(m.Dropped), 10)
	r.text("_schema_url", g.SchemaURL)
	r.end(out)
	return nil
}

func (l *logs) putScope(out *lines, sc *otlp.Scope) error {
	m, err := otlp.ParseScope(sc.Scope)
	if err != nil {
		return err
	}
	s := &l.scope
	s.fields = s.fields[:0]
	s.text("_name", m.Name)
	s.text("_version", m.Version)
	if err := s.attributes(sc.Scope); err != nil {
		return err
	}
	s.name("_dropped_attributes_count", `":`)
	s.fields = strconv.AppendUint(s.fields, uint64(m.Dropped), 10)
	s.text("_schema_url", sc.SchemaURL)
	s.end(out)
	return nil
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

// record adds the line of one record, or returns a fault.
func (l *logs) record(out *lines, b []byte) int {
	var r logRecord
	var n uint64
	l.attributes, l.letters = l.attributes[:0], l.letters[:0]
	l.keys.startRecord()
	forget(l.columns)
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
			var kv []byte
			if kv, i = otlp.Bytes(b, i); i < 0 {
				return i
			}
			l.attributes = append(l.attributes, kv)
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
	return l.line(out, &r)
}

// attribute appends an attribute to b as a field behind a comma. The second
// result is a fault if it is malformed.
func (l *logs) attribute(b, kv []byte) ([]byte, int) {
	raw, value, at := otlp.KeyValue(kv)
	if at < 0 {
		return b, at
	}
	v, at := otlp.ParseValue(value)
	if at < 0 {
		return b, at
	}
	k := l.keys.find(raw)
	b = append(b, k.quoted...)
	from := len(b)
	switch v.Kind {
	case otlp.String:
		b = otlp.AppendQuoted(b, v.Raw)
	case otlp.Int:
		b = strconv.AppendInt(b, v.Int(), 10)
	default:
		if b, at = v.AppendJSON(b); at < 0 {
			return b, at
		}
	}
	l.letters = append(l.letters, byte(v.Kind))
	if k.column > 0 {
		l.columns[k.column-1].take(v.Kind, b[from:])
	}
	return b, 0
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
	b = append(b, `,"attributes":`...)
	object := len(b)
	for _, kv := range l.attributes {
		if b, at = l.attribute(b, kv); at < 0 {
			return at
		}
	}
	if len(b) == object {
		b = append(b, '{')
	}
	b[object] = '{' // for the comma before the first
	b = append(append(b, `},"attributes_types":"`...), l.letters...)
	b = strconv.AppendUint(append(b, `","dropped_attributes_count":`...), uint64(r.dropped), 10)
	if out.buf = b; !utf8.Valid(b[from:]) {
		out.mend(from)
	}
	l.rest(out)
	out.endLine(ts)
	return 0
}

// times appends the fields of the record's times, and returns its ts.
func (l *logs) times(out *lines, r *logRecord) (b []byte, ts int64) {
	b = append(out.buf, `{"ts":`...)
	nanos := r.time
	if nanos == 0 {
		nanos = r.observed
	}
	if ts = int64(nanos / 1000); nanos != 0 {
		b = out.stamp.append(b, int64(nanos/1e9), uint32(nanos%1e9))
	} else {
		ts = out.receivedAt
		b = append(b, out.receivedText...)
	}
	b = out.stamp.appendNanos(append(b, `,"time_unix_nano":`...), r.time)
	b = out.stamp.appendNanos(append(b, `,"observed_time_unix_nano":`...), r.observed)
	b = append(append(b, `,"received_at":`...), out.receivedText...)
	return b, ts
}

// rest appends what the line shares with others, and the promoted columns.
func (l *logs) rest(out *lines) {
	out.buf = append(append(out.buf, l.scope.fields...), l.resource.fields...)
	if len(l.columns) > 0 {
		from := len(out.buf)
		out.buf = appendPromoted(out.buf, l.columns)
		if !utf8.Valid(out.buf[from:]) {
			out.mend(from)
		}
	}
	out.buf = append(append(out.buf, l.scope.promoted...), l.resource.promoted...)
	out.buf = append(out.buf, "}\n"...)
}
