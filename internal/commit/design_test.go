package commit

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The table "Failure by failure" of DESIGN.md has the rows of TestFailureTable,
// and every test that it names exists where it says so.
func TestTheTableNamesItsTests(t *testing.T) {
	page, err := os.ReadFile("DESIGN.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "## Failure by failure\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n## ")
	tests := testsOf(t)
	named := regexp.MustCompile("`(?:([a-z0-9]+)\\.)?(Test[A-Za-z0-9]+)`")
	rows := map[string]bool{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(line, "|\n"), "|")
		if !strings.HasPrefix(line, "|") || len(cells) != 4 || strings.HasPrefix(cells[0], "---") || cells[3] == " shown by " {
			continue
		}
		what := strings.TrimSpace(cells[0])
		shown := named.FindAllStringSubmatch(cells[3], -1)
		assert.NotEmpty(t, shown, "%q names no test", what)
		for _, m := range shown {
			in := m[1]
			if in == "" {
				in = "commit"
			}
			assert.True(t, tests[in+"."+m[2]], "%q names %s, which is not in %s", what, m[2], in)
			if m[2] == "TestFailureTable" {
				rows[what] = true
			}
		}
	}
	var want []string
	for _, row := range slices.Concat(everyFailure, turnFailures) {
		want = append(want, row.name)
	}
	assert.ElementsMatch(t, want, slices.Collect(maps.Keys(rows)))
}

// testsOf returns the tests of the repository as "directory.Test", by the last
// part of the directory.
func testsOf(t *testing.T) map[string]bool {
	tests, declared := map[string]bool{}, regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)\(`)
	for _, root := range []string{"..", "../../testbed"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			b, err := os.ReadFile(path)
			for _, m := range declared.FindAllStringSubmatch(string(b), -1) {
				full, _ := filepath.Abs(path)
				tests[filepath.Base(filepath.Dir(full))+"."+m[1]] = true
			}
			return err
		})
		require.NoError(t, err)
	}
	return tests
}
