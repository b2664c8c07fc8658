package lake_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/testbed/s3test"
)

// The directory of a versitygw bucket and the bucket are the same lake,
// whichever way an object came.
func TestDirAndServerReadEachOther(t *testing.T) {
	s := s3test.Start(t)
	c := settings(t, s, s.Endpoint)
	remote := lake.NewS3(newClient(t, c), small(c))
	local, err := lake.NewDir(s.BucketDir(c.Bucket))
	require.NoError(t, err)
	for i, pair := range [][2]lake.Bucket{{remote, local}, {local, remote}} {
		for j, b := range []lake.Body{ours(), bigBody()} {
			k := key + string(rune('a'+i)) + string(rune('a'+j))
			want, err := lake.New(pair[0], lake.Ref{}).PutObject(t.Context(), k, b, meta())
			require.NoError(t, err)
			other := b
			other.SHA256 = [32]byte{} // so that only the metadata can tell
			got, err := lake.New(pair[1], lake.Ref{}).PutObject(t.Context(), k, other, lake.ObjectMeta{Encoder: "another"})
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
	}
	keys := func(b lake.Bucket) (keys []string) {
		require.NoError(t, b.List(t.Context(), "", "", func(i lake.Info) error {
			keys = append(keys, i.Key)
			return nil
		}))
		return keys
	}
	require.Len(t, keys(local), 4)
	require.Equal(t, keys(remote), keys(local))
}

func TestDirRefusesKeysThatLeaveIt(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "secret"), nil, 0o600))
	inner := filepath.Join(root, "bucket")
	require.NoError(t, os.Mkdir(inner, 0o700))
	d, err := lake.NewDir(inner)
	require.NoError(t, err)
	for _, k := range []string{"", ".", "..", "../secret", "a/../../secret", "/etc/passwd", "a//b", "a/", "a/./b", ".sgwtmp", ".sgwtmp/x"} {
		_, _, openErr := d.Open(t.Context(), k)
		_, statErr := d.Stat(t.Context(), k)
		for _, err := range []error{
			openErr, statErr, d.PutIfAbsent(t.Context(), k, ours()), d.Replace(t.Context(), k, ours(), "e"), d.Delete(t.Context(), k),
		} {
			require.ErrorContains(t, err, "names no file below the directory", "%q", k)
		}
	}
	left, err := os.ReadDir(inner)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestDirOfForeignFiles(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "a", "b"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(root, "a", "f"), []byte("x"), 0o600))
	d, err := lake.NewDir(root)
	require.NoError(t, err)
	info, err := d.Stat(t.Context(), "a/f")
	require.NoError(t, err)
	require.NotEmpty(t, info.ETag)
	require.Empty(t, info.Metadata)
	for _, k := range []string{"a", "a/b", "a/f/g"} { // directories, and below a file
		_, err := d.Stat(t.Context(), k)
		require.ErrorIs(t, err, lake.ErrNotExist, k)
		_, _, err = d.Open(t.Context(), k)
		require.ErrorIs(t, err, lake.ErrNotExist, k)
	}
	require.Error(t, d.PutIfAbsent(t.Context(), "a/f/g", ours()))
	require.NoError(t, d.Delete(t.Context(), "a/f"))
}

func TestDirLeavesNoTemporaryFiles(t *testing.T) {
	root := t.TempDir()
	d, err := lake.NewDir(root)
	require.NoError(t, err)
	require.NoError(t, d.PutIfAbsent(t.Context(), "k", ours()))
	require.ErrorIs(t, d.PutIfAbsent(t.Context(), "k", ours()), lake.ErrExists)
	info, err := d.Stat(t.Context(), "k")
	require.NoError(t, err)
	require.NoError(t, d.Replace(t.Context(), "k", bigBody(), info.ETag))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, d.PutIfAbsent(canceled, "k2", ours()), context.Canceled)
	left, err := os.ReadDir(filepath.Join(root, ".sgwtmp"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestNewDirRefuses(t *testing.T) {
	_, err := lake.NewDir(filepath.Join(t.TempDir(), "missing"))
	require.ErrorContains(t, err, "open directory: ")
	file := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = lake.NewDir(file)
	require.ErrorContains(t, err, "is a file")
}
