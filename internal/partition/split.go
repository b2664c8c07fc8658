package partition

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// Part is one tenant's share of a request.
type Part struct {
	Tenant  string // canonical
	Items   int    // records, spans or data points; never 0
	Missing int    // of Items, those of resources of which no rule says whose they are
	Payload []byte // the OTLP bytes of the tenant's resource groups, in the order of the request
}

// Splitter takes requests apart by tenant. It is safe for concurrent use.
//
// A request is read and never changed: it may be shared with other exporters,
// and a caller whose request is refused sends the same one again. So no
// resource group is moved from one request to another. The request is
// marshalled once, whole, and it is the bytes of its groups that are dealt out.
// The bytes of a request of one tenant are not touched.
//
// Taking a request apart admits nobody: Admit does, once it is known that the
// request is not refused for another reason.
type Splitter struct {
	rules Rules
	seen  *census
}

// NewSplitter gives a Splitter that follows rules, and admits tenants within
// bounds.
func NewSplitter(rules Rules, bounds Bounds) *Splitter {
	rules.From = slices.Clone(rules.From)
	return &Splitter{rules: rules, seen: newCensus(bounds)}
}

// Admit admits the tenants of a request, all or none: then a *Refusal says why.
// undo takes back what was new with this request, which was not accepted after
// all; it is nil if nothing was.
func (s *Splitter) Admit(parts []Part) (undo func(), err error) { return s.seen.admit(parts) }

// Remember admits tenants by their canonical names that were admitted before,
// by an earlier process. They count, and are refused by no bound.
func (s *Splitter) Remember(tenants []string) { s.seen.remember(tenants) }

// Logs gives the parts of ld, in the order in which their tenants first appear
// in it; none if ld has no record. Resource groups without a record belong to
// nobody and are left out where a request is taken apart. An error refuses the
// request whole; a *Refusal says that nothing says whose a record is.
func (s *Splitter) Logs(ctx context.Context, ld plog.Logs) ([]Part, error) {
	return split(ctx, s, ld.ResourceLogs(), logRecords, func() ([]byte, error) {
		return (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	})
}

func logRecords(rl plog.ResourceLogs) int {
	n := 0
	for _, sl := range rl.ScopeLogs().All() {
		n += sl.LogRecords().Len()
	}
	return n
}

// group is what the resource groups of all signals have in common.
type group interface{ Resource() pcommon.Resource }

// groups is a request's list of resource groups.
type groups[G group] interface {
	Len() int
	At(int) G
}

// noPart is the owner of a resource group without a record.
const noPart = -1

// split is the way of every signal: who owns which group, the bytes, and the
// bytes dealt out.
func split[G group, S groups[G]](ctx context.Context, s *Splitter, in S, items func(G) int, marshal func() ([]byte, error)) ([]Part, error) {
	parts, owners, err := deal(ctx, s, in, items)
	if err != nil || len(parts) == 0 {
		return nil, err
	}
	payload, err := marshal()
	if err != nil {
		return nil, fmt.Errorf("marshal request: %w", err)
	}
	if len(parts) == 1 && !slices.Contains(owners, noPart) {
		parts[0].Payload = payload
		return parts, nil
	}
	if err := cut(payload, owners, parts); err != nil {
		return nil, fmt.Errorf("split request: %w", err)
	}
	return parts, nil
}

// deal says which part owns which group; the parts have no payload yet.
func deal[G group, S groups[G]](ctx context.Context, s *Splitter, in S, items func(G) int) ([]Part, []int, error) {
	var parts []Part
	rules := newLookup(ctx, &s.rules)
	owners := make([]int, in.Len())
	byTenant := make(map[string]int, 1)
	for i := range owners {
		g := in.At(i)
		n := items(g)
		if n == 0 {
			owners[i] = noPart
			continue
		}
		value, found := rules.value(g.Resource())
		if !found && s.rules.Refuse {
			return nil, nil, &Refusal{Cause: Missing}
		}
		tenant := s.seen.name(value)
		p, ok := byTenant[tenant]
		if !ok {
			p = len(parts)
			byTenant[tenant] = p
			parts = append(parts, Part{Tenant: tenant})
		}
		parts[p].Items += n
		if !found {
			parts[p].Missing += n
		}
		owners[i] = p
	}
	return parts, owners, nil
}

// groupTag is field 1, length-delimited: where the requests of all signals
// keep their resource groups, and all that they hold.
const groupTag = 1<<3 | 2

var errNotGroups = errors.New("its bytes are not the resource groups it has")

// cut copies the group i of payload to the part owners[i]. Every part gets
// memory of its own, so that one which stays buffered does not hold the others.
func cut(payload []byte, owners []int, parts []Part) error {
	ends := make([]int, len(owners))
	sizes := make([]int, len(parts))
	at := 0
	for i, p := range owners {
		size, ok := groupSize(payload[at:])
		if !ok {
			return errNotGroups
		}
		at += size
		ends[i] = at
		if p != noPart {
			sizes[p] += size
		}
	}
	if at != len(payload) {
		return errNotGroups
	}
	for p := range parts {
		parts[p].Payload = make([]byte, 0, sizes[p])
	}
	at = 0
	for i, p := range owners {
		if p != noPart {
			parts[p].Payload = append(parts[p].Payload, payload[at:ends[i]]...)
		}
		at = ends[i]
	}
	return nil
}

// groupSize is the length of the group at the start of b, with its tag.
func groupSize(b []byte) (int, bool) {
	if len(b) == 0 || b[0] != groupTag {
		return 0, false
	}
	size, n := binary.Uvarint(b[1:])
	if n <= 0 || size > uint64(len(b)-1-n) {
		return 0, false
	}
	return 1 + n + int(size), true
}
