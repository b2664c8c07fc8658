//go:build iceberg

package icecat_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/icebergsync/internal/source"
	"github.com/s3window/s3window/icebergsync/internal/syncer"
	"github.com/s3window/s3window/icebergsync/internal/synctest"
	"github.com/s3window/s3window/icebergsync/internal/table"
	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/testbed/s3test"
)

// found is what an engine found in a table.
type found struct {
	ByTenant map[string]int64 `json:"by_tenant"`
	Acme     int64            `json:"acme"`
	Hour     int64            `json:"hour"`
	Code     *int64           `json:"code"`
}

// ask has an engine read tables, by testbed/compat/iceberg/readers.py.
func (r *restRig) ask(engine string, tables ...string) map[string]found {
	r.t.Helper()
	python := os.Getenv("S3WINDOW_ICEBERG_PYTHON")
	if python == "" {
		python = filepath.Join(filepath.Dir(filepath.Dir(s3test.Binary(r.t, "versitygw"))), "iceberg-readers", "bin", "python")
	}
	_, err := os.Stat(python)
	require.NoError(r.t, err, "run make iceberg-readers")
	script, err := filepath.Abs(filepath.Join("..", "..", "..", "testbed", "compat", "iceberg", "readers.py"))
	require.NoError(r.t, err)
	cmd := exec.Command(python, append([]string{script, engine, r.rest.URI, r.rest.Bucket}, tables...)...)
	cmd.Dir = r.t.TempDir()
	cmd.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+r.server.Endpoint, "AWS_ACCESS_KEY_ID="+r.server.AccessKey,
		"AWS_SECRET_ACCESS_KEY="+r.server.SecretKey, "AWS_REGION="+r.server.Region, "SPARK_LOCAL_IP=127.0.0.1", "POLARS_ICEBERG_PLANNER=pyiceberg")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(r.t, err, "%s: %s", engine, stderr.String()[max(0, stderr.Len()-4000):])
	var got map[string]found
	require.NoError(r.t, json.Unmarshal(out, &got), "%s", out)
	return got
}

// Every engine finds the same rows in the tables of all signals: by a filter on
// the tenant that does not select it, across a new column and two partition
// specs, and after other engines compacted and deleted. ENGINES names some.
func TestRESTReaders(t *testing.T) {
	engines := strings.Fields(os.Getenv("ENGINES"))
	if len(engines) == 0 {
		engines = []string{"pyiceberg", "duckdb", "polars", "chdb", "spark"}
	}
	r := newRESTRig(t)
	want := map[string]found{}
	add := func(tenant string, is synctest.Window, code bool) {
		m := r.writer.Commit(tenant, is)
		f := want["otel."+string(m.Signal)]
		if f.ByTenant == nil {
			f.ByTenant = map[string]int64{}
		}
		f.ByTenant[tenant] += m.Records
		if tenant == "acme" {
			f.Acme += m.Records
			if m.End <= clock2300 {
				f.Hour += m.Records
			}
		}
		if code {
			n := m.Records
			if f.Code != nil {
				n += *f.Code
			}
			f.Code = &n
		}
		want["otel."+string(m.Signal)] = f
	}
	column := []encode.Column{{Attribute: "code", As: "code", Type: "int64"}}
	add("acme", synctest.Window{}, false)
	for _, s := range []partition.Signal{partition.Traces, partition.Metrics} {
		add("acme", synctest.Window{Signal: s, Rows: 50}, false)
		add("globex", synctest.Window{Signal: s, Rows: 50}, false)
	}
	add("globex", synctest.Window{}, false)
	r.syncAll()
	add("acme", synctest.Window{Columns: column, Set: map[string]any{"code": 7}}, true)
	add("acme", synctest.Window{Long: true}, false)
	add("globex", synctest.Window{Objects: 2, Elsewhere: true}, false)
	r.syncAll()
	all := []string{"otel.logs", "otel.traces", "otel.metrics"}
	check := func(when string) {
		t.Helper()
		for _, engine := range engines {
			assert.Equal(t, want, r.ask(engine, all...), "%s, %s", engine, when)
		}
	}
	check("as they were made")

	before := objects(t, r.writer.Lake)
	if strings.Contains(strings.Join(engines, " "), "spark") {
		r.ask("compact", all...)
		r.syncAll()
		check("compacted by Spark")
		r.ask("erase", "otel.logs")
	} else {
		r.ask("pyerase", "otel.logs")
	}
	delete(want["otel.logs"].ByTenant, "globex")
	add("globex", synctest.Window{}, false)
	add("acme", synctest.Window{}, false)
	r.syncAll()
	check("a tenant erased, and synchronised since")
	for key := range before {
		_, err := r.writer.Lake.Bucket().Stat(t.Context(), key)
		require.NoError(t, err, "no engine deletes what is the lake's")
	}
}

const clock2300 = int64(1796079600000000) // 2026-11-30T23:00:00Z

func objects(t *testing.T, l *lake.Lake) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	require.NoError(t, l.Bucket().List(t.Context(), "otel/tenant=", "", func(i lake.Info) error { out[i.Key] = true; return nil }))
	return maps.Clone(out)
}

// syncAll runs one pass for each signal's table.
func (r *restRig) syncAll() {
	r.t.Helper()
	src := source.New(r.writer.Lake)
	for _, signal := range []partition.Signal{partition.Logs, partition.Traces, partition.Metrics} {
		var logs []syncer.Log
		for _, log := range r.logs() {
			log.Signal = signal
			logs = append(logs, log)
		}
		report, err := syncer.New(table.Name{"otel", string(signal)}, r.catalog, src, r.opts).Pass(r.t.Context(), logs, true)
		require.NoError(r.t, err)
		require.Empty(r.t, report.Problems)
	}
}
