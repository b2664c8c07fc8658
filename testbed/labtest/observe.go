package labtest

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// observed is what every replica has to be looked at by.
const observed = `
extensions:
  healthcheckv2:
    use_v2: true
    http: {endpoint: "${env:HEALTH_ENDPOINT}", status: {enabled: true, path: /status}}
service:
  extensions: [file_storage/wal, healthcheckv2]
  telemetry:
    metrics:
      level: normal
      readers:
        - pull: {exporter: {prometheus: {host: "${env:METRICS_HOST}", port: "${env:METRICS_PORT}"}}}
`

// Status is what the collector says of the exporter.
type Status struct {
	State string // OK, RecoverableError, PermanentError
	Error string
}

type statusNode struct {
	Status, Error string
	Components    map[string]statusNode
}

// Status asks the collector's health endpoint for the exporter's status; it is
// empty while there is no answer.
func (r *Replica) Status() Status {
	body, ok := fetch("http://" + r.health + "/status?verbose")
	var root statusNode
	if !ok || json.Unmarshal(body, &root) != nil {
		return Status{}
	}
	for _, pipeline := range root.Components {
		if n, ok := pipeline.Components["exporter:s3window"]; ok {
			return Status{State: strings.TrimPrefix(n.Status, "Status"), Error: n.Error}
		}
	}
	return Status{}
}

// AwaitStatus waits until the exporter's status is in a state, and its error
// contains a text.
func (r *Replica) AwaitStatus(state, text string) Status {
	r.lab.t.Helper()
	var s Status
	r.lab.Await("status "+state+" "+text+"; log: "+r.Process.Log, func() bool {
		s = r.Status()
		return s.State == state && strings.Contains(s.Error, text)
	})
	return s
}

// Metric is the sum of one of the exporter's metrics over its attributes, such
// as "wal_bytes"; NaN while there is none.
func (r *Replica) Metric(name string) float64 {
	body, _ := fetch("http://" + r.metrics + "/metrics")
	sum, found := 0.0, false
	lines := bufio.NewScanner(strings.NewReader(string(body)))
	for lines.Scan() {
		line := lines.Text()
		end := strings.LastIndexByte(line, ' ') // labels may have spaces
		series, _, _ := strings.Cut(line[:max(end, 0)], "{")
		if !matches(series, "otelcol_exporter_s3window_"+name) {
			continue
		}
		if v, err := strconv.ParseFloat(line[end+1:], 64); err == nil {
			sum, found = sum+v, true
		}
	}
	if !found {
		return math.NaN()
	}
	return sum
}

// AwaitIdle waits until the replica's queue is empty: everything that it took
// is committed, and it knows.
func (r *Replica) AwaitIdle() {
	r.lab.t.Helper()
	r.lab.Await("the queue is empty", func() bool { return r.Metric("wal_entries") == 0 })
}

// matches says whether a Prometheus name is that of a metric, with or without
// its unit.
func matches(series, metric string) bool {
	rest, ok := strings.CutPrefix(series, metric)
	return ok && (rest == "" || rest == "_total" || rest == "_bytes" || rest == "_seconds" || rest == "_bytes_total")
}

func fetch(url string) ([]byte, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, false
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, false
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return body, err == nil
}
