package s3windowexporter

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/partition"
)

// maxKey is the longest key that S3 takes, bytes.
const maxKey = 1024

func (c *Config) validatePartition() error {
	p := &c.Partition
	var errs []error
	switch p.Align {
	case partition.AlignHour, partition.AlignDay, partition.AlignNone:
	default:
		errs = append(errs, wrong("partition::align", p.Align, "hour, day or none", "windows are cut at these boundaries"))
	}
	if p.Time != timeReceived && p.Time != timeEvent {
		errs = append(errs, wrong("partition::time", p.Time, "received or event", "objects are filed under the time at which their records came, or under the records' own"))
	}
	if c.Layout != layoutKeep && c.Layout != layoutAdopt {
		errs = append(errs, wrong("layout", c.Layout, "keep or adopt", "it says whether a lake that is filed in another layout is written to"))
	}
	errs = append(errs,
		duration("partition::max_event_skew", p.MaxEventSkew, time.Hour, 10*365*24*time.Hour, "older records are filed under received time"),
		within("partition::max_prefixes", p.MaxPrefixes, 1, encode.MaxPrefixes, "each directory of a window costs an object"),
		within("partition::min_object_records", p.MinObjectRecords, 0, 1_000_000, "records of smaller directories are filed together"),
		within("partition::min_object_kib", p.MinObjectKiB, 0, 1<<20, "records of smaller directories are filed together"))
	if len(p.By) > encode.MaxLevels {
		errs = append(errs, wrong("partition::by", len(p.By), fmt.Sprintf("at most %d levels", encode.MaxLevels), "each multiplies the number of objects"))
	}
	names := map[string]bool{}
	for i, l := range p.By {
		errs = append(errs, c.validateLevel(fmt.Sprintf("partition::by::%d", i), l, names))
		names[l.As] = true
	}
	if n := c.longestKey(); n > maxKey && len(p.By) > 0 && len(p.By) <= encode.MaxLevels {
		errs = append(errs, fmt.Errorf("`partition::by` with `s3::prefix` (%q) makes keys of up to %d bytes: S3 takes %d, so the prefix must be shorter, or the levels fewer",
			c.S3.Prefix, n, maxKey))
	}
	return errors.Join(errs...)
}

func (c *Config) validateLevel(at string, l LevelConfig, taken map[string]bool) error {
	given := 0
	for _, key := range []string{l.Attribute, l.ResourceAttribute, l.ScopeAttribute} {
		if key != "" {
			given++
		}
	}
	if given != 1 {
		return fmt.Errorf("`%s` must have one of `attribute`, `resource_attribute` and `scope_attribute`: a level has the values of one", at)
	}
	as := at + "::as"
	if err := partition.LevelName(l.As); err != nil {
		return fmt.Errorf("`%s` (%q) %w", as, l.As, err)
	}
	if taken[l.As] {
		return wrong(as, l.As, "another name", "an earlier level has this one")
	}
	for _, signal := range []partition.Signal{partition.Logs, partition.Traces, partition.Metrics} {
		if slices.Contains(encode.ColumnNames(signal), l.As) {
			return wrong(as, l.As, "another name", fmt.Sprintf("it is a column of %s, and readers refuse or mistype what is both", signal))
		}
	}
	common := c.common()
	if key := common.promotes(l.As); key != "" {
		return wrong(as, l.As, "another name", fmt.Sprintf("`%s` has a column of this one, and readers refuse or mistype what is both", key))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Tenants)) {
		t := c.Tenants[name]
		if key := t.promotes(l.As); key != "" {
			return wrong(as, l.As, "another name", fmt.Sprintf("`%s::%s` has a column of this one, and readers refuse or mistype what is both", tenantKey(name), key))
		}
	}
	return nil
}

// promotes gives the key under which a promoted column has this name; empty if
// none has.
func (t *TenantSettings) promotes(as string) string {
	key, columns := t.columns()
	if slices.ContainsFunc(columns, func(c ColumnConfig) bool { return c.As == as }) {
		return key
	}
	return ""
}

// longestKey is how long keys can get.
func (c *Config) longestKey() int {
	levels := ""
	for _, l := range c.Partition.By {
		levels += fmt.Sprintf("%s=%0*d/", l.As, partition.MaxEscaped, 0)
	}
	longest := len("tenant=") + partition.MaxEscaped + len("/signal=metrics/dt=2026-10-03/hour=06/") + len(levels) +
		len("w-1791009458377856-1791009758000001-q7m2aaaaaaaaa-1000.jsonl.zst")
	prefix := len(c.S3.Prefix)
	for _, t := range c.Tenants {
		prefix = max(prefix, len(t.S3.Prefix))
	}
	return prefix + 1 + longest
}
