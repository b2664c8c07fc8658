package partition

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds say which tenants are admitted. Those that are known always are, and
// take up no room.
type Bounds struct {
	Known     []string         // by any name
	KnownOnly bool             // no other tenant is admitted
	Max       int              // other tenants in the life of a Splitter; 0 means no bound
	PerMinute int              // tenants that may be new in any minute; 0 means no bound
	Now       func() time.Time // for PerMinute
}

// Cause is why a request is refused.
type Cause string

// The causes.
const (
	Missing    Cause = "missing"     // nothing says whose a record is
	Unknown    Cause = "unknown"     // the tenant is not among those that are known
	MaxTenants Cause = "max_tenants" // the tenant is one too many
	NewTenants Cause = "new_tenants" // too many are new at once
)

// Refusal says why a request is refused whole. Nothing of it was admitted.
type Refusal struct {
	Cause  Cause
	Tenant string // the canonical name of a tenant that is not admitted; empty where it is missing
	// Wait is how long it takes until the same request may be admitted, for
	// NewTenants. 0 says that it never will.
	Wait time.Duration
}

func (r *Refusal) Error() string {
	switch r.Cause {
	case Missing:
		return "nothing says whose the records of a resource are"
	case Unknown:
		return fmt.Sprintf("tenant %q is not known", r.Tenant)
	case MaxTenants:
		return fmt.Sprintf("tenant %q is one too many", r.Tenant)
	}
	return fmt.Sprintf("tenant %q is one of too many that are new at once", r.Tenant)
}

// census knows the tenants admitted so far.
type census struct {
	bounds Bounds

	mu     sync.RWMutex      // guards everything below
	names  map[string]string // canonical name -> the one copy of it that entries share
	count  int               // of names, without the known
	last   []*newcomers      // of the last minute, oldest first
	recent int               // how many they are
}

// newcomers are tenants that were admitted together.
type newcomers struct {
	at      time.Time
	tenants []string
}

func newCensus(b Bounds) *census {
	c := &census{bounds: b, names: map[string]string{}}
	for _, name := range b.Known {
		name = Tenant(name)
		c.names[name] = name
	}
	return c
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

// remember admits tenants whatever the bounds say: they were before.
func (c *census) remember(tenants []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range tenants {
		if _, ok := c.names[t]; !ok && !c.bounds.KnownOnly {
			c.names[t] = t
			c.count++
		}
	}
}

// admit adds the tenants of one request, or none of them and says why. undo
// takes out again those that were new; it is nil if none was.
func (c *census) admit(parts []Part) (undo func(), err error) {
	if c.admitted(parts) {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var fresh []string
	for i := range parts {
		if _, ok := c.names[parts[i].Tenant]; !ok {
			fresh = append(fresh, parts[i].Tenant)
		}
	}
	if err := c.refuseLocked(fresh); err != nil || len(fresh) == 0 {
		return nil, err
	}
	group := &newcomers{tenants: fresh}
	for i, t := range fresh {
		t = strings.Clone(t)
		c.names[t], fresh[i] = t, t
	}
	c.count += len(fresh)
	if c.bounds.PerMinute > 0 {
		group.at = c.bounds.Now()
		c.last = append(c.last, group)
		c.recent += len(fresh)
	}
	return func() { c.forget(group) }, nil
}

// refuseLocked says why tenants that are new are not admitted together.
func (c *census) refuseLocked(fresh []string) error {
	b := &c.bounds
	switch {
	case len(fresh) == 0:
		return nil
	case b.KnownOnly:
		return &Refusal{Cause: Unknown, Tenant: fresh[0]}
	case b.Max > 0 && c.count+len(fresh) > b.Max:
		return &Refusal{Cause: MaxTenants, Tenant: fresh[max(0, b.Max-c.count)]}
	case b.PerMinute == 0:
		return nil
	}
	now := b.Now()
	c.passLocked(now)
	room := b.PerMinute - c.recent
	if len(fresh) <= room {
		return nil
	}
	return &Refusal{Cause: NewTenants, Tenant: fresh[room], Wait: c.waitLocked(len(fresh)-room, now)}
}

// passLocked forgets who came more than a minute ago.
func (c *census) passLocked(now time.Time) {
	for len(c.last) > 0 && now.Sub(c.last[0].at) >= time.Minute {
		c.recent -= len(c.last[0].tenants)
		c.last = c.last[1:]
	}
}

// waitLocked is how long it takes until there is room for so many more; 0 if
// there never is.
func (c *census) waitLocked(more int, now time.Time) time.Duration {
	for _, group := range c.last {
		if more -= len(group.tenants); more <= 0 {
			return group.at.Add(time.Minute).Sub(now)
		}
	}
	return 0
}

// forget takes tenants out that were admitted together. One that another
// request has brought meanwhile is admitted anew with the next.
func (c *census) forget(group *newcomers) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range group.tenants {
		if _, ok := c.names[t]; ok {
			delete(c.names, t)
			c.count--
		}
	}
	if i := slices.Index(c.last, group); i >= 0 {
		c.recent -= len(group.tenants)
		c.last = slices.Delete(c.last, i, i+1)
	}
}

func (c *census) admitted(parts []Part) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for i := range parts {
		if _, ok := c.names[parts[i].Tenant]; !ok {
			return false
		}
	}
	return true
}
