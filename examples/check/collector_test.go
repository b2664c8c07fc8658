package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// collector finds what `make build` builds.
func collector(t *testing.T) string {
	t.Helper()
	bin := os.Getenv("S3WINDOW_BIN")
	if bin == "" {
		bin = filepath.Join("..", "..", ".build", "bin")
	}
	path := filepath.Join(filepath.Dir(bin), "otelcol-s3window")
	_, err := os.Stat(path)
	require.NoError(t, err, "run make build")
	return path
}

// accept has the collector check a configuration, with its queue in a
// directory that can be made.
func accept(t *testing.T, config string) {
	t.Helper()
	cmd := exec.Command(collector(t), "validate", "--config", config)
	cmd.Env = append(os.Environ(), "WAL_DIR="+filepath.Join(t.TempDir(), "wal"), "S3_ACCESS_KEY=key", "S3_SECRET_KEY=secret")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestConfigurations(t *testing.T) {
	files, err := filepath.Glob("../*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { accept(t, file) })
	}
}

// The documents show configurations too.
func TestConfigurationsOfTheDocuments(t *testing.T) {
	for _, file := range []string{"../../README.md", "../../exporter/s3windowexporter/README.md"} {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		found := 0
		for _, block := range strings.Split(string(content), "```yaml\n")[1:] {
			block, _, _ = strings.Cut(block, "```")
			if !strings.Contains(block, "\nservice:") {
				continue // a part of one
			}
			found++
			config := filepath.Join(t.TempDir(), "config.yaml")
			block = strings.ReplaceAll(block, "/var/lib/otelcol/wal", "${env:WAL_DIR}")
			require.NoError(t, os.WriteFile(config, []byte(block), 0o600))
			accept(t, config)
		}
		require.Positive(t, found, file)
	}
}

// What the collector does not know it refuses: the checks above can fail.
func TestACollectorRefuses(t *testing.T) {
	content, err := os.ReadFile("../minimal.yaml")
	require.NoError(t, err)
	config := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(config, []byte(strings.Replace(string(content), "bucket: lake", "buckets: lake", 1)), 0o600))
	out, err := exec.Command(collector(t), "validate", "--config", config).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "buckets")
}
