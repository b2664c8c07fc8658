package s3windowexporter

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/s3window/s3window/internal/partition"
)

// TenantConfig says whose a record is, and which tenants are accepted.
type TenantConfig struct {
	From    []TenantRule `mapstructure:"from"`    // the first that gives a value wins
	Default string       `mapstructure:"default"` // the tenant where none does, if records without one are accepted
	// OnMissing says what becomes of records for which no rule gives a value:
	// default, refuse. Empty means refuse where a rule reads what is known of the
	// client, and default elsewhere.
	OnMissing string `mapstructure:"on_missing"`
	// KnownOnly has tenants refused that have no block under `tenants`.
	KnownOnly bool `mapstructure:"known_only"`
	// MaxTenants bounds the tenants since the start that have no block, and
	// MaxNewPerMinute those of them that are new in any minute.
	MaxTenants      int `mapstructure:"max_tenants"`
	MaxNewPerMinute int `mapstructure:"max_new_per_minute"`
}

// TenantRule is one place to look for the tenant; one of its fields is set.
type TenantRule struct {
	ResourceAttribute string `mapstructure:"resource_attribute"`
	Metadata          string `mapstructure:"metadata"`
	Auth              string `mapstructure:"auth"`
}

const (
	onMissingDefault = "default"
	onMissingRefuse  = "refuse"
)

// valid says that the rule looks in one place.
func (r TenantRule) valid() bool {
	given := 0
	for _, key := range []string{r.ResourceAttribute, r.Metadata, r.Auth} {
		if key != "" {
			given++
		}
	}
	return given == 1
}

// ofClient says that the rule reads what is known of the client, and not what
// stands in the records.
func (r TenantRule) ofClient() bool { return r.ResourceAttribute == "" }

// refuses says that records for which no rule gives a value are refused.
func (c *TenantConfig) refuses() bool {
	if c.OnMissing == "" {
		return slices.ContainsFunc(c.From, TenantRule.ofClient)
	}
	return c.OnMissing == onMissingRefuse
}

// rules gives the rules as the splitter takes them.
func (c *TenantConfig) rules() partition.Rules {
	r := partition.Rules{Default: c.Default, Refuse: c.refuses()}
	for _, from := range c.From {
		r.From = append(r.From, partition.Rule(from))
	}
	return r
}

// bounds says which tenants are accepted. Those that the configuration names
// take up no room: nobody can crowd them out.
func (c *Config) bounds() partition.Bounds {
	t := &c.Tenant
	b := partition.Bounds{
		Known: slices.Sorted(maps.Keys(c.Tenants)), KnownOnly: t.KnownOnly,
		Max: t.MaxTenants, PerMinute: t.MaxNewPerMinute, Now: time.Now,
	}
	if !t.refuses() && !t.KnownOnly {
		b.Known = append(b.Known, t.Default)
	}
	return b
}

func (c *Config) validateTenant() error {
	t := &c.Tenant
	var errs []error
	for i, r := range t.From {
		if !r.valid() {
			errs = append(errs, fmt.Errorf("`tenant::from::%d` must have one of `auth`, `metadata` and `resource_attribute`: a rule looks in one place", i))
		}
	}
	switch t.OnMissing {
	case "", onMissingDefault, onMissingRefuse:
	default:
		errs = append(errs, wrong("tenant::on_missing", t.OnMissing, "default or refuse", "it says what becomes of records for which no rule gives a tenant"))
	}
	if t.OnMissing == onMissingRefuse && len(t.From) == 0 {
		errs = append(errs, errors.New("`tenant::on_missing` (\"refuse\") needs a rule under `tenant::from`: without one all records are refused"))
	}
	if t.Default == "" {
		errs = append(errs, errors.New("`tenant::default` is empty: it must name the tenant of records for which no rule gives one"))
	}
	errs = append(errs,
		c.validateKnown(),
		within("tenant::max_tenants", t.MaxTenants, 1, 10_000_000, "every tenant costs memory and objects of its own"),
		within("tenant::max_new_per_minute", t.MaxNewPerMinute, 1, 10_000_000, "every new tenant costs an object, whoever named it"))
	return errors.Join(errs...)
}

// validateKnown names what is wrong with tenants that are not known.
func (c *Config) validateKnown() error {
	t := &c.Tenant
	if !t.KnownOnly {
		return nil
	}
	if len(c.Tenants) == 0 {
		return errors.New("`tenant::known_only` (true) needs blocks under `tenants`: without one all records are refused")
	}
	if !t.refuses() && !slices.ContainsFunc(slices.Collect(maps.Keys(c.Tenants)), func(name string) bool {
		return partition.Tenant(name) == partition.Tenant(t.Default)
	}) {
		return fmt.Errorf("`tenant::known_only` (true) refuses `tenant::default` (%q): give it a block under `tenants`, or set `tenant::on_missing: refuse`", t.Default)
	}
	return nil
}
