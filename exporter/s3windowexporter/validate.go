package s3windowexporter

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.opentelemetry.io/collector/exporter/exporterhelper"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/window"
)

const (
	maxSink   = 64
	maxPrefix = 512 // with the longest tenant and sink a key stays below S3's 1024 bytes

	maxTargetMiB = 5120 // the most that one PUT takes, in GiB: 5
	maxMemoryMiB = 1 << 20
	maxConsumers = 64
	maxParts     = 10_000
	minQueue     = 1 << 20
)

var errNoQueue = errors.New("`sending_queue::enabled` (false) must not be set: records wait in the queue until their window is committed; " +
	"for a queue in memory leave out `sending_queue::storage`")

// Validate names everything that is wrong with the settings, one line each: the
// key, its value, what it may be, and why. It does no I/O and changes nothing.
func (c *Config) Validate() error {
	return errors.Join(
		c.validateNames(), c.validateS3(), c.validateTenant(), c.validatePartition(), c.validateFormat(),
		c.validateFlush(), c.validateMemory(), c.validateQueue(), c.validateWAL(), c.validateTimes(),
	)
}

func (c *Config) validateNames() error {
	plain := strings.Trim(c.Sink, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == ""
	var errs []error
	if c.Sink == "" || len(c.Sink) > maxSink || !plain {
		errs = append(errs, wrong("sink", c.Sink, "1 to 64 of A-Z a-z 0-9 . _ -", "it is part of keys and of the queue's name"))
	}
	if len(c.Tenants) > 0 {
		errs = append(errs, notYet("tenants", "use one exporter for each tenant that needs settings of its own"))
	}
	return errors.Join(errs...)
}

func (c *Config) validateS3() error {
	client := c.S3.client()
	var errs []error
	for _, err := range flatten(client.Validate()) {
		errs = append(errs, fmt.Errorf("s3: %w", err))
	}
	if why := badPrefix(c.S3.Prefix); why != "" {
		errs = append(errs, wrong("s3::prefix", c.S3.Prefix, "segments with single slashes between them, such as otel/prod", why))
	}
	errs = append(errs,
		within("s3::multipart_threshold_mib", c.S3.MultipartThresholdMiB, 5, maxTargetMiB, "stores take parts from 5 MiB and single requests up to 5 GiB"),
		within("s3::part_size_mib", c.S3.PartSizeMiB, 5, maxTargetMiB, "stores take parts of 5 MiB to 5 GiB"))
	if c.S3.PartSizeMiB >= 5 && c.S3.PartSizeMiB*maxParts < 2*c.Flush.TargetSizeMiB {
		errs = append(errs, wrong("s3::part_size_mib", c.S3.PartSizeMiB, fmt.Sprintf("at least 1/%d of twice `flush::target_size_mib` (%d)", maxParts, c.Flush.TargetSizeMiB),
			"an upload has 10,000 parts at most"))
	}
	return errors.Join(errs...)
}

// badPrefix says what is wrong with a prefix; empty if nothing is.
func badPrefix(p string) string {
	switch {
	case p == "":
		return ""
	case strings.HasPrefix(p, "/") || strings.HasSuffix(p, "/"):
		return "a slash at its ends gives keys with an empty segment"
	case len(p) > maxPrefix:
		return fmt.Sprintf("it has %d bytes, and beyond %d keys are longer than stores take", len(p), maxPrefix)
	case !utf8.ValidString(p) || strings.ContainsFunc(p, unicode.IsControl):
		return "keys are printable UTF-8"
	}
	for s := range strings.SplitSeq(p, "/") {
		switch s {
		case "":
			return "an empty segment is lost or refused by tools that treat keys as paths"
		case ".", "..":
			return "tools that treat keys as paths resolve . and .. to another place"
		}
	}
	return ""
}

func (c *Config) validateTenant() error {
	var errs []error
	for i, r := range c.Tenant.From {
		if (r.ResourceAttribute == "") == (r.Metadata == "") {
			errs = append(errs, fmt.Errorf("`tenant::from::%d` must have one of `resource_attribute` and `metadata`: a rule looks in one place", i))
		}
	}
	if c.Tenant.Default == "" {
		errs = append(errs, errors.New("`tenant::default` is empty: it must name the tenant of records for which no rule gives one"))
	}
	errs = append(errs, within("tenant::max_tenants", c.Tenant.MaxTenants, 1, 10_000_000, "every tenant costs memory and objects of its own"))
	return errors.Join(errs...)
}

func (c *Config) validatePartition() error {
	var errs []error
	switch c.Partition.Align {
	case partition.AlignHour, partition.AlignDay, partition.AlignNone:
	default:
		errs = append(errs, wrong("partition::align", c.Partition.Align, "hour, day or none", "windows are cut at these boundaries"))
	}
	switch c.Partition.Time {
	case timeReceived:
	case "event":
		errs = append(errs, notYet("partition::time: event", "with `received` the records' own time is in the columns, with statistics"))
	default:
		errs = append(errs, wrong("partition::time", c.Partition.Time, "received", "objects are filed under the time their records came"))
	}
	errs = append(errs, duration("partition::max_event_skew", c.Partition.MaxEventSkew, time.Hour, 10*365*24*time.Hour, "records further off are filed under received time"))
	if len(c.Partition.By) > 0 {
		errs = append(errs, notYet("partition::by", "query by the columns instead, which have statistics"))
	}
	return errors.Join(errs...)
}

func (c *Config) validateFormat() error {
	var errs []error
	switch c.Format {
	case formatParquet:
	case "jsonl":
		errs = append(errs, notYet("format: jsonl", "use `parquet`"))
	default:
		errs = append(errs, wrong("format", c.Format, "parquet", "objects are written in it"))
	}
	if c.JSONL.HasValue() {
		errs = append(errs, notYet("jsonl", "use `format: parquet`"))
	}
	return errors.Join(append(errs, c.validateParquet()...)...)
}

func (c *Config) validateParquet() (errs []error) {
	codecs := map[string]bool{codecZstd: true, "snappy": true}
	if !codecs[c.Parquet.Codec] {
		errs = append(errs, wrong("parquet::codec", c.Parquet.Codec, "zstd or snappy", "every reader of Parquet opens these"))
	}
	if c.Parquet.Level != "fastest" && c.Parquet.Level != "3" {
		errs = append(errs, wrong("parquet::level", c.Parquet.Level, "fastest or 3", "others cost more than they save"))
	}
	if len(errs) > 0 || c.Format != formatParquet {
		return errs
	}
	_, err := encode.New(c.spec(partition.Logs))
	for _, wrongColumn := range flatten(errors.Unwrap(err)) {
		errs = append(errs, fmt.Errorf("`parquet::columns`: %w", wrongColumn))
	}
	return errs
}

func (c *Config) validateFlush() error {
	return errors.Join(
		within("flush::target_size_mib", c.Flush.TargetSizeMiB, 1, maxTargetMiB, "it is the size of objects"),
		duration("flush::max_age", c.Flush.MaxAge, 100*time.Millisecond, 24*time.Hour, "it is how long a record may wait for its window to fill"),
		duration("flush::shutdown_grace", c.Flush.ShutdownGrace, 0, 10*time.Minute, "it is how long a shutdown may take to commit; the rest stays in the queue"))
}

func (c *Config) validateMemory() error {
	consumers := 1
	if q := c.QueueConfig.Get(); q != nil {
		consumers = max(q.NumConsumers, 1)
	}
	least := (window.MinMemory(consumers) + 1<<20 - 1) >> 20
	if err := within("memory_limit_mib", c.MemoryLimitMiB, least, maxMemoryMiB, "the queue's read-ahead, the encoders and the open windows share it"); err != nil {
		return err
	}
	if c.Flush.TargetSizeMiB > c.MemoryLimitMiB/2 {
		return wrong("flush::target_size_mib", c.Flush.TargetSizeMiB, fmt.Sprintf("at most half of `memory_limit_mib` (%d)", c.MemoryLimitMiB),
			"windows would be sealed for want of memory before they reach it")
	}
	return nil
}

func (c *Config) validateQueue() error {
	if !c.QueueConfig.HasValue() {
		return errNoQueue
	}
	q := c.QueueConfig.Get()
	var errs []error
	if q.Batch.HasValue() {
		errs = append(errs, errors.New("`sending_queue::batch` must not be set: requests are gathered into windows; "+
			"use `flush::target_size_mib` and `flush::max_age`"))
	}
	if q.WaitForResult {
		errs = append(errs, errors.New("`sending_queue::wait_for_result` (true) must not be set: a request is answered when it is durable in the queue; "+
			"use `sending_queue::storage` with `fsync: true`"))
	}
	bytes := q.Sizer == exporterhelper.RequestSizerTypeBytes
	if q.QueueSize > 0 && bytes && q.QueueSize < minQueue { // exporterhelper refuses 0 and less
		errs = append(errs, wrong("sending_queue::queue_size", q.QueueSize, "at least 1048576 (1 MiB) with `sizer: bytes`", "a smaller one refuses common requests"))
	}
	if q.StorageID == nil && !bytes {
		errs = append(errs, wrong("sending_queue::sizer", q.Sizer.String(), "bytes where `sending_queue::storage` is unset", "otherwise nothing bounds the memory of the queue"))
	}
	if q.NumConsumers > maxConsumers {
		errs = append(errs, wrong("sending_queue::num_consumers", q.NumConsumers, "1 to 64", "it is how many windows are encoded and uploaded at once, each with memory of its own"))
	}
	return errors.Join(errs...)
}

func (c *Config) validateWAL() error {
	errs := []error{
		within("wal::segment_size_mib", c.WAL.SegmentSizeMiB, 1, maxMemoryMiB, "the end of a segment seals every window with records in it"),
		duration("wal::segment_age", c.WAL.SegmentAge, time.Second, 48*time.Hour, "the end of a segment seals every window with records in it"),
	}
	if c.WAL.SegmentSizeMiB < c.Flush.TargetSizeMiB {
		errs = append(errs, wrong("wal::segment_size_mib", c.WAL.SegmentSizeMiB, fmt.Sprintf("at least `flush::target_size_mib` (%d)", c.Flush.TargetSizeMiB),
			"a window never holds more than a segment, so none would reach its size"))
	}
	if c.WAL.SegmentAge < c.Flush.MaxAge {
		errs = append(errs, wrong("wal::segment_age", c.WAL.SegmentAge, fmt.Sprintf("at least `flush::max_age` (%v)", c.Flush.MaxAge),
			"windows would be sealed by the end of their segment before they reach their age"))
	}
	return errors.Join(errs...)
}

func (c *Config) validateTimes() error {
	errs := []error{
		duration("retry::initial_interval", c.Retry.InitialInterval, 10*time.Millisecond, time.Hour, "it is the wait before the first retry"),
		duration("retry::max_interval", c.Retry.MaxInterval, 10*time.Millisecond, time.Hour, "it is how late a store that is back may be noticed"),
		duration("writer_retention", c.WriterRetention, 24*time.Hour, 10*365*24*time.Hour,
			"a replica that comes back later reads all manifests of its partitions to know what it committed"),
	}
	if c.Retry.MaxInterval < c.Retry.InitialInterval {
		errs = append(errs, wrong("retry::max_interval", c.Retry.MaxInterval, fmt.Sprintf("at least `retry::initial_interval` (%v)", c.Retry.InitialInterval), "waits grow from the one to the other"))
	}
	return errors.Join(errs...)
}

// wrong is the line of a value that may not be: `key` (value) must be this: why.
func wrong(key string, value any, must, why string) error {
	if s, ok := value.(string); ok {
		value = fmt.Sprintf("%q", s)
	}
	return fmt.Errorf("`%s` (%v) must be %s: %s", key, value, must, why)
}

func notYet(key, instead string) error {
	return fmt.Errorf("`%s` is not available yet: %s", key, instead)
}

func within[T int | int64](key string, v, low, high T, why string) error {
	if v >= low && v <= high {
		return nil
	}
	return wrong(key, v, fmt.Sprintf("%d to %d", low, high), why)
}

func duration(key string, v, low, high time.Duration, why string) error {
	if v >= low && v <= high {
		return nil
	}
	return wrong(key, v, fmt.Sprintf("%v to %v", low, high), why)
}

// flatten gives the errors that errors.Join put together.
func flatten(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, flatten(e)...)
	}
	return out
}
