package encode

import (
	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/encode/parquet"
)

// logs has the columns of log records, one row per record.
type logs struct {
	table *parquet.Table

	ts, time, observed, received *parquet.Int64
	severity, flags, dropped     *parquet.Number
	severityText, eventName      *parquet.Label
	body                         *parquet.Text
	bodyType, types              *parquet.Label
	traceID, spanID              *parquet.ID
	attributes                   *parquet.Map
	promoted                     []promotedRow
	resources                    resources
	scopes                       scopes

	letters []byte
	text    []byte
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
	l := &logs{table: t, resources: newResources(t), scopes: newScopes(t)}
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
	l.attributes = t.Map("attributes", l.classify)
	l.types = t.Label("attributes_types", false)
	l.dropped = t.Count("dropped_attributes_count")
	l.scopes.columns()
	l.resources.columns()
	for _, c := range columns {
		switch {
		case c.ResourceAttribute != "":
			a := &l.resources.attributes
			a.promoted = append(a.promoted, newPromotedRun(l.resources.set, c.ResourceAttribute, c))
		case c.ScopeAttribute != "":
			a := &l.scopes.attributes
			a.promoted = append(a.promoted, newPromotedRun(l.scopes.set, c.ScopeAttribute, c))
		default:
			l.promoted = append(l.promoted, newPromotedRow(t, c))
		}
	}
	return l
}

// classify returns the number, from 1, of the column that a key is promoted
// to, or 0.
func (l *logs) classify(key []byte) int32 {
	for i := range l.promoted {
		if l.promoted[i].key == string(key) {
			return int32(i + 1)
		}
	}
	return 0
}

func (l *logs) held() int {
	return l.resources.known.Held() + l.scopes.known.Held() + cap(l.letters) + cap(l.text)
}

func (l *logs) reset() {
	l.resources.reset()
	l.scopes.reset()
}

// group adds the records of a group. Its resource and scopes are put once the
// records of a scope are: only then is the scope known.
func (l *logs) group(s *stager, g *located) error {
	scopes := g.Scopes()
	for scopes.Next() {
		sc := &scopes.Scope
		n := 0
		for sc.Next() {
			if at := l.record(s, sc.Item, g.received); at < 0 {
				return otlp.Fault(at)
			}
			if n++; l.table.Rows() < MaxRowGroupRows {
				continue
			}
			whole, err := sc.Locate()
			if err != nil {
				return err
			}
			if err := l.endRun(s, g, &whole, n); err != nil {
				return err
			}
			s.cut()
			n = 0
		}
		if err := sc.Err(); err != nil {
			return err
		}
		if err := l.endRun(s, g, sc, n); err != nil {
			return err
		}
	}
	return scopes.Err()
}

// endRun puts the columns of resource and scope for the last n records.
func (l *logs) endRun(s *stager, g *located, sc *otlp.Scope, n int) error {
	if n == 0 {
		return nil
	}
	r, err := l.resources.entry(g, s.services.At(g.service))
	if err != nil {
		return err
	}
	c, err := l.scopes.entry(sc.Scope, sc.SchemaURL)
	if err != nil {
		return err
	}
	l.resources.set.Repeat(r, n)
	l.scopes.set.Repeat(c, n)
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

// record adds one record. It returns a fault if the record is malformed; the
// row group is then lost.
func (l *logs) record(s *stager, b []byte, received int64) int {
	var r logRecord
	var n uint64
	l.letters = l.letters[:0]
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
			if at := l.attribute(kv); at < 0 {
				return at
			}
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
	return l.put(s, &r, received, len(b))
}

// put adds the row of a record whose attributes are in their columns already.
func (l *logs) put(s *stager, r *logRecord, received int64, size int) int {
	if !validID(&r.traceID, 16) || !validID(&r.spanID, 8) {
		return otlp.BadID
	}
	body, at := otlp.ParseValue(r.body)
	if at < 0 {
		return at
	}
	if at := l.putBody(body); at < 0 {
		return at
	}
	ts := received
	switch {
	case r.time != 0:
		ts = int64(r.time / 1000)
	case r.observed != 0:
		ts = int64(r.observed / 1000)
	}
	s.minTime, s.maxTime = min(s.minTime, ts), max(s.maxTime, ts)
	l.ts.Add(ts)
	l.time.Add(int64(r.time))
	l.observed.Add(int64(r.observed))
	l.received.Add(received)
	l.severity.Add(int64(r.severity))
	l.severityText.Add(r.severityText)
	l.eventName.Add(r.eventName)
	l.traceID.Add(r.traceID)
	l.spanID.Add(r.spanID)
	l.flags.Add(int64(r.flags))
	l.attributes.EndRow()
	l.types.Add(l.letters)
	l.dropped.Add(int64(r.dropped))
	l.table.EndRow(size)
	return 0
}
