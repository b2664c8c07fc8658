package s3windowexporter

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/collector/exporter/exporterhelper"

	"github.com/s3window/s3window/internal/window"
)

const (
	maxSink   = 64
	maxHead   = 1024 // bytes: the longest name that leases take
	maxPrefix = 512  // with the longest tenant and sink a key stays below S3's 1024 bytes

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
	t := c.common()
	return errors.Join(
		explainAll("", c.unknown), c.validateName(), t.validateS3(""), t.validateHead("", c), c.validateTenant(), c.validatePartition(), t.validateFormat(""),
		t.validateFlush(""), c.validateGrace(), c.validateMemory(), c.validateQueue(), c.validateWAL(), c.validateTimes(),
		c.validateTenants(),
	)
}

func (c *Config) validateName() error {
	plain := strings.Trim(c.Sink, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == ""
	if c.Sink == "" || len(c.Sink) > maxSink || !plain {
		return wrong("sink", c.Sink, "1 to 64 of A-Z a-z 0-9 . _ -", "it is part of keys and of the queue's name")
	}
	return nil
}

func (c *Config) validateGrace() error {
	return duration("flush::shutdown_grace", c.Flush.ShutdownGrace, 0, 10*time.Minute, "it is how long a shutdown may take to commit; the rest stays in the queue")
}

func (c *Config) validateMemory() error {
	least := (window.MinMemory(c.consumers()) + 1<<20 - 1) >> 20
	if err := within("memory_limit_mib", c.MemoryLimitMiB, least, maxMemoryMiB, "the queue's read-ahead, the encoders and the open windows share it"); err != nil {
		return err
	}
	t := c.common()
	return t.validateShare("", c)
}

// consumers is how many windows are encoded at once; 1 where that is not valid.
func (c *Config) consumers() int {
	if q := c.QueueConfig.Get(); q != nil && q.NumConsumers >= 1 && q.NumConsumers <= maxConsumers {
		return q.NumConsumers
	}
	return 1
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
		errs = append(errs, wrong("sending_queue::num_consumers", q.NumConsumers, "1 to 64", "it is how many windows are encoded at once, each with memory of its own"))
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
