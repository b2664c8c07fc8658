package load

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// IDAttribute holds a record's id.
const IDAttribute = "s3window.test.id"

var services = []string{"checkout", "cart", "payment", "search", "frontend"}

// share says how many of n records of request number seq each tenant gets.
// Two requests of three are of one tenant; the third is of all of them.
func share(tenants []string, seq, n int) map[string]int {
	out := map[string]int{}
	if seq%3 != 0 {
		out[tenants[seq/3%len(tenants)]] = n
		return out
	}
	for i := range n {
		out[tenants[i%len(tenants)]]++
	}
	return out
}

// maker makes the records of a request, each with its id.
type maker struct {
	request   string
	bodyBytes int
	late      bool
	now       time.Time
}

// each calls f for every record of the request, and with its resource before
// the first of a tenant: one resource per tenant, in a fixed order.
func (m maker) each(records map[string]int, resource func() pcommon.Resource, f func(id string, at pcommon.Timestamp)) {
	for _, tenant := range slices.Sorted(maps.Keys(records)) {
		a := resource().Attributes()
		a.PutStr("tenant.id", tenant)
		a.PutStr("service.name", services[rand.IntN(len(services))])
		a.PutStr("host.name", fmt.Sprintf("node-%02d", rand.IntN(20)))
		for i := range records[tenant] {
			at := m.now
			if m.late && rand.IntN(20) == 0 {
				at = at.Add(-time.Duration(1+rand.IntN(5)) * time.Hour)
			}
			f(fmt.Sprintf("%s/%s/%d", m.request, tenant, i), pcommon.NewTimestampFromTime(at))
		}
	}
}

func scope(s pcommon.InstrumentationScope) { s.SetName("github.com/s3window/s3window/testbed/load") }

func (m maker) logs(records map[string]int) plog.Logs {
	out := plog.NewLogs()
	var sl plog.ScopeLogs
	m.each(records, func() pcommon.Resource {
		rl := out.ResourceLogs().AppendEmpty()
		sl = rl.ScopeLogs().AppendEmpty()
		scope(sl.Scope())
		return rl.Resource()
	}, func(id string, at pcommon.Timestamp) {
		m.fill(sl.LogRecords().AppendEmpty(), id, at)
	})
	return out
}

func (m maker) fill(r plog.LogRecord, id string, at pcommon.Timestamp) {
	r.SetTimestamp(at)
	r.SetObservedTimestamp(at)
	status, severity, text := 200, plog.SeverityNumberInfo, "INFO"
	if rand.IntN(50) == 0 {
		status, severity, text = 500, plog.SeverityNumberError, "ERROR"
	}
	r.SetSeverityNumber(severity)
	r.SetSeverityText(text)
	body := fmt.Sprintf("GET /api/items/%d answered %d in %d ms", rand.IntN(10_000), status, rand.IntN(400))
	if pad := m.bodyBytes - len(body); pad > 0 {
		body += " " + strings.Repeat("x", pad-1)
	}
	r.Body().SetStr(body)
	call(r.Attributes(), id, status)
}

// call are the attributes of an HTTP call, and the id.
func call(a pcommon.Map, id string, status int) {
	a.PutStr(IDAttribute, id)
	a.PutStr("http.request.method", "GET")
	a.PutInt("http.response.status_code", int64(status))
	a.PutStr("url.path", fmt.Sprintf("/api/items/%d", rand.IntN(100)))
}

func (m maker) traces(records map[string]int) ptrace.Traces {
	out := ptrace.NewTraces()
	var ss ptrace.ScopeSpans
	m.each(records, func() pcommon.Resource {
		rs := out.ResourceSpans().AppendEmpty()
		ss = rs.ScopeSpans().AppendEmpty()
		scope(ss.Scope())
		return rs.Resource()
	}, func(id string, at pcommon.Timestamp) {
		sp := ss.Spans().AppendEmpty()
		sp.SetName("GET /api/items/{id}")
		sp.SetKind(ptrace.SpanKindServer)
		random := random16()
		sp.SetTraceID(random)
		sp.SetSpanID(pcommon.SpanID(random[8:]))
		sp.SetStartTimestamp(at)
		sp.SetEndTimestamp(at + pcommon.Timestamp(rand.IntN(400))*1_000_000)
		call(sp.Attributes(), id, 200)
		if rand.IntN(10) == 0 {
			sp.Events().AppendEmpty().SetName("retried")
		}
	})
	return out
}

func random16() (id [16]byte) {
	binary.LittleEndian.PutUint64(id[:], rand.Uint64())
	binary.LittleEndian.PutUint64(id[8:], rand.Uint64()|1)
	return id
}

func (m maker) metrics(records map[string]int) pmetric.Metrics {
	out := pmetric.NewMetrics()
	var points pmetric.NumberDataPointSlice
	m.each(records, func() pcommon.Resource {
		rm := out.ResourceMetrics().AppendEmpty()
		sm := rm.ScopeMetrics().AppendEmpty()
		scope(sm.Scope())
		metric := sm.Metrics().AppendEmpty()
		metric.SetName("http.server.active_requests")
		metric.SetUnit("{request}")
		points = metric.SetEmptyGauge().DataPoints()
		return rm.Resource()
	}, func(id string, at pcommon.Timestamp) {
		p := points.AppendEmpty()
		p.SetTimestamp(at)
		p.SetIntValue(rand.Int64N(100))
		p.Attributes().PutStr(IDAttribute, id)
	})
	return out
}
