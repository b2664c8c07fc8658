package otlp

// Entry is one OTLP request as it stands in the WAL.
type Entry struct {
	Payload    []byte // Export…ServiceRequest, which is LogsData on the wire
	ReceivedAt int64  // the entry's stamp, microseconds since the epoch
}

// Group is one ResourceLogs, ResourceSpans or ResourceMetrics: its resource is
// located, its scopes are not yet walked.
type Group struct {
	Resource  []byte // the Resource message
	SchemaURL []byte
	body      []byte // the whole message
	scopeTag  uint64 // the tag its scopes stand under
}

const (
	tagScopes           = 2<<3 | 2
	tagDeprecatedScopes = 1000<<3 | 2 // OTLP before 0.15; read only where no field 2 is, as the collector does
)

// Groups walks the groups of a request. It allocates nothing.
type Groups struct {
	Group Group
	b     []byte
	i     int
}

// NewGroups starts a walk over an Export…ServiceRequest, which on the wire is
// the same as LogsData, TracesData or MetricsData.
func NewGroups(payload []byte) Groups { return Groups{b: payload} }

// Next moves to the next group. It returns false at the end of the request
// and where it is malformed; Err tells which.
func (g *Groups) Next() bool {
	for g.i >= 0 && g.i < len(g.b) {
		var tag uint64
		if tag, g.i = Uvarint(g.b, g.i); g.i < 0 {
			return false
		}
		if tag != 1<<3|2 {
			g.i = Skip(g.b, g.i, tag, 1<<1)
			continue
		}
		var body []byte
		if body, g.i = Bytes(g.b, g.i); g.i < 0 {
			return false
		}
		var at int
		if g.Group, at = locate(body); at < 0 {
			g.i = at
			return false
		}
		return true
	}
	return false
}

// Err returns why the walk ended early, or nil.
func (g *Groups) Err() error { return Fault(g.i) }

func locate(b []byte) (Group, int) {
	g := Group{body: b, scopeTag: tagDeprecatedScopes}
	i := 0
	for i < len(b) {
		var tag uint64
		if tag, i = Uvarint(b, i); i < 0 {
			return g, i
		}
		switch tag {
		case 1<<3 | 2:
			var r []byte
			r, i = Bytes(b, i)
			g.Resource = Merge(g.Resource, r)
		case tagScopes:
			_, i = Bytes(b, i)
			g.scopeTag = tagScopes
		case 3<<3 | 2:
			g.SchemaURL, i = Bytes(b, i)
		default:
			i = Skip(b, i, tag, 1<<1|1<<2|1<<3)
		}
		if i < 0 {
			return g, i
		}
	}
	return g, i
}

// Scopes walks the ScopeLogs, ScopeSpans or ScopeMetrics of a group.
type Scopes struct {
	Scope ScopeItems
	b     []byte
	tag   uint64
	i     int
}

// Scopes starts a walk over the group's scopes.
func (g Group) Scopes() Scopes { return Scopes{b: g.body, tag: g.scopeTag} }

// Next moves to the next scope; see Groups.Next.
func (s *Scopes) Next() bool {
	for s.i >= 0 && s.i < len(s.b) {
		var tag uint64
		if tag, s.i = Uvarint(s.b, s.i); s.i < 0 {
			return false
		}
		if tag != s.tag {
			s.i = Skip(s.b, s.i, tag, 0)
			continue
		}
		var b []byte
		if b, s.i = Bytes(s.b, s.i); s.i < 0 {
			return false
		}
		s.Scope = ScopeItems{b: b}
		return true
	}
	return false
}

// Err returns why the walk ended early, or nil.
func (s *Scopes) Err() error { return Fault(s.i) }

// ScopeItems is one ScopeLogs, ScopeSpans or ScopeMetrics. Its scope and schema
// URL may stand before, between or behind its items: they are complete when Next
// has returned false, or after Locate.
type ScopeItems struct {
	Scope     []byte // the InstrumentationScope message
	SchemaURL []byte
	Item      []byte // the LogRecord, Span or Metric of the last Next
	b         []byte
	i         int
}

// Next moves to the next item; see Groups.Next.
func (s *ScopeItems) Next() bool {
	b, i := s.b, s.i
	for i >= 0 && i < len(b) {
		var tag uint64
		tag, i = Uvarint(b, i)
		switch {
		case i < 0:
		case tag == 2<<3|2:
			s.Item, s.i = Bytes(b, i)
			return s.i >= 0
		case tag == 1<<3|2:
			var x []byte
			x, i = Bytes(b, i)
			s.Scope = Merge(s.Scope, x)
		case tag == 3<<3|2:
			s.SchemaURL, i = Bytes(b, i)
		default:
			i = Skip(b, i, tag, 1<<1|1<<2|1<<3)
		}
	}
	s.i = i
	return false
}

// Err returns why the walk ended early, or nil.
func (s *ScopeItems) Err() error { return Fault(s.i) }

// Locate returns the scope with its scope and schema URL complete, without
// moving this walk.
func (s *ScopeItems) Locate() (ScopeItems, error) {
	rest := *s
	for rest.Next() {
	}
	return rest, rest.Err()
}
