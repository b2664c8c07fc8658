package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each mutant fits the tree as it is. If one does not, the code that it breaks
// has moved: find its new place and change the list, and run it with
// `make mutate MUTATE='-run NAME'`.
func TestEveryMutantApplies(t *testing.T) {
	root, err := filepath.Abs("../..")
	assert.NoError(t, err)
	names := map[string]bool{}
	for _, m := range mutants() {
		name := m.pkg() + ": " + m.name
		require.False(t, names[name], "two mutants are called %q", name)
		names[name] = true
		_, err := m.apply(root)
		assert.NoError(t, err, name)
		for _, e := range m.edits {
			require.NotEqual(t, e.old, e.new, name)
		}
		for _, s := range m.suites() {
			tests, err := filepath.Glob(filepath.Join(root, s.pkg, "*_test.go"))
			assert.NoError(t, err)
			require.NotEmpty(t, tests, "%s: %s has no tests", name, s.pkg)
		}
	}
	require.Greater(t, len(names), 80)
}

// A mutant that tests notice, one that lives, one that does not build and one
// that does not fit are told apart, and the tree stays as it is.
func TestJudge(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	r := &runner{root: root, timeout: 60e9}
	const file = "internal/flush/rules.go"
	for name, c := range map[string]struct {
		old, new string
		run      string
		want     outcome
		err      string
	}{
		"noticed":        {"c.Safe.Time >= w.Until", "c.Safe.Time > w.Until+1", "", outcome{noticed: true}, ""},
		"lives":          {"c.Safe.Time >= w.Until", "c.Safe.Time > w.Until+1", "^TestNone$", outcome{}, ""},
		"does not build": {"c.Safe.Time >= w.Until", "c.Safe.Time >= nobody", "", outcome{}, "undefined: nobody"},
		"does not fit":   {"nowhere", "", "", outcome{}, "0 times what is to be replaced"},
		"no Go":          {"c.Safe.Time >= w.Until", ")", "", outcome{}, "is no Go"},
	} {
		t.Run(name, func(t *testing.T) {
			m := one(name, file, c.old, c.new).by(suite{pkg: "internal/flush", run: c.run})
			got := r.judge(t.Context(), &m)
			if c.err != "" {
				require.ErrorContains(t, got.err, c.err)
				return
			}
			require.NoError(t, got.err)
			require.Equal(t, c.want.noticed, got.noticed)
			if got.noticed {
				require.Contains(t, got.by, "internal/flush: Test")
			}
		})
	}
}

func TestFirstFailure(t *testing.T) {
	for out, want := range map[string]string{
		"--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/b (0.1s)\n        --- FAIL: TestA/b/c (0s)\n    x.go:1: no\n--- FAIL: TestB (0s)\nFAIL\n": "TestA/b/c",
		"=== RUN x\n--- FAIL: TestA (0.1s)\nFAIL\n": "TestA",
		"panic: test timed out after 1s\n":          "hangs",
		"goleak: found unexpected goroutines:\n":    "a goroutine is left",
		"exit status 2\n":                           "ends early",
	} {
		require.Equal(t, want, firstFailure(out), out)
	}
}
