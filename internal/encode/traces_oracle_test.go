package encode

import (
	"slices"
	"strings"
	"testing"

	"github.com/s3window/s3window/internal/partition"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// serviceRows are the rows of a resource group, which are clustered by service.
type serviceRows struct {
	service string
	rows    [][]string
}

func clustered(columns []string, promoted []Column, groups []serviceRows) grid {
	slices.SortStableFunc(groups, func(a, b serviceRows) int { return strings.Compare(a.service, b.service) })
	g := grid{columns: slices.Clone(columns)}
	for _, c := range promoted {
		g.columns = append(g.columns, c.As)
	}
	for _, x := range groups {
		g.rows = append(g.rows, x.rows...)
	}
	return g
}

// tracesOracle is oracle for spans.
func tracesOracle(t testing.TB, entries []Entry, columns []Column) grid {
	t.Helper()
	var groups []serviceRows
	for _, e := range entries {
		req := ptraceotlp.NewExportRequest()
		if err := req.UnmarshalProto(e.Payload); err != nil {
			t.Fatalf("pdata refuses the payload: %v", err)
		}
		for _, rs := range req.Traces().ResourceSpans().All() {
			g := serviceRows{service: service(rs.Resource())}
			for _, ss := range rs.ScopeSpans().All() {
				for _, sp := range ss.Spans().All() {
					p := newPromotion(columns)
					row := p.span(sp, e.ReceivedAt)
					row[slices.Index(ColumnNames(partition.Traces), "service_name")] = g.service
					row = append(row, p.scope(ss.Scope(), ss.SchemaUrl())...)
					row = append(row, p.resource(rs.Resource(), rs.SchemaUrl())...)
					g.rows = append(g.rows, append(row, p.cells()...))
				}
			}
			groups = append(groups, g)
		}
	}
	return clustered(ColumnNames(partition.Traces), columns, groups)
}

// promotion gathers the promoted values of a row.
type promotion struct {
	all, row, ofScope, ofResource []Column
	found                         map[string]string
}

func newPromotion(columns []Column) *promotion {
	p := &promotion{all: columns, found: map[string]string{}}
	for _, c := range columns {
		switch {
		case c.Attribute != "":
			p.row = append(p.row, c)
		case c.ScopeAttribute != "":
			p.ofScope = append(p.ofScope, Column{Attribute: c.ScopeAttribute, As: c.As, Type: c.Type, Move: c.Move})
		default:
			p.ofResource = append(p.ofResource, Column{Attribute: c.ResourceAttribute, As: c.As, Type: c.Type, Move: c.Move})
		}
	}
	return p
}

func (p *promotion) cells() (out []string) {
	for _, c := range p.all {
		v, ok := p.found[c.As]
		if !ok {
			v = nullCell
		}
		out = append(out, v)
	}
	return out
}

func (p *promotion) scope(s pcommon.InstrumentationScope, url string) []string {
	attributes, types := oracleMap(s.Attributes(), p.ofScope, p.found)
	return []string{mended(s.Name()), mended(s.Version()), attributes, types, itoa(int64(s.DroppedAttributesCount())), mended(url)}
}

func (p *promotion) resource(r pcommon.Resource, url string) []string {
	attributes, types := oracleMap(r.Attributes(), p.ofResource, p.found)
	return []string{attributes, types, itoa(int64(r.DroppedAttributesCount())), mended(url)}
}

func traceID(id pcommon.TraceID) string { return oracleID(id.IsEmpty(), id[:]) }
func spanID(id pcommon.SpanID) string   { return oracleID(id.IsEmpty(), id[:]) }

func (p *promotion) span(sp ptrace.Span, received int64) []string {
	start, end := uint64(sp.StartTimestamp()), uint64(sp.EndTimestamp())
	ts, duration := received, int64(0)
	if end != 0 {
		ts = int64(end / 1000)
	}
	if start != 0 {
		ts = int64(start / 1000)
		if end != 0 {
			duration = int64(end - start)
		}
	}
	kind, ok := map[ptrace.SpanKind]string{0: "unspecified", 1: "internal", 2: "server", 3: "client", 4: "producer", 5: "consumer"}[sp.Kind()]
	if !ok {
		kind = itoa(int64(sp.Kind()))
	}
	status, ok := map[ptrace.StatusCode]string{0: "unset", 1: "ok", 2: "error"}[sp.Status().Code()]
	if !ok {
		status = itoa(int64(sp.Status().Code()))
	}
	attributes, types := oracleMap(sp.Attributes(), p.row, p.found)
	return []string{
		itoa(ts), itoa(int64(start)), itoa(int64(end)), itoa(duration), itoa(received), testTenant,
		traceID(sp.TraceID()), spanID(sp.SpanID()), spanID(sp.ParentSpanID()), mended(sp.TraceState().AsRaw()),
		itoa(int64(sp.Flags())), mended(sp.Name()), kind, "", status, mended(sp.Status().Message()),
		attributes, types, itoa(int64(sp.DroppedAttributesCount())),
		oracleEvents(sp.Events()), itoa(int64(sp.DroppedEventsCount())),
		oracleLinks(sp.Links()), itoa(int64(sp.DroppedLinksCount())),
	}
}

func oracleEvents(events ptrace.SpanEventSlice) (s string) {
	for _, e := range events.All() {
		attributes, types := oracleMap(e.Attributes(), nil, nil)
		s += element(structCell(map[string]string{
			"time_unix_nano": itoa(int64(e.Timestamp())), "name": mended(e.Name()), "attributes": attributes,
			"attributes_types": types, "dropped_attributes_count": itoa(int64(e.DroppedAttributesCount())),
		}))
	}
	return s
}

func oracleLinks(links ptrace.SpanLinkSlice) (s string) {
	for _, l := range links.All() {
		attributes, types := oracleMap(l.Attributes(), nil, nil)
		s += element(structCell(map[string]string{
			"trace_id": traceID(l.TraceID()), "span_id": spanID(l.SpanID()), "trace_state": mended(l.TraceState().AsRaw()),
			"flags": itoa(int64(l.Flags())), "attributes": attributes,
			"attributes_types": types, "dropped_attributes_count": itoa(int64(l.DroppedAttributesCount())),
		}))
	}
	return s
}
