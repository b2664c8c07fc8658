package s3windowexporter

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/window"
)

// validateTenants names what is wrong with the settings of each tenant, unless
// it is what was said of the exporter's.
func (c *Config) validateTenants() error {
	var errs []error
	common := c.common()
	said := map[string]bool{}
	for _, err := range append(common.problems("", c), flatten(common.validateFormat(""))...) {
		said[err.Error()] = true
	}
	names := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.Tenants)) {
		if name == "" {
			errs = append(errs, errors.New("`tenants` has a block without a name: it must be a tenant's"))
			continue
		}
		if twin, ok := names[partition.Tenant(name)]; ok {
			errs = append(errs, fmt.Errorf("`tenants` has %q and %q, which are one tenant: one of the names is the form in which the other is filed", twin, name))
		}
		names[partition.Tenant(name)] = name
		errs = append(errs, rewrittenName(name))
		t := c.Tenants[name]
		found := t.problems(tenantKey(name)+"::", c)
		if len(found) == 0 {
			continue
		}
		plain := t.problems("", c)
		for i, err := range found {
			if !said[plain[i].Error()] {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// tenantKey is the key of a tenant's block, on one line.
func tenantKey(name string) string {
	return "tenants::" + strings.Trim(strconv.Quote(name), `"`)
}

// problems names everything that is wrong with the settings, one line each.
// Keys begin with at, and there are as many lines whatever at is.
func (t *TenantSettings) problems(at string, c *Config) []error {
	errs := []error{explainAll(at, t.unknown)}
	why := exporterOnly()
	for _, key := range t.misplaced {
		errs = append(errs, fmt.Errorf("`%s%s` must not be set: %s", at, key, why[key]))
	}
	if t.OnDisabled != onDisabledRefuse && t.OnDisabled != onDisabledDiscard {
		errs = append(errs, wrong(at+"on_disabled", t.OnDisabled, "refuse or discard", "it says what becomes of requests while `enabled` is false"))
	}
	errs = append(errs, t.validateS3(at), t.validateHead(at, c))
	if common := c.common(); !t.writesLike(&common) { // what is inherited was checked, and that takes long
		errs = append(errs, t.validateFormat(at))
	}
	errs = append(errs, t.validateFlush(at), t.validateShare(at, c), t.Backlog.validate(at))
	if t.Flush.TargetSizeMiB > c.WAL.SegmentSizeMiB && t.Flush.TargetSizeMiB != c.Flush.TargetSizeMiB {
		errs = append(errs, wrong(at+"flush::target_size_mib", t.Flush.TargetSizeMiB, fmt.Sprintf("at most `wal::segment_size_mib` (%d)", c.WAL.SegmentSizeMiB),
			"a window never holds more than a segment, so none would reach its size"))
	}
	if t.Flush.MaxAge > c.WAL.SegmentAge && t.Flush.MaxAge != c.Flush.MaxAge {
		errs = append(errs, wrong(at+"flush::max_age", t.Flush.MaxAge, fmt.Sprintf("at most `wal::segment_age` (%v)", c.WAL.SegmentAge),
			"windows would be sealed by the end of their segment before they reach their age"))
	}
	return flatten(errors.Join(errs...))
}

func (t *TenantSettings) validateS3(at string) error {
	client := t.S3.client()
	var errs []error
	for _, err := range flatten(client.Validate()) {
		errs = append(errs, fmt.Errorf("%ss3: %w", at, err))
	}
	if why := badPrefix(t.S3.Prefix); why != "" {
		errs = append(errs, wrong(at+"s3::prefix", t.S3.Prefix, "segments with single slashes between them, such as otel/prod", why))
	}
	errs = append(errs,
		within(at+"s3::multipart_threshold_mib", t.S3.MultipartThresholdMiB, 5, maxTargetMiB, "stores take parts from 5 MiB and single requests up to 5 GiB"),
		within(at+"s3::part_size_mib", t.S3.PartSizeMiB, 5, maxTargetMiB, "stores take parts of 5 MiB to 5 GiB"))
	if t.S3.PartSizeMiB >= 5 && t.S3.PartSizeMiB*maxParts < 2*t.Flush.TargetSizeMiB {
		errs = append(errs, wrong(at+"s3::part_size_mib", t.S3.PartSizeMiB, fmt.Sprintf("at least 1/%d of twice `%sflush::target_size_mib` (%d)", maxParts, at, t.Flush.TargetSizeMiB),
			"an upload has 10,000 parts at most"))
	}
	return errors.Join(errs...)
}

// validateHead holds the names of heads in the lake to what leases take. A prefix
// that is short enough for keys may be too long there, because it is escaped.
func (t *TenantSettings) validateHead(at string, c *Config) error {
	longest := partition.ID{Sink: c.Sink, Tenant: strings.Repeat("x", partition.MaxEscaped), Signal: partition.Metrics}
	n := len(partition.HeadName(t.S3.Bucket, t.S3.Prefix, longest))
	if n <= maxHead || len(t.S3.Prefix) > maxPrefix {
		return nil
	}
	return wrong(at+"s3::prefix", t.S3.Prefix, "shorter",
		fmt.Sprintf("names of heads get up to %d bytes and leases take %d; bytes outside A-Z a-z 0-9 . _ - count three times there, slashes too", n, maxHead))
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
		switch {
		case s == "":
			return "an empty segment is lost or refused by tools that treat keys as paths"
		case s == "." || s == "..":
			return "tools that treat keys as paths resolve . and .. to another place"
		case strings.Contains(s, "="):
			return "readers take a segment with = for a column, which may be another one's name"
		}
	}
	return ""
}

// writesLike says that objects are encoded as those of other.
func (t *TenantSettings) writesLike(other *TenantSettings) bool {
	return t.Format == other.Format &&
		t.Parquet.Codec == other.Parquet.Codec && t.Parquet.Level == other.Parquet.Level && slices.Equal(t.Parquet.Columns, other.Parquet.Columns) &&
		t.JSONL.Compression == other.JSONL.Compression && slices.Equal(t.JSONL.Columns, other.JSONL.Columns)
}

func (t *TenantSettings) validateFormat(at string) error {
	var errs []error
	if t.Format != formatParquet && t.Format != formatJSONL {
		errs = append(errs, wrong(at+"format", t.Format, "parquet or jsonl", "objects are written in it"))
	}
	if t.Parquet.Codec != codecZstd && t.Parquet.Codec != "snappy" {
		errs = append(errs, wrong(at+"parquet::codec", t.Parquet.Codec, "zstd or snappy", "every reader of Parquet opens these"))
	}
	if t.Parquet.Level != "fastest" && t.Parquet.Level != "3" {
		errs = append(errs, wrong(at+"parquet::level", t.Parquet.Level, "fastest or 3", "others cost more than they save"))
	}
	if !slices.Contains([]string{codecZstd, "gzip", "none"}, t.JSONL.Compression) {
		errs = append(errs, wrong(at+"jsonl::compression", t.JSONL.Compression, "zstd, gzip or none", "objects are named .jsonl.zst, .jsonl.gz or .jsonl by it"))
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	for i, c := range t.JSONL.Columns {
		if c.Move {
			errs = append(errs, fmt.Errorf("`%sjsonl::columns::%d::move` (true) must be false: in lines an attribute always stays in its object", at, i))
		}
	}
	key, _ := t.columns()
	_, err := encode.New(t.spec(partition.Logs))
	for _, wrongColumn := range flatten(errors.Unwrap(err)) {
		errs = append(errs, fmt.Errorf("`%s%s`: %w", at, key, wrongColumn))
	}
	return errors.Join(errs...)
}

// encodes tells why records of a signal cannot be encoded with settings that
// are valid by themselves: a promoted column may have the name of a column that
// only this signal has.
func (c *Config) encodes(signal partition.Signal) error {
	check := func(at string, t *TenantSettings) error {
		if _, err := encode.New(t.spec(signal)); err != nil {
			key, _ := t.columns()
			return fmt.Errorf("`%s%s`, in a pipeline of %s: %w", at, key, signal, errors.Unwrap(err))
		}
		return nil
	}
	common := c.common()
	errs := []error{check("", &common)}
	for _, name := range slices.Sorted(maps.Keys(c.Tenants)) {
		t := c.Tenants[name]
		errs = append(errs, check(tenantKey(name)+"::", &t))
	}
	return errors.Join(errs...)
}

func (t *TenantSettings) validateFlush(at string) error {
	return errors.Join(
		within(at+"flush::target_size_mib", t.Flush.TargetSizeMiB, 1, maxTargetMiB, "it is the size of objects"),
		within(at+"flush::max_object_size_mib", t.Flush.MaxObjectSizeMiB, 0, maxTargetMiB, "larger windows are cut into several objects, and 0 is no bound"),
		duration(at+"flush::max_age", t.Flush.MaxAge, 100*time.Millisecond, 24*time.Hour, "it is how long a record may wait for its window to fill"))
}

// validateShare holds the size of windows against the memory of all of them.
func (t *TenantSettings) validateShare(at string, c *Config) error {
	most := window.MaxTarget(c.MemoryLimitMiB<<20, c.consumers()) >> 20
	if t.Flush.TargetSizeMiB <= most {
		return nil
	}
	return wrong(at+"flush::target_size_mib", t.Flush.TargetSizeMiB,
		fmt.Sprintf("at most %d, the largest window that `memory_limit_mib` (%d) with `sending_queue::num_consumers` (%d) has room for", most, c.MemoryLimitMiB, c.consumers()),
		"windows would be sealed for want of memory before they reach it")
}

// validate names what is wrong with the block.
func (b *BacklogConfig) validate(at string) error {
	if _, err := b.before(); err != nil {
		return wrong(at+"backlog::drop_before", b.DropBefore, `a time such as "2026-12-01T10:00:00Z"`, "what was accepted before it is dropped")
	}
	return nil
}
