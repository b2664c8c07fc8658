package s3windowexporter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"
	"go.opentelemetry.io/collector/exporter/exporterhelper"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/lease/memory"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/s3client"
)

// load reads the settings under name in testdata/config.yaml over the defaults.
func load(t *testing.T, name string) *Config {
	t.Helper()
	all, err := confmaptest.LoadConf(filepath.Join("testdata", "config.yaml"))
	require.NoError(t, err)
	sub, err := all.Sub(name)
	require.NoError(t, err)
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, sub.Unmarshal(cfg))
	return cfg
}

// invalid has, by its name in testdata/config.yaml, what is said of a
// configuration.
func invalid() map[string][]string {
	return map[string][]string{
		"no_bucket": {"s3: `bucket` is empty: it must name the bucket that objects go to"},
		"s3_values": {
			"s3: `bucket` (\"otel/prod\") must be 3 to 63 of a-z 0-9 . - with a letter or digit at both ends: AWS has no other names",
			"s3: `secret_access_key` is empty while `access_key_id` is set: both, or neither for the SDK's default chain",
			"s3: `checksum` (\"md5\") must be crc32c, crc64nvme, sha256 or none: the store checks uploads with it",
			"s3: `timeout` (1ms) must be 1s to 10m0s: a connection on which nothing moves for that long is given up",
		},
		"prefix_leading_slash":  {"`s3::prefix` (\"/otel\") must be segments with single slashes between them, such as otel/prod: a slash at its ends gives keys with an empty segment"},
		"prefix_trailing_slash": {"`s3::prefix` (\"otel/\") must be segments with single slashes between them, such as otel/prod: a slash at its ends gives keys with an empty segment"},
		"prefix_empty_segment":  {"`s3::prefix` (\"otel//prod\") must be segments with single slashes between them, such as otel/prod: an empty segment is lost or refused by tools that treat keys as paths"},
		"prefix_dot":            {"`s3::prefix` (\"otel/./prod\") must be segments with single slashes between them, such as otel/prod: tools that treat keys as paths resolve . and .. to another place"},
		"prefix_dots":           {"`s3::prefix` (\"otel/../prod\") must be segments with single slashes between them, such as otel/prod: tools that treat keys as paths resolve . and .. to another place"},
		"prefix_control":        {"`s3::prefix` (\"otel\\n\") must be segments with single slashes between them, such as otel/prod: keys are printable UTF-8"},
		"prefix_long_head": {
			"`s3::prefix` (\"" + strings.Repeat("ü", 140) + "\") must be shorter: names of heads get up to 1075 bytes and leases take 1024; bytes outside A-Z a-z 0-9 . _ - count three times there, slashes too",
			"`tenants::beta::s3::prefix` (\"" + strings.Repeat("a/", 199) + "a\") must be shorter: names of heads get up to 1032 bytes and leases take 1024; bytes outside A-Z a-z 0-9 . _ - count three times there, slashes too",
		},
		"part_sizes": {
			"`s3::multipart_threshold_mib` (4) must be 5 to 5120: stores take parts from 5 MiB and single requests up to 5 GiB",
			"`s3::part_size_mib` (5121) must be 5 to 5120: stores take parts of 5 MiB to 5 GiB",
		},
		"sink_empty": {"`sink` (\"\") must be 1 to 64 of A-Z a-z 0-9 . _ -: it is part of keys and of the queue's name"},
		"sink_path":  {"`sink` (\"a/b\") must be 1 to 64 of A-Z a-z 0-9 . _ -: it is part of keys and of the queue's name"},
		"sink_long":  {"`sink` (\"01234567890123456789012345678901234567890123456789012345678901234\") must be 1 to 64 of A-Z a-z 0-9 . _ -: it is part of keys and of the queue's name"},
		"tenant_rules": {
			"`tenant::from::1` must have one of `auth`, `metadata` and `resource_attribute`: a rule looks in one place",
			"`tenant::from::2` must have one of `auth`, `metadata` and `resource_attribute`: a rule looks in one place",
			"`tenant::on_missing` (\"drop\") must be default or refuse: it says what becomes of records for which no rule gives a tenant",
			"`tenant::default` is empty: it must name the tenant of records for which no rule gives one",
			"`tenant::max_tenants` (0) must be 1 to 10000000: every tenant costs memory and objects of its own",
			"`tenant::max_new_per_minute` (0) must be 1 to 10000000: every new tenant costs an object, whoever named it",
		},
		"tenant_nobody":   {"`tenant::on_missing` (\"refuse\") needs a rule under `tenant::from`: without one all records are refused"},
		"tenant_none":     {"`tenant::known_only` (true) needs blocks under `tenants`: without one all records are refused"},
		"tenant_defaults": {"`tenant::known_only` (true) refuses `tenant::default` (\"nobody\"): give it a block under `tenants`, or set `tenant::on_missing: refuse`"},
		"tenant_names": {
			"`tenants` has \"1.2345678901e+10\", which is what YAML makes of a long number without quotes: write the name in quotes, such as \"012345678901\" or \"12345678901\"",
			"`tenants` has \"2026-01-01 00:00:00 +0000 UTC\", which is what YAML makes of a time without quotes: write it as \"2026-01-01\", in quotes",
			"`tenants` has \"<nil>\", which is what YAML makes of ~ and null without quotes: write the name in quotes",
		},
		"partition_values": {
			"`partition::align` (week) must be hour, day or none: windows are cut at these boundaries",
			"`partition::time` (\"observed\") must be received or event: objects are filed under the time at which their records came, or under the records' own",
			"`layout` (\"mix\") must be keep or adopt: it says whether a lake that is filed in another layout is written to",
			"`partition::max_event_skew` (1m0s) must be 1h0m0s to 87600h0m0s: older records are filed under received time",
			"`partition::max_prefixes` (0) must be 1 to 1000: each directory of a window costs an object",
			"`partition::min_object_records` (-1) must be 0 to 1000000: records of smaller directories are filed together",
			"`partition::min_object_kib` (1048577) must be 0 to 1048576: records of smaller directories are filed together",
			"`partition::by` (4) must be at most 3 levels: each multiplies the number of objects",
			"`partition::by::1::as` (\"dt\") every key has a level of this name",
			"`partition::by::2::as` (\"service\") must be another name: an earlier level has this one",
			"`partition::by::3` must have one of `attribute`, `resource_attribute` and `scope_attribute`: a level has the values of one",
		},
		"partition_names": {
			"`partition::by::0::as` (\"metric_name\") must be another name: it is a column of metrics, and readers refuse or mistype what is both",
			"`partition::by::1::as` (\"host_name\") must be another name: `parquet::columns` has a column of this one, and readers refuse or mistype what is both",
			"`partition::by::2::as` (\"Service\") must be 1 to 32 of a-z 0-9 _ and begin with no digit",
		},
		"partition_tenant_columns": {
			"`partition::by::0::as` (\"plan\") must be another name: `tenants::acme::parquet::columns` has a column of this one, and readers refuse or mistype what is both",
		},
		"partition_long_prefix": {
			"`partition::by` with `s3::prefix` (\"" + strings.Repeat("p", 300) + "\") makes keys of up to 1139 bytes: S3 takes 1024, so the prefix must be shorter, or the levels fewer",
		},
		"jsonl_values": {"`jsonl::compression` (\"snappy\") must be zstd, gzip or none: objects are named .jsonl.zst, .jsonl.gz or .jsonl by it"},
		"jsonl_columns": {
			"`jsonl::columns`: column 0 (\"a\") has the type \"date\", which is not one of string, int64, double, bool",
			"`jsonl::columns`: column 1 has the name \"ts\", which is empty or taken",
		},
		"jsonl_levels": {
			"`partition::by::1::as` (\"plan\") must be another name: `jsonl::columns` has a column of this one, and readers refuse or mistype what is both",
		},
		"format_values": {
			"`format` (\"avro\") must be parquet or jsonl: objects are written in it",
			"`parquet::codec` (\"gzip\") must be zstd or snappy: every reader of Parquet opens these",
			"`parquet::level` (\"best\") must be fastest or 3: others cost more than they save",
		},
		"columns": {
			"`parquet::columns`: column 0 (\"a\") has the type \"date\", which is not one of string, int64, double, bool",
			"`parquet::columns`: column 1 names 0 attributes, not one",
			"`parquet::columns`: column 2 names 2 attributes, not one",
			"`parquet::columns`: column 3 has the name \"ts\", which is empty or taken",
		},
		"flush_low": {
			"`flush::target_size_mib` (0) must be 1 to 5120: it is the size of objects",
			"`flush::max_age` (99ms) must be 100ms to 24h0m0s: it is how long a record may wait for its window to fill",
			"`flush::shutdown_grace` (-1s) must be 0s to 10m0s: it is how long a shutdown may take to commit; the rest stays in the queue",
		},
		"flush_high": {
			"`flush::target_size_mib` (5121) must be 1 to 5120: it is the size of objects",
			"`flush::max_age` (25h0m0s) must be 100ms to 24h0m0s: it is how long a record may wait for its window to fill",
			"`flush::shutdown_grace` (11m0s) must be 0s to 10m0s: it is how long a shutdown may take to commit; the rest stays in the queue",
		},
		"memory_low":           {"`memory_limit_mib` (64) must be 120 to 1048576: the queue's read-ahead, the encoders and the open windows share it"},
		"target_beyond_memory": {"`flush::target_size_mib` (257) must be at most 141, the largest window that `memory_limit_mib` (512) with `sending_queue::num_consumers` (2) has room for: windows would be sealed for want of memory before they reach it"},
		"queue_off":            {"`sending_queue::enabled` (false) must not be set: records wait in the queue until their window is committed; for a queue in memory leave out `sending_queue::storage`"},
		"queue_batch":          {"`sending_queue::batch` must not be set: requests are gathered into windows; use `flush::target_size_mib` and `flush::max_age`"},
		"queue_wait":           {"`sending_queue::wait_for_result` (true) must not be set: a request is answered when it is durable in the queue; use `sending_queue::storage` with `fsync: true`"},
		"queue_zero":           {"sending_queue: `queue_size` must be positive"},
		"queue_small":          {"`sending_queue::queue_size` (1000) must be at least 1048576 (1 MiB) with `sizer: bytes`: a smaller one refuses common requests"},
		"queue_consumers_zero": {"sending_queue: `num_consumers` must be positive"},
		"queue_consumers_many": {"`sending_queue::num_consumers` (65) must be 1 to 64: it is how many windows are encoded at once, each with memory of its own"},
		"queue_unbounded":      {"`sending_queue::sizer` (\"items\") must be bytes where `sending_queue::storage` is unset: otherwise nothing bounds the memory of the queue"},
		"wal_low": {
			"`wal::segment_size_mib` (0) must be 1 to 1048576: the end of a segment seals every window with records in it",
			"`wal::segment_age` (500ms) must be 1s to 48h0m0s: the end of a segment seals every window with records in it",
			"`wal::segment_size_mib` (0) must be at least `flush::target_size_mib` (128): a window never holds more than a segment, so none would reach its size",
			"`wal::segment_age` (500ms) must be at least `flush::max_age` (5m0s): windows would be sealed by the end of their segment before they reach their age",
		},
		"wal_below_flush": {
			"`wal::segment_size_mib` (127) must be at least `flush::target_size_mib` (128): a window never holds more than a segment, so none would reach its size",
			"`wal::segment_age` (4m59s) must be at least `flush::max_age` (5m0s): windows would be sealed by the end of their segment before they reach their age",
		},
		"retry": {
			"`retry::initial_interval` (1ms) must be 10ms to 1h0m0s: it is the wait before the first retry",
			"`retry::max_interval` (2h0m0s) must be 10ms to 1h0m0s: it is how late a store that is back may be noticed",
		},
		"retry_order": {"`retry::max_interval` (1s) must be at least `retry::initial_interval` (2s): waits grow from the one to the other"},
		"tenants_exporter_only": {
			"`tenants::acme::flush::shutdown_grace` must not be set: a shutdown has one time for all tenants",
			"`tenants::acme::layout` must not be set: it is said of the lakes of all tenants",
			"`tenants::acme::lease` must not be set: replicas take turns in one way for all tenants",
			"`tenants::acme::memory_limit_mib` must not be set: one limit bounds what is held for all tenants",
			"`tenants::acme::num_consumers` must not be set: one pool flushes the windows of all tenants, and `sending_queue::num_consumers` is its size",
			"`tenants::acme::partition` must not be set: the keys of all tenants have the same levels, so that one glob reads them",
			"`tenants::acme::require_bucket` must not be set: a start has one outcome for all tenants",
			"`tenants::acme::retry` must not be set: the steps of all tenants are tried again alike",
			"`tenants::acme::sending_queue` must not be set: one queue holds the records of all tenants",
			"`tenants::acme::sink` must not be set: it names the commit logs and the queue of all tenants",
			"`tenants::acme::telemetry` must not be set: the exporter tells of all tenants alike",
			"`tenants::acme::tenant` must not be set: whose a record is must be known before its settings are",
			"`tenants::acme::tenants` must not be set: a tenant has no tenants",
			"`tenants::acme::wal` must not be set: one queue holds the records of all tenants",
			"`tenants::acme::writer_retention` must not be set: the writers are those of one queue, which holds the records of all tenants",
		},
		"tenants_names": {
			"`tenants` has a block without a name: it must be a tenant's",
			"`tenants::a\\nb::on_disabled` (\"drop\") must be refuse or discard: it says what becomes of requests while `enabled` is false",
			"`tenants` has \"" + strings.Repeat("x", 163) + "-dc31ed5afb940294\" and \"" + strings.Repeat("x", 181) + "\", which are one tenant: one of the names is the form in which the other is filed",
		},
		"tenants_on_disabled": {
			"`tenants::acme::on_disabled` (\"drop\") must be refuse or discard: it says what becomes of requests while `enabled` is false",
			"`tenants::beta::on_disabled` (\"\") must be refuse or discard: it says what becomes of requests while `enabled` is false",
		},
		"tenants_s3": {
			"tenants::acme::s3: `bucket` (\"acme/lake\") must be 1 to 255 of A-Z a-z 0-9 . _ - beginning with a letter or digit: it is a name, not a path; folders go into `prefix`",
			"tenants::acme::s3: `region` (\"\") must be 1 to 64 of A-Z a-z 0-9 -: requests are signed with it; stores without regions take us-east-1",
			"tenants::acme::s3: `endpoint` (\"acme:9000\") must be a URL that begins with http:// or https:// and names a host",
			"tenants::acme::s3: `role_arn` (\"acme\") must be like arn:aws:iam::123456789012:role/name: STS takes no other form",
			"tenants::acme::s3: `sse` (\"none\") must be AES256 or aws:kms, or unset for the bucket's default: objects must be readable without a key of the reader",
			"tenants::acme::s3: `storage_class` (\"GLACIER\") must be readable at once: objects are read back to know what was written; let a lifecycle rule move them there later",
			"tenants::acme::s3: `checksum` (\"md5\") must be crc32c, crc64nvme, sha256 or none: the store checks uploads with it",
			"tenants::acme::s3: `timeout` (1ms) must be 1s to 10m0s: a connection on which nothing moves for that long is given up",
			"tenants::beta::s3: `secret_access_key` is empty while `access_key_id` is set: both, or neither for the SDK's default chain",
			"`tenants::delta::s3::prefix` (\"/delta\") must be segments with single slashes between them, such as otel/prod: a slash at its ends gives keys with an empty segment",
			"`tenants::delta::s3::multipart_threshold_mib` (4) must be 5 to 5120: stores take parts from 5 MiB and single requests up to 5 GiB",
			"`tenants::delta::s3::part_size_mib` (5121) must be 5 to 5120: stores take parts of 5 MiB to 5 GiB",
			"tenants::epsilon::s3: `bucket` is empty: it must name the bucket that objects go to",
			"tenants::gamma::s3: `access_key_id` is empty while `secret_access_key` is set: both, or neither for the SDK's default chain",
			"tenants::zeta::s3: `external_id` (\"id\") is set without `role_arn`: it is only sent when a role is assumed",
		},
		"tenants_format": {
			"`tenants::acme::format` (\"avro\") must be parquet or jsonl: objects are written in it",
			"`tenants::beta::parquet::codec` (\"gzip\") must be zstd or snappy: every reader of Parquet opens these",
			"`tenants::beta::parquet::level` (\"best\") must be fastest or 3: others cost more than they save",
			"`tenants::delta::jsonl::columns`: column 0 has the name \"\", which is empty or taken",
			"`tenants::epsilon::jsonl::compression` (\"lz4\") must be zstd, gzip or none: objects are named .jsonl.zst, .jsonl.gz or .jsonl by it",
			"`tenants::gamma::parquet::columns`: column 0 (\"a\") has the type \"date\", which is not one of string, int64, double, bool",
			"`tenants::gamma::parquet::columns`: column 1 names 0 attributes, not one",
		},
		"tenants_flush": {
			"`tenants::acme::flush::target_size_mib` (0) must be 1 to 5120: it is the size of objects",
			"`tenants::acme::flush::max_age` (99ms) must be 100ms to 24h0m0s: it is how long a record may wait for its window to fill",
			"`tenants::beta::flush::target_size_mib` (257) must be at most 141, the largest window that `memory_limit_mib` (512) with `sending_queue::num_consumers` (2) has room for: windows would be sealed for want of memory before they reach it",
			"`tenants::gamma::flush::max_age` (16m0s) must be at most `wal::segment_age` (15m0s): windows would be sealed by the end of their segment before they reach their age",
		},
		"tenants_backlog": {
			"`tenants::acme::backlog::drop_before` (\"yesterday\") must be a time such as \"2026-12-01T10:00:00Z\": what was accepted before it is dropped",
			"`tenants::beta::backlog::drop_before` (\"2026-12-01\") must be a time such as \"2026-12-01T10:00:00Z\": what was accepted before it is dropped",
		},
		"tenants_beyond_segments": {
			"`tenants::acme::flush::target_size_mib` (129) must be at most `wal::segment_size_mib` (128): a window never holds more than a segment, so none would reach its size",
		},
		"tenants_repeat_nothing": {
			"`s3::prefix` (\"/otel\") must be segments with single slashes between them, such as otel/prod: a slash at its ends gives keys with an empty segment",
			"`format` (\"avro\") must be parquet or jsonl: objects are written in it",
			"`flush::max_age` (99ms) must be 100ms to 24h0m0s: it is how long a record may wait for its window to fill",
			"`flush::target_size_mib` (300) must be at most 141, the largest window that `memory_limit_mib` (512) with `sending_queue::num_consumers` (2) has room for: windows would be sealed for want of memory before they reach it",
			"`wal::segment_size_mib` (200) must be at least `flush::target_size_mib` (300): a window never holds more than a segment, so none would reach its size",
			"`tenants::beta::s3::prefix` (\"otel/\") must be segments with single slashes between them, such as otel/prod: a slash at its ends gives keys with an empty segment",
			"`tenants::beta::parquet::codec` (\"gzip\") must be zstd or snappy: every reader of Parquet opens these",
		},
		"unknown_keys": {
			"`marshaler` is no setting of this exporter: here `format` (parquet or jsonl) says what objects are written in",
			"`retry_on_failure` is no setting of this exporter: here what failed is tried again for ever, and `retry` (`initial_interval`, `max_interval`) bounds the wait in between",
			"`s3::bukket` is no setting of this exporter: did you mean `s3::bucket`?",
			"`s3::s3_prefix` is no setting of this exporter: here it is `s3::prefix`",
			"`s3::tls::ca_fil` is no setting of this exporter: did you mean `s3::tls::ca_file`?",
			"`s3uploader` is no setting of this exporter: here `s3` says where the lake is, with `bucket`, `prefix`, `region`, `endpoint` and `path_style`",
			"`sending_queue::batch::flush_timout` is no setting of this exporter: did you mean `sending_queue::batch::flush_timeout`?",
			"`sending_queue::storag` is no setting of this exporter: did you mean `sending_queue::storage`?",
			"`target_size_mib` is no setting of this exporter: did you mean `flush::target_size_mib`?",
			"`tenant::from::0::attribute` is no setting of this exporter: did you mean `tenant::from::0::resource_attribute`?",
			"`tenant::from::1::resourceattribute` is no setting of this exporter: did you mean `tenant::from::1::resource_attribute`?",
			"`timeout` is no setting of this exporter: here a request is answered when it is in the queue, and `s3::timeout` is for the store",
			"`wal::segment_sizemib` is no setting of this exporter: did you mean `wal::segment_size_mib`?",
			"`wal::zzz` is no setting of this exporter: there are `segment_age`, `segment_size_mib`",
			"`tenant::from::0` must have one of `auth`, `metadata` and `resource_attribute`: a rule looks in one place",
			"`tenants::a::b` is no setting of this exporter: there are `backlog`, `enabled`, `flush`, `format`, `jsonl`, `on_disabled`, `parquet`, `s3`",
			"`tenants::acme::bucket` is no setting of this exporter: did you mean `tenants::acme::s3::bucket`?",
			"`tenants::acme::fromat` is no setting of this exporter: did you mean `tenants::acme::format`?",
			"`tenants::acme::s3::bukket` is no setting of this exporter: did you mean `tenants::acme::s3::bucket`?",
		},
		"retention": {"`writer_retention` (1h0m0s) must be 24h0m0s to 87600h0m0s: a replica that comes back later reads all manifests of its partitions to know what it committed"},
	}
}

// Every configuration of testdata/config.yaml is valid, or refused with exactly
// these lines.
func TestConfigs(t *testing.T) {
	all, err := confmaptest.LoadConf(filepath.Join("testdata", "config.yaml"))
	require.NoError(t, err)
	want := invalid()
	for name := range all.ToStringMap() {
		_, short, _ := strings.Cut(name, "/")
		t.Run(name, func(t *testing.T) {
			cfg, before := load(t, name), load(t, name)
			err := confmap.Validate(cfg)
			assert.Equal(t, before, cfg, "a check changes nothing")
			lines, refused := want[short]
			delete(want, short)
			if !refused {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, strings.Join(lines, "\n"))
		})
	}
	assert.Empty(t, want, "not in testdata/config.yaml")
}

func TestConfigAll(t *testing.T) {
	storage, lease := component.MustNewIDWithName("file_storage", "wal"), component.MustNewIDWithName("lease", "etcd")
	client := s3client.Config{
		Bucket: "lake", Region: "eu-central-1", Endpoint: "http://127.0.0.1:9000", PathStyle: true,
		AccessKeyID: "key", SecretAccessKey: "secret", RoleARN: "arn:aws:iam::123456789012:role/writer", ExternalID: "12345",
		SSE: "aws:kms", SSEKMSKeyID: "alias/lake", StorageClass: "STANDARD_IA", Checksum: "sha256", Timeout: 10 * time.Second,
	}
	queue := exporterhelper.QueueBatchConfig{
		Sizer: exporterhelper.RequestSizerTypeRequests, QueueSize: 1_000_000, NumConsumers: 4, BlockOnOverflow: true, StorageID: &storage,
		Batch: configoptional.Default(exporterhelper.NewDefaultBatchConfig()),
	}
	shared := S3Config{S3ClientConfig: S3ClientConfig(client), Prefix: "otel/prod", MultipartThresholdMiB: 32, PartSizeMiB: 8}
	columns := []ColumnConfig{
		{ResourceAttribute: "host.name", As: "host_name", Type: "string"},
		{Attribute: "http.response.status_code", As: "status", Type: "int64"},
	}
	user := ColumnConfig{Attribute: "user.id", As: "user", Type: "string"}
	acme := TenantSettings{
		Enabled: true, OnDisabled: "discard",
		S3: S3Config{S3ClientConfig: S3ClientConfig{
			Bucket: "acme-lake", Region: "us-west-2", Endpoint: "http://127.0.0.1:9001", AccessKeyID: "acme-key", SecretAccessKey: "acme-secret",
			RoleARN: "arn:aws:iam::210987654321:role/acme", ExternalID: "acme-id", SSE: "AES256", StorageClass: "STANDARD", Checksum: "none", Timeout: 20 * time.Second,
		}, Prefix: "acme", MultipartThresholdMiB: 16, PartSizeMiB: 16},
		Format:  "parquet",
		Parquet: ParquetConfig{Codec: "snappy", Level: "fastest", Columns: []ColumnConfig{user}},
		JSONL:   JSONLConfig{Compression: "gzip", Columns: []ColumnConfig{user}},
		Flush:   TenantFlushConfig{TargetSizeMiB: 64, MaxObjectSizeMiB: 8, MaxAge: time.Minute},
	}
	beta := TenantSettings{
		OnDisabled: "refuse", S3: shared, Format: "jsonl", Parquet: ParquetConfig{Codec: "zstd", Level: "3", Columns: columns},
		JSONL: JSONLConfig{Compression: "none", Columns: []ColumnConfig{user}},
		Flush: TenantFlushConfig{TargetSizeMiB: 256, MaxObjectSizeMiB: 100, MaxAge: 10 * time.Minute},
	}
	assert.Equal(t, &Config{
		Sink: "eu-1",
		S3:   shared,
		Tenant: TenantConfig{
			From:    []TenantRule{{Auth: "subject"}, {Metadata: "x-scope-orgid"}, {ResourceAttribute: "tenant.id"}},
			Default: "nobody", OnMissing: "refuse", KnownOnly: true, MaxTenants: 500, MaxNewPerMinute: 50,
		},
		Partition: PartitionConfig{
			Align: partition.AlignDay, Time: "event", MaxEventSkew: 24 * time.Hour, MaxPrefixes: 50, MinObjectRecords: 200, MinObjectKiB: 64,
			By: []LevelConfig{{ResourceAttribute: "service.name", As: "service"}, {Attribute: "env", As: "env"}, {ScopeAttribute: "team", As: "team"}},
		},
		Layout:          "adopt",
		RequireBucket:   true,
		Format:          "parquet",
		Parquet:         ParquetConfig{Codec: "zstd", Level: "3", Columns: columns},
		JSONL:           JSONLConfig{Compression: "gzip", Columns: []ColumnConfig{user}},
		Flush:           FlushConfig{TargetSizeMiB: 256, MaxObjectSizeMiB: 100, MaxAge: 10 * time.Minute, ShutdownGrace: 5 * time.Second},
		MemoryLimitMiB:  2048,
		QueueConfig:     configoptional.Some(queue),
		WAL:             WALConfig{SegmentSizeMiB: 1024, SegmentAge: 30 * time.Minute},
		Retry:           RetryConfig{InitialInterval: 500 * time.Millisecond, MaxInterval: time.Minute},
		Lease:           &lease,
		WriterRetention: 48 * time.Hour,
		Tenants:         map[string]TenantSettings{"acme": acme, "beta": beta},
		Telemetry:       TelemetryConfig{PerTenant: true},
	}, load(t, "s3window/all"))
}

func TestSecretsAreNotShown(t *testing.T) {
	conf := confmap.New()
	require.NoError(t, conf.Marshal(load(t, "s3window/all")))
	s3, err := conf.Sub("s3")
	require.NoError(t, err)
	assert.Equal(t, "[REDACTED]", s3.Get("secret_access_key"))
}

// The README names every setting.
func TestReadmeNamesEverySetting(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	conf := confmap.New()
	require.NoError(t, conf.Marshal(load(t, "s3window/all")))
	for _, key := range conf.AllKeys() {
		parts := strings.Split(key, confmap.KeyDelimiter)
		assert.Contains(t, string(readme), parts[len(parts)-1], key)
	}
}

// The bound on the names of heads is that of the leases.
func TestLongestHead(t *testing.T) {
	leases := lease.NewParticipant(memory.New(), lease.Options{})
	defer leases.Close()
	_, err := leases.Read(t.Context(), strings.Repeat("x", maxHead))
	require.ErrorIs(t, err, lease.ErrNotFound)
	_, err = leases.Read(t.Context(), strings.Repeat("x", maxHead+1))
	require.ErrorContains(t, err, "the limit is 1024")
}
