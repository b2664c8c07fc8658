// Package run keeps the tables of one configuration up to date with one lake: it
// is what the collector extension and the command have in common.
package run

import (
	"time"

	"go.opentelemetry.io/collector/component"

	"github.com/s3window/s3window/icebergsync/internal/icecat"
	"github.com/s3window/s3window/internal/s3client"
)

// Who owns the data files of tables.
const (
	OwnedByLake  = "lake"
	OwnedByTable = "table"
)

// What becomes of windows that a table cannot take as they are.
const (
	onSkip = "skip"
	onFail = "fail"
)

// Config is the configuration of the extension and of the command.
type Config struct {
	// Catalog keeps the tables.
	Catalog icecat.Config `mapstructure:"catalog"`
	// S3 is where the lake is, as in the exporter's configuration. The tables'
	// own files are in the same store.
	S3 S3Config `mapstructure:"s3"`
	// Sink names the exporter whose windows are taken.
	Sink string `mapstructure:"sink"`
	// Signals are those that get tables.
	Signals []string `mapstructure:"signals"`

	// Table is the name of a window's table, of its {signal} and {tenant}.
	Table string `mapstructure:"table"`
	// Location is where a new table lies, of the same; empty leaves it to the
	// catalog.
	Location string `mapstructure:"location"`
	// Ownership says who may delete data files: lake, or table.
	Ownership string `mapstructure:"ownership"`

	// Interval is the time between two looks at the lake.
	Interval time.Duration `mapstructure:"interval"`
	// MaxWindowsPerCommit bounds one commit.
	MaxWindowsPerCommit int `mapstructure:"max_windows_per_commit"`
	// Snapshots says how many a table has.
	Snapshots SnapshotsConfig `mapstructure:"snapshots"`

	// OnJSONL is what becomes of windows of JSON lines: skip or fail.
	OnJSONL string `mapstructure:"on_jsonl"`

	// Lease is the extension that gives a lease, so that of several collectors
	// one works. It saves requests; without it all work, and nothing is added
	// twice.
	Lease *component.ID `mapstructure:"lease"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// S3Config says where the lake is.
type S3Config struct {
	S3ClientConfig `mapstructure:",squash"`
	// Prefix is the root of every key of the lake.
	Prefix string `mapstructure:"prefix"`
}

// S3ClientConfig is s3client.Config without its Validate: Config validates it, so
// that every line names the whole key.
type S3ClientConfig s3client.Config

// SnapshotsConfig says how many snapshots a table has.
type SnapshotsConfig struct {
	// Keep is how many of the newest stay. Older ones are forgotten; no file is
	// deleted.
	Keep int `mapstructure:"keep"`
}

// Default returns the settings that apply where nothing is configured.
func Default() *Config {
	return &Config{
		Catalog: icecat.DefaultConfig(), S3: S3Config{S3ClientConfig: S3ClientConfig(s3client.Default())},
		Sink: "default", Signals: []string{"logs", "traces", "metrics"}, Table: "otel.{signal}", Ownership: OwnedByLake,
		Interval: 30 * time.Second, MaxWindowsPerCommit: 1000, Snapshots: SnapshotsConfig{Keep: 100}, OnJSONL: onSkip,
	}
}

func (c *Config) client() s3client.Config { return s3client.Config(c.S3.S3ClientConfig) }
