//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// short cuts a list of cases down with -short.
func short[T any](n int, all []T) []T {
	if testing.Short() {
		return all[:min(n, len(all))]
	}
	return all
}

func caseName(s string) string { return strings.NewReplacer(":", "-", "/", "-").Replace(s) }
