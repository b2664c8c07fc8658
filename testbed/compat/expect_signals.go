package main

import (
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

func logRows(payload []byte, received int64) (out []row, err error) {
	logs, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(payload)
	if err != nil {
		return nil, err
	}
	for _, rl := range logs.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				r := newRow()
				r.record(lr, received)
				r.scope(sl.Scope(), sl.SchemaUrl())
				r.resource(rl.Resource(), rl.SchemaUrl())
				out = append(out, r)
			}
		}
	}
	return out, nil
}

func (r row) record(lr plog.LogRecord, received int64) {
	r.time(received, lr.Timestamp(), lr.ObservedTimestamp())
	r["time_unix_nano"], r["observed_time_unix_nano"] = int64(lr.Timestamp()), int64(lr.ObservedTimestamp())
	r["severity_number"], r["severity_text"] = int64(lr.SeverityNumber()), mended(lr.SeverityText())
	r["event_name"] = mended(lr.EventName())
	r["body"], r["body_type"] = text(lr.Body())
	r["trace_id"], r["span_id"] = traceID(lr.TraceID()), spanID(lr.SpanID())
	r["flags"] = int64(lr.Flags())
	r["attributes"] = r.entries(lr.Attributes(), ofItem)
	r["dropped_attributes_count"] = int64(lr.DroppedAttributesCount())
}

func traceRows(payload []byte, received int64) (out []row, err error) {
	traces, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(payload)
	if err != nil {
		return nil, err
	}
	for _, rs := range traces.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, sp := range ss.Spans().All() {
				r := newRow()
				r.span(sp, received)
				r.scope(ss.Scope(), ss.SchemaUrl())
				r.resource(rs.Resource(), rs.SchemaUrl())
				out = append(out, r)
			}
		}
	}
	return out, nil
}

func (r row) span(sp ptrace.Span, received int64) {
	start, end := sp.StartTimestamp(), sp.EndTimestamp()
	r.time(received, start, end)
	r["start_time_unix_nano"], r["end_time_unix_nano"], r["duration_nano"] = int64(start), int64(end), int64(0)
	if start != 0 && end != 0 {
		r["duration_nano"] = int64(uint64(end) - uint64(start))
	}
	r["trace_id"], r["span_id"], r["parent_span_id"] = traceID(sp.TraceID()), spanID(sp.SpanID()), spanID(sp.ParentSpanID())
	r["trace_state"], r["flags"], r["name"] = mended(sp.TraceState().AsRaw()), int64(sp.Flags()), mended(sp.Name())
	r["kind"] = named(int32(sp.Kind()), "unspecified", "internal", "server", "client", "producer", "consumer")
	r["status_code"] = named(int32(sp.Status().Code()), "unset", "ok", "error")
	r["status_message"] = mended(sp.Status().Message())
	r["attributes"] = r.entries(sp.Attributes(), ofItem)
	r["dropped_attributes_count"] = int64(sp.DroppedAttributesCount())
	r["dropped_events_count"], r["dropped_links_count"] = int64(sp.DroppedEventsCount()), int64(sp.DroppedLinksCount())
	events, links := []row{}, []row{}
	for _, e := range sp.Events().All() {
		events = append(events, row{
			"time_unix_nano": int64(e.Timestamp()), "name": mended(e.Name()), "attributes": r.entries(e.Attributes(), ofNobody),
			"dropped_attributes_count": int64(e.DroppedAttributesCount()),
		})
	}
	for _, l := range sp.Links().All() {
		links = append(links, row{
			"trace_id": traceID(l.TraceID()), "span_id": spanID(l.SpanID()), "trace_state": mended(l.TraceState().AsRaw()),
			"flags": int64(l.Flags()), "attributes": r.entries(l.Attributes(), ofNobody),
			"dropped_attributes_count": int64(l.DroppedAttributesCount()),
		})
	}
	r["events"], r["links"] = events, links
}
