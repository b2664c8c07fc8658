package encodetest

import (
	"fmt"
	"math"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// Start is the time of the first records, Unix nanoseconds.
const Start = int64(1789990000_000000000)

// window is the time over which the requests of one call are spread.
const window = int64(300e9)

// Logs returns export requests with n log records in all.
func Logs(seed int64, n int) [][]byte {
	w := NewWorld(seed)
	var out [][]byte
	var m plog.ProtoMarshaler
	for done := 0; done < n; {
		logs := w.request(n-done, Start+int64(float64(window)*float64(done)/float64(n)))
		done += logs.LogRecordCount()
		b, err := m.MarshalLogs(logs)
		if err != nil {
			panic(err) // the marshaler has no error to return
		}
		out = append(out, b)
	}
	return out
}

// request returns one request of at most n records.
func (w *World) request(n int, base int64) plog.Logs {
	r := w.r
	logs := plog.NewLogs()
	if r.Intn(2) == 0 {
		w.resource(logs, min(n, 500+r.Intn(100)), base)
		return logs
	}
	left, k := min(n, 1000+r.Intn(7193)), 3+r.Intn(28)
	for i := 0; i < k && left > 0; i++ {
		c := left
		if i < k-1 {
			c = min(left, 1+r.Intn(2*left/(k-i)+1))
		}
		w.resource(logs, c, base)
		left -= c
	}
	return logs
}

func (w *World) resource(logs plog.Logs, n int, base int64) {
	r, in := w.r, w.instance()
	rl := logs.ResourceLogs().AppendEmpty()
	rl.SetSchemaUrl("https://opentelemetry.io/schemas/1.37.0")
	in.fill(rl.Resource().Attributes())
	sl := rl.ScopeLogs().AppendEmpty()
	sl.Scope().SetName("github.com/example/otel-" + in.language + "-bridge")
	sl.Scope().SetVersion("0.14.2")
	tr := w.traces[in]
	if tr == nil {
		tr = &trace{}
		w.traces[in] = tr
	}
	ts, step := base+int64(r.Intn(1000))*1e6, int64(2e9)/int64(n+1)
	sl.LogRecords().EnsureCapacity(n)
	for range n {
		ts += int64(r.ExpFloat64() * float64(step))
		w.record(sl.LogRecords().AppendEmpty(), in, tr, ts)
	}
}

func (w *World) record(lr plog.LogRecord, in *instance, tr *trace, ts int64) {
	r := w.r
	lr.SetTimestamp(pcommon.Timestamp(ts / in.resolution * in.resolution))
	lr.SetObservedTimestamp(pcommon.Timestamp(ts + int64(r.Intn(40e6))))
	t := in.templates[int(math.Abs(r.NormFloat64())*4)%len(in.templates)]
	lr.SetSeverityNumber(plog.SeverityNumber(t.severity))
	lr.SetSeverityText(plog.SeverityNumber(t.severity).String())
	user := w.userIDs[w.users.Uint64()]
	lr.Body().SetStr(w.body(t, in.service, user))
	w.attributes(lr.Attributes(), t, in.service, user)
	if tr.left == 0 {
		tr.left = 2 + r.Intn(5)
		r.Read(tr.id[:])
		r.Read(tr.span[:])
		if r.Intn(2) == 0 {
			tr.id = [16]byte{}
		}
	}
	tr.left--
	if tr.id != [16]byte{} {
		lr.SetTraceID(tr.id)
		lr.SetSpanID(tr.span)
		lr.SetFlags(1)
	}
}

func (w *World) body(t *template, s *service, user string) string {
	var b strings.Builder
	for i, literal := range t.parts {
		b.WriteString(literal)
		switch t.codes[i] {
		case 'i':
			fmt.Fprint(&b, w.r.Intn(100000))
		case 'x':
			fmt.Fprintf(&b, "%08x", w.r.Uint32())
		case 'u':
			b.WriteString(w.uuid())
		case 'p':
			b.WriteString(w.addresses[w.r.Intn(len(w.addresses))])
		case 'd':
			fmt.Fprintf(&b, "%.3fms", w.r.ExpFloat64()*40)
		case 'a':
			b.WriteString(w.path(s.routes[w.r.Intn(len(s.routes))]))
		case 'n':
			b.WriteString(user)
		}
	}
	return b.String()
}

// attributes puts 8 to 12 attributes.
func (w *World) attributes(m pcommon.Map, t *template, s *service, user string) {
	r := w.r
	m.PutStr("log.logger", t.logger)
	m.PutStr("code.function.name", t.function)
	m.PutInt("code.line.number", t.line)
	m.PutInt("thread.id", int64(1+r.Intn(32)))
	m.PutStr("thread.name", fmt.Sprintf("http-nio-8080-exec-%d", r.Intn(32)))
	m.PutStr("user.id", user)
	n := 2 + r.Intn(5)
	put := w.messageAttributes
	if t.http {
		put = w.httpAttributes
	}
	for _, f := range put(m, s)[:n] {
		f()
	}
}

func (w *World) httpAttributes(m pcommon.Map, s *service) []func() {
	r := w.r
	methods := []string{"GET", "GET", "GET", "GET", "POST", "POST", "PUT", "DELETE"}
	statuses := []int64{200, 200, 200, 200, 200, 201, 204, 304, 400, 401, 404, 404, 409, 429, 500, 503}
	route := s.routes[r.Intn(len(s.routes))]
	return []func(){
		func() { m.PutStr("http.request.method", methods[r.Intn(len(methods))]) },
		func() { m.PutInt("http.response.status_code", statuses[r.Intn(len(statuses))]) },
		func() { m.PutStr("http.route", route) },
		func() { m.PutStr("url.path", w.path(route)) },
		func() { m.PutStr("client.address", w.addresses[r.Intn(len(w.addresses))]) },
		func() { m.PutStr("request.id", w.uuid()) },
	}
}

func (w *World) messageAttributes(m pcommon.Map, s *service) []func() {
	r := w.r
	return []func(){
		func() { m.PutStr("tenant.plan", []string{"free", "pro", "enterprise"}[r.Intn(3)]) },
		func() { m.PutDouble("duration_ms", math.Round(r.ExpFloat64()*40000)/1000) },
		func() { m.PutStr("messaging.destination.name", s.namespace+"."+words()[r.Intn(40)]+".events") },
		func() { m.PutInt("messaging.message.body.size", int64(100+r.Intn(20000))) },
		func() { m.PutBool("cache.hit", r.Intn(3) > 0) },
		func() { m.PutStr("messaging.message.id", w.uuid()) },
	}
}
