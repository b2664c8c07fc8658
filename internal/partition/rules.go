package partition

import (
	"context"
	"fmt"

	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Rule is one place to look for the tenant's name. Exactly one field is set.
type Rule struct {
	ResourceAttribute string // an attribute of the resource, of any type, read as text
	Metadata          string // a key of the client's metadata, in any case; of several values the first non-empty one
	Auth              string // an attribute of who the receiver's authenticator says the client is; of several values the first non-empty one
}

// Rules say which tenant a resource group belongs to.
type Rules struct {
	From    []Rule // the first that gives a non-empty value wins
	Default string // the tenant where none does
	Refuse  bool   // a request is refused where none does
}

// lookup is Rules made ready for one request: what is known of the client is
// read once, whatever the number of resource groups.
type lookup struct {
	rules  *Rules
	client []string // by rule; empty where the rule is about the resource
}

func newLookup(ctx context.Context, rules *Rules) lookup {
	l := lookup{rules: rules}
	for i, r := range rules.From {
		if r.Metadata == "" && r.Auth == "" {
			continue
		}
		if l.client == nil {
			l.client = make([]string, len(rules.From))
		}
		l.client[i] = r.ofClient(client.FromContext(ctx))
	}
	return l
}

// ofClient returns what the rule finds in what is known of the client.
func (r Rule) ofClient(c client.Info) string {
	switch {
	case r.Metadata != "":
		return firstValue(c.Metadata.Get(r.Metadata))
	case c.Auth != nil:
		return authText(c.Auth.GetAttribute(r.Auth))
	}
	return ""
}

func firstValue(values []string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// authText reads an attribute of an authenticator, which may have any type, as
// text. What is neither text nor a number nor a truth value is no name.
func authText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []string:
		return firstValue(v)
	case []any:
		for _, one := range v {
			if s := authText(one); s != "" {
				return s
			}
		}
	case bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64:
		return fmt.Sprint(v)
	}
	return ""
}

// value returns the tenant's name as the rules read it, not yet canonical.
// False says that there are rules and none gave one.
func (l lookup) value(resource pcommon.Resource) (string, bool) {
	for i, r := range l.rules.From {
		if r.ResourceAttribute == "" {
			if v := l.client[i]; v != "" {
				return v, true
			}
			continue
		}
		if v, ok := resource.Attributes().Get(r.ResourceAttribute); ok {
			if s := v.AsString(); s != "" {
				return s, true
			}
		}
	}
	return l.rules.Default, len(l.rules.From) == 0
}
