package s3windowexporter

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/testbed/s3test"
)

// layouts reads how the sink files in the exporter's lake.
func (r *rig) layouts() lake.Layouts {
	r.t.Helper()
	at := r.cfg.S3
	at.Endpoint = r.server.Endpoint
	l, done := r.lakeAt(at)
	defer done()
	is, _, err := l.Layouts(r.t.Context(), r.cfg.Sink)
	require.NoError(r.t, err)
	return is
}

// awaitTrouble waits until the status says all of the texts.
func (r *rig) awaitTrouble(texts ...string) {
	r.t.Helper()
	r.await(func() bool {
		s, err := r.host.last()
		if s != componentstatus.StatusRecoverableError {
			return false
		}
		for _, text := range texts {
			if !strings.Contains(err.Error(), text) {
				return false
			}
		}
		return true
	})
}

// change gives the rig another configuration, as the next start has one.
func (r *rig) change(f func(*Config)) {
	cfg := *r.cfg
	f(&cfg)
	r.cfg = &cfg
}

// A start with another layout writes nothing to the lake, says what to do, and
// goes on when it is told to. Tenants with lakes of their own go on meanwhile.
func TestAnotherLayoutIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		first, change func(*Config)
		want          string
	}{
		"format":      {change: func(c *Config) { c.Format = formatJSONL }, want: "the lake is filed with format parquet, the configuration says format jsonl.zst"},
		"compression": {func(c *Config) { c.Format = formatJSONL }, func(c *Config) { c.JSONL.Compression = "gzip" }, "with format jsonl.zst, the configuration says format jsonl.gz"},
		"align":       {change: func(c *Config) { c.Partition.Align = partition.AlignDay }, want: "with align hour, the configuration says align day"},
		"time":        {change: func(c *Config) { c.Partition.Time = timeEvent }, want: "with time received, the configuration says time event"},
		"by":          {change: func(c *Config) { c.Partition.By = []LevelConfig{{Attribute: "env", As: "env"}} }, want: "with by none, the configuration says by env=env"},
		"by another": {
			func(c *Config) { c.Partition.By = []LevelConfig{{Attribute: "env", As: "env"}} },
			func(c *Config) { c.Partition.By = []LevelConfig{{ResourceAttribute: "deployment", As: "env"}} },
			"with by env=env, the configuration says by env=deployment",
		},
		"all": {
			change: func(c *Config) {
				c.Format, c.Partition.Align, c.Partition.Time = formatJSONL, partition.AlignNone, timeEvent
			},
			want: "with format parquet, align hour, time received, the configuration says format jsonl.zst, align none, time event",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			if c.first != nil {
				c.first(r.cfg)
			}
			e := r.start()
			require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a")))
			r.awaitCommitted("a", 1)
			r.shutdown(e)

			r.change(c.change)
			r.tenant("acme", func(s *TenantSettings) { s.S3.Bucket = r.server.NewBucket(t) })
			e = r.start()
			require.NoError(t, e.ConsumeLogs(t.Context(), logs(2, "a", "acme")))
			r.awaitCommitted("acme", 2)
			r.awaitTrouble("set `layout: adopt` to go on knowingly, or another `s3::prefix`", c.want, "1 partitions wait")
			assert.EqualValues(t, 1, r.committed("a"))
			r.shutdown(e)

			r.change(func(c *Config) { c.Layout = layoutAdopt })
			e = r.start()
			r.awaitCommitted("a", 3)
			r.shutdown(e)
			require.Len(t, r.layouts().Layouts, 2, "what it was is remembered")

			r.change(func(c *Config) { c.Layout = layoutKeep })
			r.host.events = nil
			e = r.start()
			require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a")))
			r.awaitCommitted("a", 4)
			r.shutdown(e)
			assert.Empty(t, r.host.statuses(), "it is the lake's own now")
		})
	}
}

// What does not decide where objects are and how their names end may change.
func TestSameLayout(t *testing.T) {
	r := newRig(t)
	e := r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a")))
	r.awaitCommitted("a", 1)
	r.shutdown(e)
	is := r.layouts()
	assert.Equal(t, lake.Layouts{Version: 1, Sink: "default", Layouts: []lake.Layout{{
		Align: partition.AlignHour, Time: "received", By: []lake.LayoutLevel{}, Format: "parquet", Tenants: map[string]string{},
	}}}, is)
	r.change(func(c *Config) {
		c.Parquet = ParquetConfig{Codec: "snappy", Level: "3"}
		c.JSONL.Compression = "none"
		c.Partition.MaxEventSkew, c.Partition.MaxPrefixes = time.Hour, 5
		c.Flush.TargetSizeMiB, c.Flush.MaxObjectSizeMiB = 10, 10
	})
	e = r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a")))
	r.awaitCommitted("a", 2)
	r.shutdown(e)
	assert.Equal(t, is, r.layouts())
	assert.Empty(t, r.host.statuses())
}

// A tenant whose format is changed waits, and no other one of its lake does. One
// that has left nothing there may have any format.
func TestAnotherFormatOfATenantIsRefused(t *testing.T) {
	r := newRig(t)
	e := r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "acme", "a")))
	r.awaitCommitted("acme", 1)
	r.awaitCommitted("a", 1)
	r.shutdown(e)

	r.change(func(*Config) {})
	r.tenant("acme", func(s *TenantSettings) { s.Format = formatJSONL })
	r.tenant("new", func(s *TenantSettings) { s.Format = formatJSONL })
	e = r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "acme", "a", "new")))
	r.awaitCommitted("a", 2)
	r.awaitCommitted("new", 1)
	r.awaitTrouble("set `layout: adopt`", `the lake is filed with tenant "acme" as parquet, the configuration says jsonl.zst`)
	assert.EqualValues(t, 1, r.committed("acme"))
	r.shutdown(e)
	require.Len(t, r.layouts().Layouts, 1)
	assert.Equal(t, map[string]string{"new": "jsonl.zst"}, r.layouts().Newest().Tenants)

	r.change(func(c *Config) { c.Layout = layoutAdopt })
	e = r.start()
	r.awaitCommitted("acme", 2)
	r.shutdown(e)
	assert.Equal(t, map[string]string{"acme": "jsonl.zst", "new": "jsonl.zst"}, r.layouts().Newest().Tenants)

	// Back to all alike: now both would be mixed.
	r.change(func(c *Config) { c.Layout, c.Tenants = layoutKeep, nil })
	e = r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "new", "a")))
	r.awaitCommitted("a", 3)
	r.awaitTrouble(`tenant "acme" as jsonl.zst (and 1 more tenants), the configuration says parquet`)
	assert.EqualValues(t, 1, r.committed("new"))
	r.shutdown(e)
}

// A refusal is not final: the lake may be adopted by another process meanwhile.
func TestLayoutIsLookedAtAgain(t *testing.T) {
	r := newRig(t)
	at := r.cfg.S3
	at.Endpoint = r.server.Endpoint
	l, done := r.lakeAt(at)
	defer done()
	other := lake.Layouts{Version: 1, Sink: "default", Layouts: []lake.Layout{{Align: partition.AlignDay, Time: "received", Format: "parquet"}}}
	require.NoError(t, l.PutLayouts(t.Context(), other, ""))
	core, logged := zapobserver.New(zap.WarnLevel)
	set := settings()
	set.Logger = zap.New(core)
	e := r.create(set)
	require.NoError(t, e.Start(t.Context(), r.host))
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a")))
	r.awaitTrouble("align day")
	before := r.probes()
	r.await(func() bool { return strings.Count(r.layoutReads(), "GET") > 3 })
	assert.Equal(t, before, r.probes(), "what the store can do is proven once")
	assert.Equal(t, 1, logged.FilterMessageSnippet("filed in another layout").Len(), "said once")
	_, etag, err := l.Layouts(t.Context(), "default")
	require.NoError(t, err)
	require.NoError(t, l.PutLayouts(t.Context(), other.With(newDirectory(r.cfg).layout(r.cfg.S3.ref()), false), etag))
	r.awaitCommitted("a", 1)
	r.await(func() bool { s, _ := r.host.last(); return s == componentstatus.StatusOK })
	r.shutdown(e)
}

// layoutReads are the methods of all requests for layouts.
func (r *rig) layoutReads() string {
	var methods []string
	for _, seen := range r.proxy.Seen() {
		if strings.HasSuffix(seen.Path, "/layout.json") {
			methods = append(methods, seen.Method)
		}
	}
	return strings.Join(methods, " ")
}

// A lake whose layout cannot be read is not written to.
func TestLayoutThatIsUnreadable(t *testing.T) {
	r := newRig(t)
	r.proxy.Break(s3test.Rule{Method: "GET", Key: "layout.json$", Do: s3test.Answer, Status: 403})
	e := r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a")))
	r.awaitTrouble("check bucket", "403 AccessDenied")
	r.proxy.Heal()
	r.awaitCommitted("a", 1)
	r.shutdown(e)
}

func TestLayoutsOfTheConfiguration(t *testing.T) {
	cfg := tenantsConfig() // acme and a bad name have a lake of their own, off another
	cfg.Partition.By = []LevelConfig{{ResourceAttribute: "service.name", As: "service"}}
	change := func(name string, f func(*TenantSettings)) {
		s := cfg.Tenants[name]
		f(&s)
		cfg.Tenants[name] = s
	}
	change("beta", func(s *TenantSettings) { s.Format, s.JSONL.Compression = formatJSONL, "none" })
	by := []lake.LayoutLevel{{ResourceAttribute: "service.name", As: "service"}}
	layout := func(at S3Config) lake.Layout { return newDirectory(cfg).layout(at.ref()) }
	assert.Equal(t, lake.Layout{
		Align: "hour", Time: "received", By: by, Format: "parquet", Tenants: map[string]string{"beta": "jsonl"},
	}, layout(cfg.S3))
	acme := cfg.Tenants["acme"].S3
	assert.Equal(t, lake.Layout{Align: "hour", Time: "received", By: by, Format: "parquet", Tenants: map[string]string{}}, layout(acme), "all of it have one")
	change("acme", func(s *TenantSettings) { s.Format = formatJSONL })
	assert.Equal(t, lake.Layout{
		Align: "hour", Time: "received", By: by, Tenants: map[string]string{"acme": "jsonl.zst", partition.Tenant("a\xffb"): "parquet"},
	}, layout(acme), "nobody else files there")
}

// scripted is a check of a lake in memory.
func scripted(t *testing.T, want lake.Layout, script func(laketest.Op) laketest.Fault) *layoutCheck {
	t.Helper()
	b := laketest.NewMemory()
	l := lake.New(b, lake.Ref{Bucket: "lake"})
	is := lake.Layout{Align: "hour", Time: "received", Format: "parquet"}
	require.NoError(t, l.PutLayouts(t.Context(), lake.Layouts{Version: 1, Sink: "s", Layouts: []lake.Layout{is}}, ""))
	b.Script(script)
	return &layoutCheck{lake: l, sink: "s", want: want, logger: zap.NewNop()}
}

// A store that cannot replace the record of a layout keeps nobody out: it tells
// less of the lake's tenants than it could.
func TestLayoutThatCannotBeBroughtUpToDate(t *testing.T) {
	want := lake.Layout{Align: "hour", Time: "received", Format: "parquet", Tenants: map[string]string{"new": "jsonl"}}
	refuse := func(op laketest.Op) laketest.Fault {
		if op.Kind == laketest.Replace {
			return laketest.Fault{Before: errors.New("501 NotImplemented")}
		}
		return laketest.Fault{}
	}
	c := scripted(t, want, refuse)
	mixed, err := c.run(t.Context())
	require.NoError(t, err)
	assert.Empty(t, mixed)
	c = scripted(t, want, func(laketest.Op) laketest.Fault { return laketest.Fault{} })
	_, err = c.run(t.Context())
	require.NoError(t, err)
	is, _, err := c.lake.Layouts(t.Context(), "s")
	require.NoError(t, err)
	assert.Equal(t, want.Tenants, is.Newest().Tenants)
	assert.Len(t, is.Layouts, 1, "it is the same layout")
}

// Replicas that change it again and again are not followed for ever.
func TestLayoutThatIsChangedAllTheTime(t *testing.T) {
	c := scripted(t, lake.Layout{Align: "hour", Time: "received", Format: "parquet", Tenants: map[string]string{"new": "jsonl"}}, func(op laketest.Op) laketest.Fault {
		if op.Kind == laketest.Replace {
			return laketest.Fault{Before: lake.ErrChanged}
		}
		return laketest.Fault{}
	})
	_, err := c.run(t.Context())
	require.ErrorContains(t, err, "changed again and again")
}

// Replicas that start together agree.
func TestReplicasRecordOneLayout(t *testing.T) {
	r := newRig(t)
	replicas := []*rig{r}
	for range 2 {
		storage := &memoryStorage{}
		other := &rig{t: t, server: r.server, proxy: r.proxy, storage: storage, cfg: r.cfg, factory: NewFactory(), host: &host{extensions: nil}}
		other.host.extensions = map[component.ID]component.Component{storageID(): storage}
		replicas = append(replicas, other)
	}
	for _, one := range replicas {
		e := one.start()
		defer one.shutdown(e)
		require.NoError(t, e.ConsumeLogs(context.Background(), logs(1, "a")))
	}
	r.awaitCommitted("a", 3)
	assert.Len(t, r.layouts().Layouts, 1)
	for _, one := range replicas {
		assert.Empty(t, one.host.statuses())
	}
}
