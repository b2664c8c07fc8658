package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/s3window/s3window/icebergsync/internal/syncer"
	"github.com/s3window/s3window/internal/partition"
)

const (
	minInterval       = time.Second
	maxInterval       = 24 * time.Hour
	minTenantInterval = 5 * time.Minute
	maxWindows        = 10_000
	minKeep, maxKeep  = 2, 100_000
)

// Validate implements confmap.Validator. It names everything that is wrong, one
// line each.
func (c *Config) Validate() error {
	s3 := c.client()
	return errors.Join(
		within("catalog", c.Catalog.Check()), within("s3", s3.Validate()), c.validatePrefix(), c.validateSource(),
		c.validateTable(), c.validateLocation(), c.validateSizes(),
		oneOf("ownership", c.Ownership, OwnedByLake, OwnedByTable),
		oneOf("on_jsonl", c.OnJSONL, onSkip, onFail),
	)
}

// within puts a block's name in front of the key of each line of err.
func within(block string, err error) error {
	if err == nil {
		return nil
	}
	return errors.New(block + ": " + strings.ReplaceAll(err.Error(), "\n", "\n"+block+": "))
}

func oneOf(key, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("`%s` (%q) must be %s: there is no other", key, value, strings.Join(allowed, " or "))
}

func (c *Config) validatePrefix() error {
	p := c.S3.Prefix
	if p == "" {
		return nil
	}
	for _, part := range strings.Split(p, "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("s3: `prefix` (%q) must be segments with single slashes between them, such as otel/prod: it is the exporter's", p)
		}
	}
	return nil
}

func (c *Config) validateSource() error {
	var errs []error
	if c.Sink == "" {
		errs = append(errs, errors.New("`sink` is empty: it must be the exporter's, whose default is \"default\""))
	}
	if len(c.Signals) == 0 {
		errs = append(errs, errors.New("`signals` is empty: it must name logs, traces or metrics"))
	}
	for i, s := range c.Signals {
		if _, err := partition.ParseSignal(s); err != nil || slices.Contains(c.Signals[:i], s) {
			errs = append(errs, fmt.Errorf("`signals` (%q) must be logs, traces or metrics, each once", s))
		}
	}
	return errors.Join(errs...)
}

func (c *Config) validateTable() error {
	parts := strings.Split(c.Table, ".")
	for _, p := range parts {
		rest := strings.NewReplacer("{signal}", "", "{tenant}", "").Replace(p)
		if p == "" || strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			return fmt.Errorf("`table` (%q) must be parts of a-z 0-9 _ {signal} {tenant} with dots between them: every catalog and engine takes those", c.Table)
		}
	}
	switch {
	case len(parts) < 2:
		return fmt.Errorf("`table` (%q) must have a namespace, such as otel.{signal}: catalogs have no tables without one", c.Table)
	case len(c.Signals) > 1 && !strings.Contains(c.Table, "{signal}"):
		return fmt.Errorf("`table` (%q) must contain {signal}: signals have different columns", c.Table)
	case c.perTenant() && c.Interval < minTenantInterval:
		return fmt.Errorf("`interval` (%v) must be at least %v with {tenant} in `table`: every table is asked for each time", c.Interval, minTenantInterval)
	}
	return nil
}

func (c *Config) perTenant() bool { return strings.Contains(c.Table, "{tenant}") }

func (c *Config) validateLocation() error {
	if c.Location == "" {
		return nil
	}
	if !strings.HasPrefix(c.Location, "s3://") {
		return fmt.Errorf("`location` (%q) must begin with s3://", c.Location)
	}
	for _, variable := range []string{"{signal}", "{tenant}"} {
		if strings.Contains(c.Table, variable) && !strings.Contains(c.Location, variable) {
			return fmt.Errorf("`location` (%q) must contain %s, as `table` does: two tables must not lie in one place", c.Location, variable)
		}
	}
	if syncer.Holds(c.Location, c.S3.Bucket, c.S3.Prefix) {
		return fmt.Errorf("`location` (%q) must not hold the lake (%s/%s): an engine that removes orphan files would delete it", c.Location, c.S3.Bucket, c.S3.Prefix)
	}
	return nil
}

func (c *Config) validateSizes() error {
	var errs []error
	if c.Interval < minInterval || c.Interval > maxInterval {
		errs = append(errs, fmt.Errorf("`interval` (%v) must be %v to %v", c.Interval, minInterval, maxInterval))
	}
	if c.MaxWindowsPerCommit < 1 || c.MaxWindowsPerCommit > maxWindows {
		errs = append(errs, fmt.Errorf("`max_windows_per_commit` (%d) must be 1 to %d: what one commit adds is held in memory", c.MaxWindowsPerCommit, maxWindows))
	}
	if c.Snapshots.Keep < minKeep || c.Snapshots.Keep > maxKeep {
		errs = append(errs, fmt.Errorf("`snapshots::keep` (%d) must be %d to %d: metadata grows with them, and a rollback goes no further back", c.Snapshots.Keep, minKeep, maxKeep))
	}
	return errors.Join(errs...)
}
