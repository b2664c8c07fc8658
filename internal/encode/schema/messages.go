package schema

// Log is the row of a log record.
func Log() Message {
	return Message{Name: "Log", Proto: "LogRecord", What: "log records", Fields: []Field{
		{Name: "ts", Kind: TS, Indexed: true, Doc: "the record's time, else its observed time, else `received_at`"},
		{Name: "time_unix_nano", Kind: Nanos, Wire: 1, Doc: "as sent; the bits of the uint64"},
		{Name: "observed_time_unix_nano", Kind: Nanos, Wire: 11, Doc: "as sent"},
		received(),
		tenant(),
		{Name: "severity_number", Kind: Int32, Wire: 2, Indexed: true},
		{Name: "severity_text", Kind: Label, Wire: 3, Indexed: true},
		service(),
		{Name: "event_name", Kind: Label, Wire: 12},
		{Name: "body", Kind: Any, Wire: 5, Doc: "a string as it is, anything else as text or JSON"},
		{Name: "trace_id", Kind: TraceID, Wire: 9, Indexed: true, Doc: "lower-case hex; empty if absent"},
		{Name: "span_id", Kind: SpanID, Wire: 10, Doc: "lower-case hex; empty if absent"},
		{Name: "flags", Kind: Flags, Wire: 8},
		attributes("attributes", 6),
		dropped(7),
	}}
}

// Span is the row of a span.
func Span() Message {
	return Message{Name: "Span", Proto: "Span", What: "spans", Fields: []Field{
		{Name: "ts", Kind: TS, Indexed: true, Doc: "the span's start, else its end, else `received_at`"},
		{Name: "start_time_unix_nano", Kind: Nanos, Wire: 7, Doc: "as sent; the bits of the uint64"},
		{Name: "end_time_unix_nano", Kind: Nanos, Wire: 8, Doc: "as sent"},
		{Name: "duration_nano", Kind: Duration, Indexed: true, Doc: "end − start; 0 unless both are known"},
		received(),
		tenant(),
		{Name: "trace_id", Kind: TraceID, Wire: 1, Indexed: true, Doc: "lower-case hex; empty if absent"},
		{Name: "span_id", Kind: SpanID, Wire: 2, Doc: "lower-case hex; empty if absent"},
		{Name: "parent_span_id", Kind: SpanID, Wire: 4, Doc: "lower-case hex; empty if absent"},
		{Name: "trace_state", Kind: Label, Wire: 3, Doc: "W3C `tracestate`"},
		{Name: "flags", Kind: Flags, Wire: 16},
		{Name: "name", Kind: Label, Wire: 5, Indexed: true},
		{Name: "kind", Kind: Enum, Wire: 6, Names: "SpanKinds", Indexed: true,
			Doc: "`unspecified`, `internal`, `server`, `client`, `producer`, `consumer`; a number that OTLP has no name for, in decimal"},
		service(),
		{Name: "status", Kind: Group, Wire: 15, Of: &Message{Name: "Status", Proto: "Status", Prefix: "status_", Fields: []Field{
			{Name: "status_code", Kind: Enum, Wire: 3, Names: "StatusCodes", Indexed: true, Doc: "`unset`, `ok`, `error`, or the number"},
			{Name: "status_message", Kind: Label, Wire: 2},
		}}},
		attributes("attributes", 9),
		dropped(10),
		{Name: "events", Kind: Structs, Wire: 11, Of: event()},
		{Name: "dropped_events_count", Kind: Count, Wire: 12},
		{Name: "links", Kind: Structs, Wire: 13, Of: link()},
		{Name: "dropped_links_count", Kind: Count, Wire: 14},
	}}
}

func event() *Message {
	return &Message{Name: "Event", Proto: "Span.Event", What: "events", Fields: []Field{
		{Name: "time_unix_nano", Kind: Nanos, Wire: 1},
		{Name: "name", Kind: Label, Wire: 2},
		attributes("attributes", 3),
		dropped(4),
	}}
}

func link() *Message {
	return &Message{Name: "Link", Proto: "Span.Link", What: "links", Fields: []Field{
		{Name: "trace_id", Kind: TraceID, Wire: 1},
		{Name: "span_id", Kind: SpanID, Wire: 2},
		{Name: "trace_state", Kind: Label, Wire: 3},
		{Name: "flags", Kind: Flags, Wire: 6},
		attributes("attributes", 4),
		dropped(5),
	}}
}

// Point is the row of a data point.
func Point() Message {
	return Message{Name: "Point", Proto: "data point", What: "data points", Fields: []Field{
		{Name: "ts", Kind: TS, Indexed: true, Doc: "the point's time, else `received_at`"},
		{Name: "start_time_unix_nano", Kind: Nanos, Forms: all(2), Doc: "as sent; the bits of the uint64"},
		{Name: "time_unix_nano", Kind: Nanos, Forms: all(3), Doc: "as sent"},
		received(),
		tenant(),
		{Kind: MetricFields},
		service(),
		{Name: "attributes", Kind: Attributes, Forms: [NumForms]int{7, 9, 1, 7}, Doc: attributesDoc},
		{Name: "flags", Kind: Count, Forms: [NumForms]int{8, 10, 10, 8}, Doc: "1: no recorded value"},
		{Name: "value", Kind: Number, Forms: number(4), Integer: 6, Null: true, Indexed: true, Doc: "of gauges and sums, whatever it was sent as; null where there is none. An integer beyond 2^53 is rounded"},
		{Name: "count", Kind: Uint64, Forms: [NumForms]int{0, 4, 4, 4}, Null: true, Indexed: true,
			Doc: "of histograms, exponential histograms and summaries"},
		{Name: "sum", Kind: Double, Forms: [NumForms]int{0, 5, 5, 5}, Null: true, Sent: true, Always: [NumForms]bool{SummaryPoint: true}, Indexed: true,
			Doc: "as `count`, where it was sent; always in a summary"},
		{Name: "min", Kind: Double, Forms: [NumForms]int{0, 11, 12, 0}, Null: true, Sent: true, Indexed: true,
			Doc: "of histograms of both kinds, where it was sent"},
		{Name: "max", Kind: Double, Forms: [NumForms]int{0, 12, 13, 0}, Null: true, Sent: true, Indexed: true,
			Doc: "of histograms of both kinds, where it was sent"},
		{Name: "bucket_counts", Kind: Uint64s, Forms: histogram(6), Doc: "of histograms"},
		{Name: "explicit_bounds", Kind: Doubles, Forms: histogram(7), Doc: "of histograms"},
		{Name: "scale", Kind: Sint32, Forms: exponential(6), Null: true, Indexed: true, Doc: "of exponential histograms, as are the next six"},
		{Name: "zero_count", Kind: Uint64, Forms: exponential(7), Null: true, Indexed: true},
		{Name: "zero_threshold", Kind: Double, Forms: exponential(14), Null: true, Indexed: true},
		{Name: "positive", Kind: Group, Forms: exponential(8), Of: buckets("positive_")},
		{Name: "negative", Kind: Group, Forms: exponential(9), Of: buckets("negative_")},
		{Name: "quantiles", Kind: Structs, Forms: [NumForms]int{SummaryPoint: 6}, Of: quantile(), Doc: "of summaries"},
		{Name: "exemplars", Kind: Structs, Forms: [NumForms]int{5, 8, 11, 0}, Of: exemplar()},
	}}
}

func buckets(prefix string) *Message {
	return &Message{Name: "Buckets", Proto: "ExponentialHistogramDataPoint.Buckets", Prefix: prefix, Fields: []Field{
		{Name: prefix + "offset", Kind: Sint32, Wire: 1, Null: true, Indexed: true},
		{Name: prefix + "bucket_counts", Kind: Varints, Wire: 2},
	}}
}

func quantile() *Message {
	return &Message{Name: "Quantile", Proto: "SummaryDataPoint.ValueAtQuantile", What: "quantiles", Fields: []Field{
		{Name: "quantile", Kind: Double, Wire: 1},
		{Name: "value", Kind: Double, Wire: 2},
	}}
}

func exemplar() *Message {
	return &Message{Name: "Exemplar", Proto: "Exemplar", What: "exemplars", Fields: []Field{
		{Name: "time_unix_nano", Kind: Nanos, Wire: 2},
		{Name: "value", Kind: Number, Wire: 3, Integer: 6, Null: true},
		{Name: "trace_id", Kind: TraceID, Wire: 5},
		{Name: "span_id", Kind: SpanID, Wire: 4},
		attributes("attributes", 7),
	}}
}

// Resource is what records of a resource share.
func Resource() Message {
	return Message{Name: "Resource", Proto: "Resource", What: "resources", Prefix: "resource_", Fields: []Field{
		attributes("resource_attributes", 1),
		{Name: "resource_dropped_attributes_count", Kind: Count, Wire: 2},
		{Name: "resource_schema_url", Kind: Label},
	}}
}

// Scope is what records of a scope share.
func Scope() Message {
	return Message{Name: "Scope", Proto: "InstrumentationScope", What: "scopes", Prefix: "scope_", Fields: []Field{
		{Name: "scope_name", Kind: Label, Wire: 1},
		{Name: "scope_version", Kind: Label, Wire: 2},
		attributes("scope_attributes", 3),
		{Name: "scope_dropped_attributes_count", Kind: Count, Wire: 4},
		{Name: "scope_schema_url", Kind: Label},
	}}
}

// Metric is what the points of a metric share.
func Metric() Message {
	return Message{Name: "Metric", Proto: "Metric", What: "metrics", Prefix: "metric_", Fields: []Field{
		{Name: "metric_name", Kind: Label, Wire: 1, Indexed: true},
		{Name: "metric_description", Kind: Label, Wire: 2},
		{Name: "metric_unit", Kind: Label, Wire: 3},
		attributes("metric_metadata", 12),
		{Name: "metric_type", Kind: Form, Indexed: true, Doc: "`gauge`, `sum`, `histogram`, `exponential_histogram`, `summary`"},
		{Name: "aggregation_temporality", Kind: Enum, Names: "Temporalities", Sent: true,
			Doc: "`unspecified`, `delta`, `cumulative`, or the number; empty for gauges and summaries"},
		{Name: "is_monotonic", Kind: Bool, Null: true, Sent: true, Indexed: true, Doc: "of sums"},
	}}
}

const attributesDoc = "in the order sent, duplicates kept"

func received() Field {
	return Field{Name: "received_at", Kind: Received, Indexed: true, Doc: "the stamp of the request in the queue"}
}

func tenant() Field {
	return Field{Name: "tenant_id", Kind: Tenant, Indexed: true, Doc: "the tenant; the same in all rows of an object, and not percent-encoded"}
}

func service() Field {
	return Field{Name: "service_name", Kind: Service, Indexed: true,
		Doc: "resource attribute `service.name`, which stays in the map too; empty if absent"}
}

func attributes(name string, wire int) Field {
	return Field{Name: name, Kind: Attributes, Wire: wire, Doc: attributesDoc}
}

func dropped(wire int) Field {
	return Field{Name: "dropped_attributes_count", Kind: Count, Wire: wire}
}

func all(n int) [NumForms]int         { return [NumForms]int{n, n, n, n} }
func number(n int) [NumForms]int      { return [NumForms]int{NumberPoint: n} }
func histogram(n int) [NumForms]int   { return [NumForms]int{HistogramPoint: n} }
func exponential(n int) [NumForms]int { return [NumForms]int{ExponentialPoint: n} }
