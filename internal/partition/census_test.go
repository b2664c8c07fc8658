package partition

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// watch is a clock that a test moves.
type watch struct{ at time.Time }

func (w *watch) now() time.Time { return w.at }

func partsOf(tenants ...string) []Part {
	parts := make([]Part, len(tenants))
	for i, t := range tenants {
		parts[i] = Part{Tenant: t, Items: 1}
	}
	return parts
}

func many(n int, prefix string) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint(prefix, i)
	}
	return names
}

func requireRefused(t *testing.T, err error, want Refusal) {
	t.Helper()
	var got *Refusal
	require.ErrorAs(t, err, &got)
	require.Equal(t, want, *got)
}

func TestMaxTenants(t *testing.T) {
	s := NewSplitter(byAttribute(), Bounds{Max: 2})
	_, err := s.Admit(partsOf("a", "b", "c"))
	requireRefused(t, err, Refusal{Cause: MaxTenants, Tenant: "c"})
	// The refused request left nothing behind: two others fit.
	_, err = s.Admit(partsOf("x", "y"))
	require.NoError(t, err)
	undo, err := s.Admit(partsOf("y", "x"))
	require.NoError(t, err, "those that were admitted are for ever")
	assert.Nil(t, undo)
	_, err = s.Admit(partsOf("x", "a"))
	requireRefused(t, err, Refusal{Cause: MaxTenants, Tenant: "a"})
}

// Tenants that the configuration names are admitted whatever the bounds say,
// and take up no room.
func TestKnownTenantsTakeUpNoRoom(t *testing.T) {
	s := NewSplitter(byAttribute(), Bounds{Known: []string{"a", "b", strings.Repeat("x", 300)}, Max: 1, PerMinute: 1, Now: (&watch{}).now})
	_, err := s.Admit(partsOf("a", "b", Tenant(strings.Repeat("x", 300)), "c"))
	require.NoError(t, err)
	_, err = s.Admit(partsOf("a", "d"))
	requireRefused(t, err, Refusal{Cause: MaxTenants, Tenant: "d"})
	_, err = s.Admit(partsOf("b"))
	require.NoError(t, err)
}

func TestKnownTenantsOnly(t *testing.T) {
	s := NewSplitter(byAttribute(), Bounds{Known: []string{"a"}, KnownOnly: true, Max: 10})
	_, err := s.Admit(partsOf("a", "b"))
	requireRefused(t, err, Refusal{Cause: Unknown, Tenant: "b"})
	s.Remember([]string{"b"})
	_, err = s.Admit(partsOf("b"))
	requireRefused(t, err, Refusal{Cause: Unknown, Tenant: "b"})
	_, err = s.Admit(partsOf("a"))
	require.NoError(t, err)
}

// The bound on new tenants holds for any minute, and within one request.
func TestNewTenantsPerMinute(t *testing.T) {
	w := &watch{time.Unix(1000, 0)}
	s := NewSplitter(byAttribute(), Bounds{PerMinute: 10, Now: w.now})
	_, err := s.Admit(partsOf(many(3000, "m")...))
	requireRefused(t, err, Refusal{Cause: NewTenants, Tenant: "m10"}) // never
	_, err = s.Admit(partsOf(many(6, "a")...))
	require.NoError(t, err, "the refused request left nothing behind")
	w.at = w.at.Add(20 * time.Second)
	_, err = s.Admit(partsOf(many(4, "b")...))
	require.NoError(t, err)
	_, err = s.Admit(partsOf("a0", "c", "b3"))
	requireRefused(t, err, Refusal{Cause: NewTenants, Tenant: "c", Wait: 40 * time.Second})
	_, err = s.Admit(partsOf(many(7, "d")...))
	requireRefused(t, err, Refusal{Cause: NewTenants, Tenant: "d0", Wait: time.Minute})
	_, err = s.Admit(partsOf(many(6, "a")...))
	require.NoError(t, err, "those that were admitted are not new")

	w.at = w.at.Add(40*time.Second - 1)
	_, err = s.Admit(partsOf("c"))
	requireRefused(t, err, Refusal{Cause: NewTenants, Tenant: "c", Wait: 1})
	w.at = w.at.Add(1)
	_, err = s.Admit(partsOf(many(6, "d")...))
	require.NoError(t, err)
	_, err = s.Admit(partsOf("c"))
	requireRefused(t, err, Refusal{Cause: NewTenants, Tenant: "c", Wait: 20 * time.Second})
}

// A request that is not accepted after all leaves nothing behind.
func TestAdmissionIsTakenBack(t *testing.T) {
	w := &watch{time.Unix(1000, 0)}
	s := NewSplitter(byAttribute(), Bounds{Max: 3, PerMinute: 3, Now: w.now})
	for range 5 {
		undo, err := s.Admit(partsOf("a", "b", "c"))
		require.NoError(t, err)
		undo()
	}
	keep, err := s.Admit(partsOf("a"))
	require.NoError(t, err)
	undo, err := s.Admit(partsOf("a", "b", "c"))
	require.NoError(t, err)
	undo()
	undo, err = s.Admit(partsOf("a", "d", "e"))
	require.NoError(t, err, "what undo of another request does not concern stays")
	require.NotNil(t, undo)
	require.NotNil(t, keep)
	_, err = s.Admit(partsOf("a", "d", "e", "f"))
	requireRefused(t, err, Refusal{Cause: MaxTenants, Tenant: "f"})
}

// What an earlier process admitted counts, and is refused by no bound.
func TestRememberedTenants(t *testing.T) {
	s := NewSplitter(byAttribute(), Bounds{Max: 3, PerMinute: 1, Now: (&watch{}).now})
	s.Remember([]string{"a", "b", "b", "a"})
	_, err := s.Admit(partsOf("a", "b", "c"))
	require.NoError(t, err)
	_, err = s.Admit(partsOf("d"))
	requireRefused(t, err, Refusal{Cause: MaxTenants, Tenant: "d"})
}

func TestMaxTenantsUnderConcurrency(t *testing.T) {
	s := NewSplitter(byAttribute(), Bounds{Max: 10, PerMinute: 1000, Now: (&watch{}).now})
	var mu sync.Mutex
	admitted := map[string]bool{}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 40 {
				name := fmt.Sprint((i + j) % 40)
				if _, err := s.Admit(partsOf(name)); err == nil {
					mu.Lock()
					admitted[name] = true
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	assert.Len(t, admitted, 10)
}

func TestRefusalsName(t *testing.T) {
	for cause, want := range map[Cause]string{
		Missing: "nothing says whose", Unknown: `tenant "x" is not known`, MaxTenants: `tenant "x" is one too many`, NewTenants: `tenant "x" is one of too many`,
	} {
		err := (&Refusal{Cause: cause, Tenant: "x"}).Error()
		assert.Contains(t, err, want)
		assert.NotContains(t, err, "::", "no setting is named")
	}
}
