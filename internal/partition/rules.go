package partition

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Rule is one place to look for the tenant's name. Exactly one field is set.
type Rule struct {
	ResourceAttribute string // an attribute of the resource, of any type, read as text
	Metadata          string // a key of the client's metadata, in any case; of several values the first non-empty one
}

// Rules say which tenant a resource group belongs to.
type Rules struct {
	From       []Rule // the first that gives a non-empty value wins
	Default    string // the tenant where none does
	MaxTenants int    // tenants admitted in the life of a Splitter; 0 means no limit
}

// LimitError says that a request names a tenant beyond Rules.MaxTenants. It is
// permanent: the same request is refused until the limit is raised.
type LimitError struct {
	Tenant string // the canonical name of the tenant that is one too many
	Limit  int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("admit tenant %q: `tenant::max_tenants` (%d) different tenants were seen since the start: "+
		"raise it, or check that the rules under `tenant::from` name a tenant and not a value without bounds",
		e.Tenant, e.Limit)
}

// lookup is Rules made ready for one request: the client's metadata is read
// once, whatever the number of resource groups.
type lookup struct {
	rules    *Rules
	metadata []string // by rule; empty where the rule is not about metadata
}

func newLookup(ctx context.Context, rules *Rules) lookup {
	l := lookup{rules: rules}
	for i, r := range rules.From {
		if r.Metadata == "" {
			continue
		}
		if l.metadata == nil {
			l.metadata = make([]string, len(rules.From))
		}
		l.metadata[i] = firstValue(client.FromContext(ctx).Metadata.Get(r.Metadata))
	}
	return l
}

func firstValue(values []string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// value gives the tenant's name as the rules read it, not yet canonical.
func (l lookup) value(resource pcommon.Resource) string {
	for i, r := range l.rules.From {
		if r.Metadata != "" {
			if v := l.metadata[i]; v != "" {
				return v
			}
			continue
		}
		if v, ok := resource.Attributes().Get(r.ResourceAttribute); ok {
			if s := v.AsString(); s != "" {
				return s
			}
		}
	}
	return l.rules.Default
}

// census knows the tenants admitted so far. It only grows.
type census struct {
	mu    sync.RWMutex
	names map[string]string // canonical name -> the one copy of it that entries share; guarded by mu
}

// name gives the canonical name of the tenant that value names.
func (c *census) name(value string) string {
	c.mu.RLock()
	known, ok := c.names[value]
	c.mu.RUnlock()
	if ok {
		return known
	}
	return Tenant(value)
}

// admit adds the tenants of one request, or none of them.
func (c *census) admit(tenants []string, limit int) error {
	if c.admitted(tenants) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	fresh := 0
	for _, t := range tenants {
		if _, ok := c.names[t]; ok {
			continue
		}
		fresh++
		if limit > 0 && len(c.names)+fresh > limit {
			return &LimitError{Tenant: t, Limit: limit}
		}
	}
	if c.names == nil {
		c.names = make(map[string]string)
	}
	for _, t := range tenants {
		if _, ok := c.names[t]; !ok {
			t = strings.Clone(t)
			c.names[t] = t
		}
	}
	return nil
}

func (c *census) admitted(tenants []string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, t := range tenants {
		if _, ok := c.names[t]; !ok {
			return false
		}
	}
	return true
}
