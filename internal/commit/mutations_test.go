package commit

import (
	"strings"
	"testing"
)

// mutations break one rule each. The model must notice every one of them: a
// model that passes a broken protocol says nothing about a whole one.
var mutations = []struct {
	broken string
	world  string
	expect []string // one of these is complained about first or later
}{
	{"no look", "all messages and processes", []string{"LIVENESS"}},
	{"no head read", "crashes", []string{"LIVENESS"}},
	{"no rebuild and no look", "head deleted", []string{"LIVENESS"}}, // either one heals what the other leaves
	{"manifest without If-None-Match", "network", []string{"LOST", "TRIMMED", "CHAIN", "DOUBLED"}},
	{"data without If-None-Match", "copied WAL", []string{"OBJECT", "DOUBLED"}},
	{"parts are not pinned", "restored WAL", []string{"LOST", "TRIMMED", "DOUBLED", "LIVENESS"}}, // no manifest can be made of other parts
	{"trim before commit", "crashes", []string{"LOST", "TRIMMED"}},
	{"windows out of order", "network", []string{"LOST", "TRIMMED", "OVERLAP", "LIVENESS"}},
	{"cut inside a stamp", "crashes", []string{"LOST", "TRIMMED", "OVERLAP", "DOUBLED", "ROW"}},
	{"same writer after a restart", "restored WAL", []string{"LOST", "TRIMMED", "OVERLAP", "DOUBLED"}},
	{"prune without pruned", "pruned", []string{"DOUBLED", "OVERLAP", "BLOCKED"}},
	{"sweep what is not sealed here", "copied WAL", []string{"OBJECT"}},
	{"the rest of a void seal goes last", "copied WAL", []string{"LIVENESS", "LOST", "TRIMMED", "OVERLAP"}},
	{"take-over replaces the state", "all messages and processes", []string{"BLOCKED", "DOUBLED", "OVERLAP"}},
}

// TestModelNoticesEveryBrokenRule runs seeds until the broken rule shows.
func TestModelNoticesEveryBrokenRule(t *testing.T) {
	n := envInt(t, "COMMIT_MUTATION_SEEDS", 300)
	for _, m := range mutations {
		t.Run(strings.ReplaceAll(m.broken, " ", "_"), func(t *testing.T) {
			t.Parallel()
			sc := worldNamed(t, m.world)
			sc.broken = m.broken
			for seed := 1; seed <= n; seed++ {
				w := runModel(t, uint64(seed), sc, false)
				for _, bad := range w.bad {
					for _, e := range m.expect {
						if strings.HasPrefix(bad, e) {
							t.Logf("seed %d: %s", seed, strings.Join(w.bad[:min(3, len(w.bad))], "; "))
							return
						}
					}
				}
				if len(w.bad) > 0 {
					t.Logf("seed %d says something else: %s", seed, strings.Join(w.bad[:min(3, len(w.bad))], "; "))
				}
			}
			t.Errorf("%d seeds of world %q did not notice", n, m.world)
		})
	}
}
