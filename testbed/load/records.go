package load

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
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

// logs makes the records of a request: one resource per tenant, in a fixed
// order, each record with its id.
func logs(request string, records map[string]int, bodyBytes int) plog.Logs {
	out := plog.NewLogs()
	now := time.Now()
	tenants := make([]string, 0, len(records))
	for t := range records {
		tenants = append(tenants, t)
	}
	slices.Sort(tenants)
	for _, tenant := range tenants {
		rl := out.ResourceLogs().AppendEmpty()
		rl.Resource().Attributes().PutStr("tenant.id", tenant)
		rl.Resource().Attributes().PutStr("service.name", services[rand.IntN(len(services))])
		rl.Resource().Attributes().PutStr("host.name", fmt.Sprintf("node-%02d", rand.IntN(20)))
		sl := rl.ScopeLogs().AppendEmpty()
		sl.Scope().SetName("github.com/s3window/s3window/testbed/load")
		for i := range records[tenant] {
			fill(sl.LogRecords().AppendEmpty(), fmt.Sprintf("%s/%s/%d", request, tenant, i), now, bodyBytes)
		}
	}
	return out
}

func fill(r plog.LogRecord, id string, now time.Time, bodyBytes int) {
	r.SetTimestamp(pcommon.NewTimestampFromTime(now))
	r.SetObservedTimestamp(pcommon.NewTimestampFromTime(now))
	status, severity, text := 200, plog.SeverityNumberInfo, "INFO"
	if rand.IntN(50) == 0 {
		status, severity, text = 500, plog.SeverityNumberError, "ERROR"
	}
	r.SetSeverityNumber(severity)
	r.SetSeverityText(text)
	body := fmt.Sprintf("GET /api/items/%d answered %d in %d ms", rand.IntN(10_000), status, rand.IntN(400))
	if pad := bodyBytes - len(body); pad > 0 {
		body += " " + strings.Repeat("x", pad-1)
	}
	r.Body().SetStr(body)
	a := r.Attributes()
	a.PutStr(IDAttribute, id)
	a.PutStr("http.request.method", "GET")
	a.PutInt("http.response.status_code", int64(status))
	a.PutStr("url.path", fmt.Sprintf("/api/items/%d", rand.IntN(100)))
}
