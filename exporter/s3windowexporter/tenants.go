package s3windowexporter

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"go.opentelemetry.io/collector/confmap"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/window"
)

// TenantSettings are what a tenant may have otherwise than the exporter. They
// are whole: Config.Unmarshal fills in what a tenant's block leaves out from
// the exporter's settings.
type TenantSettings struct {
	// Enabled says whether records of the tenant are accepted. What was accepted
	// before is committed either way.
	Enabled bool `mapstructure:"enabled"`
	// OnDisabled says what becomes of those that are not: refuse, discard.
	OnDisabled string `mapstructure:"on_disabled"`
	// S3 says where the tenant's lake is.
	S3 S3Config `mapstructure:"s3"`
	// Format, Parquet and JSONL say what its objects are written in.
	Format  string        `mapstructure:"format"`
	Parquet ParquetConfig `mapstructure:"parquet"`
	JSONL   JSONLConfig   `mapstructure:"jsonl"`
	// Flush says when its windows are sealed.
	Flush TenantFlushConfig `mapstructure:"flush"`
	// Backlog says what becomes of its queued records.
	Backlog BacklogConfig `mapstructure:"backlog"`

	misplaced []string     `mapstructure:"-"` // keys of its block that are the exporter's alone
	unknown   []unknownKey `mapstructure:"-"` // keys of its block that no setting has
}

// TenantFlushConfig says when a window of a tenant is sealed.
type TenantFlushConfig struct {
	TargetSizeMiB    int64         `mapstructure:"target_size_mib"`     // of its objects together
	MaxObjectSizeMiB int64         `mapstructure:"max_object_size_mib"` // of each; 0 for no bound
	MaxAge           time.Duration `mapstructure:"max_age"`             // of the oldest record
}

// BacklogConfig is what an operator wants done with queued records of a tenant
// that cannot be committed, for example because its bucket is gone for good.
type BacklogConfig struct {
	Park bool `mapstructure:"park"` // leave them in the queue, and try nothing
	// DropBefore drops what was accepted before that time, RFC 3339. It may stay
	// in the configuration: what comes later is not touched.
	DropBefore string `mapstructure:"drop_before"`
}

// before is the time, microseconds since the epoch; 0 for none.
func (b *BacklogConfig) before() (int64, error) {
	if b.DropBefore == "" {
		return 0, nil
	}
	t, err := time.Parse(time.RFC3339Nano, b.DropBefore)
	return t.UnixMicro(), err
}

const (
	onDisabledRefuse  = "refuse"
	onDisabledDiscard = "discard"
)

// exporterOnly are the keys that a tenant cannot have, and why.
func exporterOnly() map[string]string {
	return map[string]string{
		"sink":                  "it names the commit logs and the queue of all tenants",
		"tenant":                "whose a record is must be known before its settings are",
		"tenants":               "a tenant has no tenants",
		"partition":             "the keys of all tenants have the same levels, so that one glob reads them",
		"layout":                "it is said of the lakes of all tenants",
		"require_bucket":        "a start has one outcome for all tenants",
		"flush::shutdown_grace": "a shutdown has one time for all tenants",
		"memory_limit_mib":      "one limit bounds what is held for all tenants",
		"sending_queue":         "one queue holds the records of all tenants",
		"num_consumers":         "one pool flushes the windows of all tenants, and `sending_queue::num_consumers` is its size",
		"wal":                   "one queue holds the records of all tenants",
		"retry":                 "the steps of all tenants are tried again alike",
		"lease":                 "replicas take turns in one way for all tenants",
		"writer_retention":      "the writers are those of one queue, which holds the records of all tenants",
		"telemetry":             "the exporter tells of all tenants alike",
	}
}

// common gives the settings of a tenant without a block of its own.
func (c *Config) common() TenantSettings {
	return TenantSettings{
		Enabled: true, OnDisabled: onDisabledRefuse, S3: c.S3, Format: c.Format, Parquet: c.Parquet, JSONL: c.JSONL,
		Flush: TenantFlushConfig{TargetSizeMiB: c.Flush.TargetSizeMiB, MaxObjectSizeMiB: c.Flush.MaxObjectSizeMiB, MaxAge: c.Flush.MaxAge},
	}
}

// Unmarshal implements confmap.Unmarshaler: the blocks of tenants are read over
// what the exporter has. Keys that no setting has are for Validate to name,
// which does it on one line.
func (c *Config) Unmarshal(conf *confmap.Conf) error {
	blocks, err := conf.Sub("tenants")
	if err != nil {
		return fmt.Errorf("`tenants`: %w", err)
	}
	rest := confmap.New()
	if err := rest.Merge(conf); err != nil {
		return err
	}
	rest.Delete("tenants")
	type plain Config // without this method
	c.unknown = takeUnknown(rest, reflect.TypeFor[Config]())
	if err := rest.Unmarshal((*plain)(c), knownOnly(c.unknown)...); err != nil {
		return err
	}
	c.Tenants = nil
	for _, name := range slices.Sorted(maps.Keys(blocks.ToStringMap())) {
		t := c.common()
		if name != "" { // Validate says so
			if err := t.read(blocks, name); err != nil {
				return fmt.Errorf("`%s`: %w", tenantKey(name), err)
			}
		}
		if c.Tenants == nil {
			c.Tenants = map[string]TenantSettings{}
		}
		c.Tenants[name] = t
	}
	return nil
}

// read takes over what the block under name says. Keys that have no meaning
// without another go with it: one of the two static keys is not paired with the
// exporter's other one, and what a role or an encryption needs is not kept
// where the block takes that away.
func (t *TenantSettings) read(blocks *confmap.Conf, name string) error {
	block, err := blocks.Sub(name)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(exporterOnly())) {
		if block.IsSet(key) {
			block.Delete(key)
			t.misplaced = append(t.misplaced, key)
		}
	}
	own := func(key string) bool { return block.IsSet("s3::" + key) }
	if own("access_key_id") != own("secret_access_key") {
		t.S3.AccessKeyID, t.S3.SecretAccessKey = "", ""
	}
	t.unknown = takeUnknown(block, reflect.TypeFor[TenantSettings]())
	if err := block.Unmarshal(t, knownOnly(t.unknown)...); err != nil {
		return err
	}
	if t.S3.RoleARN == "" && own("role_arn") && !own("external_id") {
		t.S3.ExternalID = ""
	}
	if t.S3.SSE != "aws:kms" && own("sse") && !own("sse_kms_key_id") {
		t.S3.SSEKMSKeyID = ""
	}
	return nil
}

// spec pins how the records of a signal are encoded.
func (t *TenantSettings) spec(signal partition.Signal) encode.Spec {
	s := encode.Spec{
		Signal: signal, Format: t.Format,
		RowGroupRows: encode.DefaultRowGroupRows, RowGroupBytes: encode.DefaultRowGroupBytes,
		ObjectBytes: t.Flush.MaxObjectSizeMiB << 20,
	}
	switch {
	case t.Format == formatJSONL:
		s.Codec = t.JSONL.Compression
	case t.Parquet.Codec == codecZstd:
		s.Codec, s.Level = t.Parquet.Codec, t.Parquet.Level
	default:
		s.Codec = t.Parquet.Codec
	}
	_, columns := t.columns()
	for _, col := range columns {
		s.Columns = append(s.Columns, encode.Column(col))
	}
	return s
}

// columns gives the promoted columns of the format, and the key they stand under.
func (t *TenantSettings) columns() (key string, columns []ColumnConfig) {
	if t.Format == formatJSONL {
		return "jsonl::columns", t.JSONL.Columns
	}
	return "parquet::columns", t.Parquet.Columns
}

// limits says when windows are sealed.
func (t *TenantSettings) limits() flush.Limits {
	return flush.Limits{TargetSize: t.Flush.TargetSizeMiB << 20, MaxAge: t.Flush.MaxAge}
}

// target says what the windows of a partition are sealed to.
func (t *TenantSettings) target(p *PartitionConfig, signal partition.Signal) window.Target {
	spec := t.spec(signal)
	spec.Filing = p.filing()
	return window.Target{Lake: t.S3.ref(), Align: p.Align, Spec: spec, Limits: t.limits()}
}
