//go:build iceberg

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/icebergsync/internal/synctest"
	"github.com/s3window/s3window/internal/encode"
)

// The walk-through of docs/iceberg.md, as it stands there: the settings, the
// commands, and the readers, which all find the same rows.
func TestDocsWalkthrough(t *testing.T) {
	w, file := shop(t)
	w.Commit("acme", synctest.Window{})
	w.Commit("acme", synctest.Window{Columns: []encode.Column{{Attribute: "code", As: "code", Type: "int64"}}, Set: map[string]any{"code": 7}})
	w.Commit("acme", synctest.Window{Long: true, Objects: 2})
	w.Commit("globex", synctest.Window{})
	for _, block := range snippets(t, "sh") {
		for line := range strings.Lines(block) {
			args := strings.Fields(line)
			require.Equal(t, "s3window-iceberg", args[0])
			for i, a := range args {
				if a == "iceberg.yaml" {
					args[i] = file
				}
			}
			code, stdout, stderr := call(t, args[1:]...)
			require.Equal(t, exitOK, code, "%s\n%s%s", line, stdout, stderr)
		}
	}
	cmd := exec.Command(python(t), "-c", strings.Join(snippets(t, "python"), "\n"))
	cmd.Dir = filepath.Dir(file) // where catalog.sqlite is
	cmd.Env = append(os.Environ(), "AWS_REGION=us-east-1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s", stderr.String())
	assert.Equal(t, "40 rows of acme\n40 rows of acme of 2 services\n40 rows of acme\n", string(out))
}

// python finds the interpreter that has the readers.
func python(t *testing.T) string {
	t.Helper()
	path := os.Getenv("S3WINDOW_ICEBERG_PYTHON")
	if path == "" {
		path = filepath.Join(filepath.Dir(os.Getenv("S3WINDOW_BIN")), "iceberg-readers", "bin", "python")
	}
	_, err := os.Stat(path)
	require.NoError(t, err, "run make iceberg-readers")
	return path
}
