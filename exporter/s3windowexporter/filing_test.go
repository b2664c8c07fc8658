package s3windowexporter

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/attribute"

	"github.com/s3window/s3window/exporter/s3windowexporter/internal/metadatatest"
	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// noon is the middle of the hour at hand: records that are some hours older than
// it lie in the same hours though this hour may end meanwhile.
func noon() time.Time { return time.Now().Truncate(time.Hour).Add(30 * time.Minute) }

// aged is a request with a record of a service per age.
func aged(now time.Time, service string, ages ...time.Duration) plog.Logs {
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("tenant.id", "a")
	rl.Resource().Attributes().PutStr("service.name", service)
	records := rl.ScopeLogs().AppendEmpty().LogRecords()
	for _, age := range ages {
		records.AppendEmpty().SetTimestamp(pcommon.NewTimestampFromTime(now.Add(-age)))
	}
	ld.MarkReadOnly()
	return ld
}

// dirs gives the directories of a tenant's objects below signal=, with the
// number of records in each.
func (r *rig) dirs(tenant string, signal partition.Signal) map[string]int64 {
	r.t.Helper()
	out := map[string]int64{}
	at := r.cfg.S3
	at.Endpoint = r.server.Endpoint
	below := partition.DataPrefix("", partition.ID{Tenant: tenant, Signal: signal})
	r.manifestsIn(at, tenant, signal, func(m lake.Manifest) {
		for _, o := range m.Objects {
			out[strings.TrimPrefix(path.Dir(o.Key), below)] += o.Records
		}
	})
	return out
}

// Records are filed under their own hour and their service, and what cannot be
// is counted.
func TestRecordsAreFiledByTheirOwnTimeAndLevels(t *testing.T) {
	r := newRig(t)
	r.cfg.Flush.MaxAge = time.Second
	r.cfg.Partition.Time, r.cfg.Partition.MaxEventSkew = timeEvent, 6*time.Hour
	r.cfg.Partition.By = []LevelConfig{{ResourceAttribute: "service.name", As: "service"}}
	tel := componenttest.NewTelemetry()
	set := metadatatest.NewSettings(tel)
	set.ID = settings().ID
	e := r.create(set)
	require.NoError(t, e.Start(t.Context(), r.host))
	now := noon()
	require.NoError(t, e.ConsumeLogs(t.Context(), aged(now, "cart", 0, 2*time.Hour, 2*time.Hour)))
	require.NoError(t, e.ConsumeLogs(t.Context(), aged(now, "a/b", 2*time.Hour)))
	require.NoError(t, e.ConsumeLogs(t.Context(), aged(now, "", 0)))
	require.NoError(t, e.ConsumeLogs(t.Context(), aged(now, "late", 8*time.Hour)))
	r.awaitCommitted("a", 6)
	at := func(age time.Duration, levels string) string {
		p := partition.Place{Time: now.Add(-age).UnixMicro(), Align: partition.AlignHour, Levels: levels}.String()
		return p[:len(p)-1]
	}
	dirs := r.dirs("a", partition.Logs)
	maps.DeleteFunc(dirs, func(dir string, n int64) bool {
		// In the hour in which its window began.
		return n == 1 && strings.HasSuffix(dir, "service=late") && dir != at(8*time.Hour, "service=late")
	})
	assert.Equal(t, map[string]int64{
		at(0, "service=cart"): 1, at(2*time.Hour, "service=cart"): 2, at(2*time.Hour, "service=a%2Fb"): 1,
		at(0, "service=__HIVE_DEFAULT_PARTITION__"): 1,
	}, dirs)
	r.await(func() bool {
		return counter(t, tel, "refiled_records", attribute.String("exporter", "s3window/test"), attribute.String("signal", "logs"), attribute.String("cause", "skew")) == 1
	})
	r.shutdown(e)
	require.NoError(t, tel.Shutdown(context.Background()))
}

// Records of directories that are too small are with the window's own hour, are
// counted, and are all there.
func TestRecordsOfSmallDirectoriesAreCounted(t *testing.T) {
	r := newRig(t)
	r.cfg.Flush.MaxAge = time.Second
	r.cfg.Partition.Time, r.cfg.Partition.MinObjectRecords = timeEvent, 3
	tel := componenttest.NewTelemetry()
	set := metadatatest.NewSettings(tel)
	set.ID = settings().ID
	e := r.create(set)
	require.NoError(t, e.Start(t.Context(), r.host))
	now := noon()
	require.NoError(t, e.ConsumeLogs(t.Context(), aged(now, "cart", 0, 2*time.Hour, 2*time.Hour, 2*time.Hour, 3*time.Hour, 4*time.Hour)))
	r.awaitCommitted("a", 6)
	dirs := r.dirs("a", partition.Logs)
	late := partition.Place{Time: now.Add(-2 * time.Hour).UnixMicro(), Align: partition.AlignHour}.String()
	assert.EqualValues(t, 3, dirs[strings.TrimSuffix(late, "/")])
	assert.Len(t, dirs, 2)
	r.await(func() bool {
		// That of this hour is with its own, or the hour ended meanwhile.
		return counter(t, tel, "refiled_records", attribute.String("exporter", "s3window/test"), attribute.String("signal", "logs"), attribute.String("cause", "small")) >= 2
	})
	r.shutdown(e)
	require.NoError(t, tel.Shutdown(context.Background()))
}

// Spans and data points are filed alike.
func TestEverySignalIsFiled(t *testing.T) {
	r := newRig(t)
	r.cfg.Partition.By = []LevelConfig{{ResourceAttribute: "tenant.id", As: "owner"}}
	s := r.startSignals()
	require.NoError(t, s.ConsumeTraces(t.Context(), spans(3, "a")))
	require.NoError(t, s.ConsumeMetrics(t.Context(), points(5, "a")))
	require.NoError(t, s.ConsumeLogs(t.Context(), logs(2, "a")))
	for signal, n := range map[partition.Signal]int64{partition.Traces: 3, partition.Metrics: 5, partition.Logs: 2} {
		r.await(func() bool { return r.committedOf("a", signal) >= n })
		dirs := r.dirs("a", signal)
		require.Len(t, dirs, 1)
		for dir, records := range dirs {
			assert.Equal(t, "owner=a", path.Base(dir))
			assert.Equal(t, n, records)
		}
	}
	r.shutdownSignals(s)
}

// Windows that an earlier configuration sealed are finished as they were.
func TestFilingChangesBetweenStarts(t *testing.T) {
	now := noon()
	r := newRig(t)
	e := r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), aged(now, "cart", 0, 30*time.Hour)))
	r.awaitCommitted("a", 2)
	r.bucketDown()
	require.NoError(t, e.ConsumeLogs(t.Context(), aged(now, "cart", 0, 30*time.Hour)))
	r.shutdown(e)
	r.proxy.Heal()
	r.cfg.Partition.Time, r.cfg.Layout = timeEvent, layoutAdopt
	e = r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), aged(now, "cart", 0, 30*time.Hour)))
	r.awaitCommitted("a", 6)
	r.shutdown(e)
	var all int64
	dirs := r.dirs("a", partition.Logs)
	for _, n := range dirs {
		all += n
	}
	assert.EqualValues(t, 6, all)
	assert.Contains(t, dirs, partition.Place{Time: now.Add(-30 * time.Hour).UnixMicro(), Align: partition.AlignHour}.String()[:len("dt=2026-10-03/hour=06")])
}

// No key is longer than the configuration is held to.
func TestLongestKey(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.S3.Prefix = strings.Repeat("p", 100)
	id := partition.ID{Tenant: partition.Tenant(strings.Repeat("t", 1000)), Signal: partition.Metrics}
	var levels []string
	for _, as := range []string{"a", strings.Repeat("b", 32)} {
		cfg.Partition.By = append(cfg.Partition.By, LevelConfig{Attribute: "x", As: as})
		levels = append(levels, partition.Level(as, strings.Repeat("/", 1000)), partition.Level(as, strings.Repeat("v", 1000)))
	}
	longest := 0
	for _, first := range levels[:2] {
		for _, second := range levels[2:] {
			key := partition.PlacedKey(cfg.S3.Prefix, id, partition.Place{Align: partition.AlignHour, Levels: first + "/" + second},
				partition.ObjectName{Start: 1791009458377856, End: 1791009758000001, Writer: "q7m2aaaaaaaaa", Part: 1000, Ext: "jsonl.zst"})
			longest = max(longest, len(key))
		}
	}
	assert.LessOrEqual(t, longest, cfg.longestKey())
	assert.InDelta(t, cfg.longestKey(), longest, 8, "and not much shorter")
}

// Late records and rare values, one in a hundred, do not make an object each
// with what is set by default, however large windows are; those of small windows
// keep directories that mean something.
func TestFewRecordsDoNotShredAWindow(t *testing.T) {
	for records, windows := range map[int]int{300: 12, 2000: 12, 100_000: 3} {
		t.Run(fmt.Sprint(records), func(t *testing.T) {
			hundredth := func(i int) bool { return i%100 == 50 }
			for name, c := range map[string]struct {
				partition PartitionConfig
				record    func(r *rand.Rand, i int, lr plog.LogRecord)
				whole     int // objects that a window has without them
				rest      int // and one where those are that a level cannot name
			}{
				"late over six days": {
					PartitionConfig{Time: timeEvent}, func(r *rand.Rand, i int, lr plog.LogRecord) {
						at := noon()
						if hundredth(i) {
							at = at.Add(-time.Duration(r.IntN(144)) * time.Hour)
						}
						lr.SetTimestamp(pcommon.NewTimestampFromTime(at))
					}, 1, 0,
				},
				"rare values": {
					PartitionConfig{Time: timeReceived, By: []LevelConfig{{Attribute: "env", As: "env"}}}, func(r *rand.Rand, i int, lr plog.LogRecord) {
						lr.Attributes().PutStr("env", "prod")
						if hundredth(i) {
							lr.Attributes().PutStr("env", fmt.Sprint("branch-", r.IntN(200)))
						}
					}, 1, 1,
				},
				"three services and rare values": {
					PartitionConfig{Time: timeReceived, By: []LevelConfig{{Attribute: "service", As: "service"}}}, func(r *rand.Rand, i int, lr plog.LogRecord) {
						lr.Attributes().PutStr("service", fmt.Sprint("s", i%3))
						if hundredth(i) {
							lr.Attributes().PutStr("service", fmt.Sprint("once-", r.IntN(200)))
						}
					}, 3, 1,
				},
			} {
				t.Run(name, func(t *testing.T) {
					objects := func(change func(*PartitionConfig)) (n int, small int64) {
						p := createDefaultConfig().(*Config).Partition
						p.Time, p.By = c.partition.Time, c.partition.By
						change(&p)
						r := rand.New(rand.NewPCG(1, 20))
						for range windows {
							plan := planOf(t, &p, records, func(i int, lr plog.LogRecord) { c.record(r, i, lr) })
							n, small = n+plan.Len(), small+plan.Small
						}
						return n, small
					}
					n, small := objects(func(*PartitionConfig) {})
					before, _ := objects(func(p *PartitionConfig) { p.MinObjectRecords = 1 })
					t.Logf("%d windows of %d records: %d objects, %d without a least size; %d records are filed together", windows, records, n, before, small)
					assert.Equal(t, windows*(c.whole+c.rest), n, "what is much has its own")
					assert.LessOrEqual(t, n, 2*windows*c.whole)
					assert.Positive(t, small, "they are counted")
				})
			}
		})
	}
}

// planOf deals out a window of n records.
func planOf(t *testing.T, p *PartitionConfig, n int, record func(i int, lr plog.LogRecord)) *encode.Plan {
	t.Helper()
	spec := (&TenantSettings{Format: formatParquet, Parquet: ParquetConfig{Codec: "snappy"}}).spec(partition.Logs)
	spec.Filing = p.filing()
	e, err := encode.New(spec)
	require.NoError(t, err)
	var staged []encode.Staged
	const call = 25_000
	for from := 0; from < n; from += call {
		ld := plog.NewLogs()
		records := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
		for i := from; i < min(n, from+call); i++ {
			record(i, records.AppendEmpty())
		}
		b, err := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
		require.NoError(t, err)
		s, err := e.Stage([]encode.Entry{{Payload: b, ReceivedAt: noon().UnixMicro()}})
		require.NoError(t, err)
		staged = append(staged, s)
	}
	return e.Plan(partition.Place{Time: noon().UnixMicro(), Align: p.Align}, staged)
}
