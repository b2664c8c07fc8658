package s3windowexporter

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.yaml.in/yaml/v3"

	"github.com/s3window/s3window/internal/partition"
)

// Without quotes YAML takes some names for numbers, truth values and times, and
// the collector makes text of those again: 012345670123 becomes 1402433619.
// What stood there is gone by then.

// goTime is how a time is printed that was a key.
const goTime = "2006-01-02 15:04:05.999999999 -0700 MST"

// rewrittenName says of a name that it is what YAML makes of another one; nil if
// it may have been written as it is.
func rewrittenName(name string) error {
	at, err := time.Parse(goTime, name)
	quoted := at.Format(time.RFC3339Nano)
	if strings.HasSuffix(quoted, "T00:00:00Z") {
		quoted = at.Format(time.DateOnly)
	}
	switch {
	case err == nil:
		return fmt.Errorf("`tenants` has %q, which is what YAML makes of a time without quotes: write it as %q, in quotes", name, quoted)
	case name == "<nil>":
		return errors.New("`tenants` has \"<nil>\", which is what YAML makes of ~ and null without quotes: write the name in quotes")
	case strings.Contains(name, "e") && isNumber(name):
		f, _ := strconv.ParseFloat(name, 64)
		return fmt.Errorf("`tenants` has %q, which is what YAML makes of a long number without quotes: write the name in quotes, such as %q or %q",
			name, fmt.Sprintf("0%.0f", f), fmt.Sprintf("%.0f", f))
	}
	return nil
}

// isNumber says that a name is a number as Go prints it.
func isNumber(name string) bool {
	if n, err := strconv.ParseUint(name, 10, 64); err == nil {
		return strconv.FormatUint(n, 10) == name
	}
	f, err := strconv.ParseFloat(name, 64)
	return err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) && fmt.Sprint(f) == name
}

// asYAML is what the collector makes of a name that stands without quotes as a
// key in YAML.
func asYAML(name string) string {
	var v any
	if strings.ContainsAny(name, "#:{}[],&*!|>'\"%@`\n") || yaml.Unmarshal([]byte(name), &v) != nil {
		return name
	}
	switch v := v.(type) {
	case bool, int, int64, uint64, float64, time.Time:
		return fmt.Sprint(v)
	}
	return name
}

const maxNames = 5 // in a line of the log

// warnOfNames says which names under `tenants` YAML may have changed. Those that
// it has changed for sure are refused by Validate.
func (d *door) warnOfNames() {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(d.cfg.Tenants)) {
		if isNumber(name) || name == "true" || name == "false" {
			names = append(names, alternatives(name))
		}
	}
	if len(names) == 0 {
		return
	}
	d.logger.Warn("Names under tenants are numbers or truth values, which YAML writes anew where they stand without quotes: put them in quotes",
		zap.Strings("names", names[:min(maxNames, len(names))]), zap.Int("count", len(names)))
}

// alternatives is the name with the likeliest one that YAML would have made it
// of.
func alternatives(name string) string {
	if n, err := strconv.ParseUint(name, 10, 64); err == nil && n > 7 {
		return fmt.Sprintf("%q, or %q", name, "0"+strconv.FormatUint(n, 8))
	}
	return strconv.Quote(name)
}

// compareNames warns where a tenant without a block has the name of one as it
// was before YAML read it.
func (d *door) compareNames(parts []partition.Part) {
	for i := range parts {
		name := parts[i].Tenant
		if _, ok := d.tenants.own[name]; ok {
			continue
		}
		if read := asYAML(name); read != name && d.tenants.own[read] != nil {
			d.logger.Warn("A tenant has no block under tenants, but there is one of the name that YAML makes of it without quotes: put that name in quotes",
				zap.String("tenant", name), zap.String("block", tenantKey(read)), zap.String("quoted", strconv.Quote(name)))
		}
	}
}
