package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/icebergsync/internal/source"
	"github.com/s3window/s3window/icebergsync/internal/synctest"
	"github.com/s3window/s3window/testbed/s3test"
)

// call runs the command and returns its exit code and what it wrote.
func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var a, b bytes.Buffer
	code = dispatch(t.Context(), args, output{&a, &b})
	return code, a.String(), b.String()
}

// shop is a lake on a real S3 server and settings for it in a file.
func shop(t *testing.T) (w *synctest.Writer, file string) {
	s := s3test.Start(t)
	settings := synctest.S3(s, "lake")
	s.CreateBucket(t, "lake")
	s.CreateBucket(t, "warehouse")
	store, err := source.OpenStore(t.Context(), settings)
	require.NoError(t, err)
	t.Cleanup(store.Close)
	t.Setenv("AWS_ENDPOINT_URL", s.Endpoint)
	t.Setenv("AWS_ACCESS_KEY_ID", s.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s.SecretKey)
	dir := t.TempDir()
	file = filepath.Join(dir, "iceberg.yaml")
	content := strings.ReplaceAll(snippets(t, "yaml")[0], "file:catalog.sqlite", "file:"+filepath.Join(dir, "catalog.sqlite"))
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	return synctest.NewWriter(t, store.Lake("otel")), file
}

// snippets returns the blocks of one language of docs/iceberg.md.
func snippets(t *testing.T, language string) []string {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "iceberg.md"))
	require.NoError(t, err)
	var out []string
	for _, block := range strings.Split(string(doc), "```"+language+"\n")[1:] {
		text, _, ok := strings.Cut(block, "```")
		require.True(t, ok)
		out = append(out, text)
	}
	require.NotEmpty(t, out, language)
	return out
}

func TestSyncStatusVerify(t *testing.T) {
	w, file := shop(t)
	w.Commit("acme", synctest.Window{})
	w.Commit("acme", synctest.Window{Format: "jsonl"})
	w.Commit("globex", synctest.Window{})

	code, stdout, stderr := call(t, "status", "-config", file)
	require.Equal(t, exitOK, code, stderr)
	assert.Equal(t, "otel.logs: not made yet\n  tenant \"acme\": up to window 0, 2 wait\n  tenant \"globex\": up to window 0, 1 wait\n", stdout)

	code, stdout, stderr = call(t, "sync", "-config", file)
	require.Equal(t, exitOK, code, stderr)
	assert.Equal(t, "otel.logs: 2 windows, 2 files, 20 rows in 1 commits\n", stdout)
	assert.Contains(t, stderr, "otel.logs: window 2 of tenant \"acme\" is passed over: no table holds jsonl\n")

	code, stdout, stderr = call(t, "status", "-config", file)
	require.Equal(t, exitOK, code, stderr)
	assert.Equal(t, "otel.logs: at s3://warehouse/otel.db/logs, 1 snapshots\n  tenant \"acme\": up to window 2, 0 wait\n  tenant \"globex\": up to window 1, 0 wait\n", stdout)

	code, stdout, stderr = call(t, "verify", "-config", file)
	require.Equal(t, exitOK, code, stderr)
	assert.Equal(t, "otel.logs, tenant \"acme\": windows 1 to 2 have 10 rows, the table has 10: equal\n"+
		"otel.logs, tenant \"globex\": windows 1 to 1 have 10 rows, the table has 10: equal\n", stdout)
}

func TestABlockedLogIsNamed(t *testing.T) {
	w, file := shop(t)
	m := w.Commit("acme", synctest.Window{})
	require.NoError(t, w.Lake.Bucket().Delete(t.Context(), m.Objects[0].Key))
	code, stdout, _ := call(t, "sync", "-config", file)
	assert.Equal(t, exitBehind, code)
	assert.Contains(t, stdout, `otel.logs: blocked: tenant "acme", logs of sink "default", window 1: object "otel/tenant=acme/`)
}

func TestWrongCalls(t *testing.T) {
	dir := t.TempDir()
	two := filepath.Join(dir, "two.yaml")
	require.NoError(t, os.WriteFile(two, []byte("extensions: {s3window_iceberg: {}, s3window_iceberg/b: {}}\n"), 0o600))
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"nothing":    {nil, "usage: s3window-iceberg"},
		"unknown":    {[]string{"drop"}, `there is no command "drop"`},
		"no file":    {[]string{"sync"}, "name the settings: -config file.yaml"},
		"no such":    {[]string{"sync", "-config", filepath.Join(dir, "none.yaml")}, "no such file or directory"},
		"two blocks": {[]string{"status", "-config", two}, "it has 2 extensions s3window_iceberg (s3window_iceberg, s3window_iceberg/b): there must be one"},
		"argument":   {[]string{"verify", "-config", two, "x"}, `"x" is no flag`},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := call(t, tc.args...)
			assert.Equal(t, exitFailed, code)
			assert.Contains(t, stderr, tc.want)
		})
	}
}

// Settings are found in a collector's configuration, and checked.
func TestTheBlockOfACollector(t *testing.T) {
	file := filepath.Join(t.TempDir(), "collector.yaml")
	require.NoError(t, os.WriteFile(file, []byte("extensions:\n  health_check: {}\n  s3window_iceberg/a:\n    catalog: {uri: 'http://c'}\n    s3: {bucket: lake}\n    sink: x\n"), 0o600))
	c, err := load(context.Background(), file)
	require.NoError(t, err)
	assert.Equal(t, "x", c.Sink)
	require.NoError(t, os.WriteFile(file, []byte("catalog: {uri: 'http://c'}\ns3: {bucket: lake}\nsink: ''\n"), 0o600))
	_, err = load(context.Background(), file)
	require.ErrorContains(t, err, "`sink` is empty")
}
