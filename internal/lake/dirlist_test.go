package lake_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
)

// A prefix that is the beginning of no key finds nothing, wherever it leads.
func TestDirListsNothingOutside(t *testing.T) {
	root := t.TempDir()
	inner := filepath.Join(root, "bucket")
	for _, name := range []string{"secret/f", "bucket/a/f", "bucket/.sgwtmp/f"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte("x"), 0o600))
	}
	d, err := lake.NewDir(inner)
	require.NoError(t, err)
	for _, prefix := range []string{"../", "../secret/", "../secret/f", "a/../", "/", "//", "a//", "./", "./a/", ".sgwtmp/", ".sgwtmp/f", "a/f/", "none/"} {
		require.NoError(t, d.List(t.Context(), prefix, "", func(i lake.Info) error { return errors.New(i.Key) }), prefix)
		require.NoError(t, d.Dirs(t.Context(), prefix, func(dir string) error { return errors.New(dir) }), prefix)
	}
}
