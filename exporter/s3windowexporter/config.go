package s3windowexporter

import (
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/exporter/exporterhelper"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/s3client"
)

// Config is the configuration of one exporter. Every replica of a fleet has
// the same.
type Config struct {
	// Sink names this exporter's commit logs and queue.
	Sink string `mapstructure:"sink"`
	// S3 says where the lake is.
	S3 S3Config `mapstructure:"s3"`
	// Tenant says whose a record is.
	Tenant TenantConfig `mapstructure:"tenant"`
	// Partition says how records are filed.
	Partition PartitionConfig `mapstructure:"partition"`
	// Layout says what becomes of a lake that is filed in another layout: keep,
	// adopt.
	Layout string `mapstructure:"layout"`
	// RequireBucket has a start fail whose bucket does not pass its check.
	RequireBucket bool `mapstructure:"require_bucket"`
	// Format is what objects are written in: parquet, jsonl.
	Format string `mapstructure:"format"`
	// Parquet has the settings of format parquet.
	Parquet ParquetConfig `mapstructure:"parquet"`
	// JSONL has the settings of format jsonl.
	JSONL JSONLConfig `mapstructure:"jsonl"`
	// Flush says when a window is sealed.
	Flush FlushConfig `mapstructure:"flush"`
	// MemoryLimitMiB bounds what is held for data, for all signals together.
	MemoryLimitMiB int64 `mapstructure:"memory_limit_mib"`
	// QueueConfig is the write-ahead queue.
	QueueConfig configoptional.Optional[exporterhelper.QueueBatchConfig] `mapstructure:"sending_queue"`
	// WAL has the settings of the queue that exporterhelper does not know.
	WAL WALConfig `mapstructure:"wal"`
	// Retry bounds the wait between attempts, which never end.
	Retry RetryConfig `mapstructure:"retry"`
	// Lease names the lease extension; unset means leases in the bucket.
	Lease *component.ID `mapstructure:"lease"`
	// WriterRetention is how long a commit log remembers a writer that commits
	// no more.
	WriterRetention time.Duration `mapstructure:"writer_retention"`
	// Tenants has the settings of tenants that differ from the exporter's.
	Tenants map[string]TenantSettings `mapstructure:"tenants"`
	// Telemetry says how much the exporter tells of itself.
	Telemetry TelemetryConfig `mapstructure:"telemetry"`

	unknown []unknownKey `mapstructure:"-"` // keys that no setting has
}

// S3ClientConfig is s3client.Config without its Validate: Config validates it,
// so that every line names the whole key.
type S3ClientConfig s3client.Config

// S3Config says where the lake is, and how objects go there.
type S3Config struct {
	S3ClientConfig `mapstructure:",squash"`
	// Prefix is the root of every key, without slashes at its ends.
	Prefix string `mapstructure:"prefix"`
	// MultipartThresholdMiB is the size from which an object is uploaded in
	// parts.
	MultipartThresholdMiB int64 `mapstructure:"multipart_threshold_mib"`
	// PartSizeMiB is the size of a part.
	PartSizeMiB int64 `mapstructure:"part_size_mib"`
}

// client gives the settings of the S3 client.
func (c *S3Config) client() s3client.Config { return s3client.Config(c.S3ClientConfig) }

// ref names the lake.
func (c *S3Config) ref() lake.Ref {
	return lake.Ref{Endpoint: c.Endpoint, Region: c.Region, Bucket: c.Bucket, Prefix: c.Prefix, PathStyle: c.PathStyle}
}

// PartitionConfig says in which directories records are filed.
type PartitionConfig struct {
	Align partition.Align `mapstructure:"align"` // hour, day, none
	Time  string          `mapstructure:"time"`  // received, event
	// MaxEventSkew is how old a record may be when it is received to be filed
	// under its own time, for time: event.
	MaxEventSkew time.Duration `mapstructure:"max_event_skew"`
	By           []LevelConfig `mapstructure:"by"`
	// MaxPrefixes bounds the directories of a window, for time: event and by.
	MaxPrefixes int `mapstructure:"max_prefixes"`
	// MinObjectRecords and MinObjectKiB are what a directory of a window must have
	// for an object of its own, the one or the other. Of records 0 is leastRecords,
	// or the window's leastShare where that is less; of KiB 0 is no matter how many.
	MinObjectRecords int64 `mapstructure:"min_object_records"`
	MinObjectKiB     int64 `mapstructure:"min_object_kib"`
}

const (
	leastRecords = 1000
	leastShare   = 50 // a fiftieth
)

// LevelConfig is one more Hive level of an object's key. One of the first
// three fields is set.
type LevelConfig struct {
	Attribute         string `mapstructure:"attribute"`
	ResourceAttribute string `mapstructure:"resource_attribute"`
	ScopeAttribute    string `mapstructure:"scope_attribute"`
	As                string `mapstructure:"as"`
}

// filing gives what the settings mean for the objects of a window; nil if it
// has one directory.
func (c *PartitionConfig) filing() *encode.Filing {
	if c.Time != timeEvent && len(c.By) == 0 {
		return nil
	}
	f := &encode.Filing{EventTime: c.Time == timeEvent, Align: c.Align, MaxPlaces: c.MaxPrefixes}
	if f.EventTime {
		f.MaxSkew = c.MaxEventSkew.Microseconds()
	}
	for _, l := range c.By {
		f.By = append(f.By, encode.Level(l))
	}
	f.Least = encode.Least{Items: c.MinObjectRecords, Bytes: c.MinObjectKiB << 10}
	if f.Items == 0 {
		f.Items, f.Share = leastRecords, leastShare
	}
	return f
}

// ParquetConfig has the settings of format parquet.
type ParquetConfig struct {
	Codec   string         `mapstructure:"codec"` // zstd, snappy
	Level   string         `mapstructure:"level"` // of zstd: fastest, 3
	Columns []ColumnConfig `mapstructure:"columns"`
}

// ColumnConfig promotes an attribute to a column of its own. One of the first
// three fields is set.
type ColumnConfig struct {
	Attribute         string `mapstructure:"attribute"`
	ResourceAttribute string `mapstructure:"resource_attribute"`
	ScopeAttribute    string `mapstructure:"scope_attribute"`
	As                string `mapstructure:"as"`
	Type              string `mapstructure:"type"` // string, int64, double, bool
}

// JSONLConfig has the settings of format jsonl.
type JSONLConfig struct {
	Compression string         `mapstructure:"compression"` // zstd, gzip, none
	Columns     []ColumnConfig `mapstructure:"columns"`
}

// FlushConfig says when a window is sealed.
type FlushConfig struct {
	TargetSizeMiB    int64         `mapstructure:"target_size_mib"`     // of its objects together
	MaxObjectSizeMiB int64         `mapstructure:"max_object_size_mib"` // of each; 0 for no bound
	MaxAge           time.Duration `mapstructure:"max_age"`             // of the oldest record
	ShutdownGrace    time.Duration `mapstructure:"shutdown_grace"`      // for committing what is worth it at shutdown
}

// WALConfig says when a segment of the queue ends, which seals every window
// with records in it.
type WALConfig struct {
	SegmentSizeMiB int64         `mapstructure:"segment_size_mib"`
	SegmentAge     time.Duration `mapstructure:"segment_age"`
}

// RetryConfig bounds the wait between two attempts of a step.
type RetryConfig struct {
	InitialInterval time.Duration `mapstructure:"initial_interval"`
	MaxInterval     time.Duration `mapstructure:"max_interval"`
}

// TelemetryConfig says how much the exporter tells of itself.
type TelemetryConfig struct {
	PerTenant bool `mapstructure:"per_tenant"` // metrics carry the tenant
}

const (
	formatParquet = "parquet"
	formatJSONL   = "jsonl"
	codecZstd     = "zstd"
	timeReceived  = "received"
	timeEvent     = "event"
)

func createDefaultConfig() component.Config {
	return &Config{
		Sink:            "default",
		S3:              S3Config{S3ClientConfig: S3ClientConfig(s3client.Default()), MultipartThresholdMiB: 64, PartSizeMiB: 16},
		Tenant:          TenantConfig{Default: "default", MaxTenants: 100_000, MaxNewPerMinute: 1000},
		Partition:       PartitionConfig{Align: partition.AlignHour, Time: timeReceived, MaxEventSkew: 7 * 24 * time.Hour, MaxPrefixes: 100, MinObjectKiB: 1024},
		Layout:          layoutKeep,
		Format:          formatParquet,
		Parquet:         ParquetConfig{Codec: codecZstd, Level: "fastest", Columns: defaultColumns()},
		JSONL:           JSONLConfig{Compression: codecZstd},
		Flush:           FlushConfig{TargetSizeMiB: 128, MaxAge: 5 * time.Minute, ShutdownGrace: 20 * time.Second},
		MemoryLimitMiB:  512,
		QueueConfig:     configoptional.Some(defaultQueue()),
		WAL:             WALConfig{SegmentSizeMiB: 4096, SegmentAge: 15 * time.Minute},
		Retry:           RetryConfig{InitialInterval: time.Second, MaxInterval: 30 * time.Second},
		WriterRetention: 30 * 24 * time.Hour,
	}
}

// defaultColumns are the encoder's.
func defaultColumns() (out []ColumnConfig) {
	for _, c := range encode.DefaultColumns() {
		out = append(out, ColumnConfig(c))
	}
	return out
}

func defaultQueue() exporterhelper.QueueBatchConfig {
	return exporterhelper.QueueBatchConfig{
		Sizer:        exporterhelper.RequestSizerTypeBytes,
		QueueSize:    10 << 30,
		NumConsumers: 2,
		// Valid in itself, so that one line only says that it has no meaning.
		Batch: configoptional.Default(exporterhelper.NewDefaultBatchConfig()),
	}
}
