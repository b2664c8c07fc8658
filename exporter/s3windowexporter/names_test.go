package s3windowexporter

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap/confmaptest"
	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"
)

// asKey is what the collector makes of a key of a YAML file.
func asKey(t *testing.T, key string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte("tenants:\n  "+key+": {}\n"), 0o600))
	conf, err := confmaptest.LoadConf(path)
	require.NoError(t, err)
	tenants, err := conf.Sub("tenants")
	require.NoError(t, err)
	for name := range tenants.ToStringMap() {
		return name
	}
	return ""
}

// A name that YAML has changed is refused where that is certain, with the quoted
// form; where it is not, the start warns of it.
func TestNamesWithoutQuotes(t *testing.T) {
	for key, want := range map[string]struct{ name, refused, warned string }{
		"acme":                 {"acme", "", ""},
		"yes":                  {"yes", "", ""},
		`"007"`:                {"007", "", ""},
		"012345670123":         {"1402433619", "", `"1402433619", or "012345670123"`},
		`"012345670123"`:       {"012345670123", "", ""},
		"123456789012":         {"123456789012", "", `"123456789012", or "01627646215024"`},
		"012345678901":         {"1.2345678901e+10", `write the name in quotes, such as "012345678901" or "12345678901"`, ""},
		"1e5":                  {"100000", "", `"100000", or "0303240"`},
		"1e6":                  {"1e+06", `such as "01000000" or "1000000"`, ""},
		"5":                    {"5", "", `"5"`},
		"1.10":                 {"1.1", "", `"1.1"`},
		"TRUE":                 {"true", "", `"true"`},
		"2026-01-01":           {"2026-01-01 00:00:00 +0000 UTC", `write it as "2026-01-01", in quotes`, ""},
		"2026-01-01T10:00:00Z": {"2026-01-01 10:00:00 +0000 UTC", `write it as "2026-01-01T10:00:00Z", in quotes`, ""},
		`"2026-01-01"`:         {"2026-01-01", "", ""},
		"~":                    {"<nil>", "write the name in quotes", ""},
		"infinity":             {"infinity", "", ""},
	} {
		t.Run(key, func(t *testing.T) {
			name := asKey(t, key)
			require.Equal(t, want.name, name)
			cfg := createDefaultConfig().(*Config)
			cfg.S3.Bucket, cfg.Tenants = "lake", map[string]TenantSettings{name: cfg.common()}
			block := cfg.Tenants[name]
			block.S3 = cfg.S3
			cfg.Tenants[name] = block
			if want.refused == "" {
				require.NoError(t, cfg.Validate())
			} else {
				require.ErrorContains(t, cfg.Validate(), want.refused)
			}
			core, logged := zapobserver.New(zap.WarnLevel)
			newDoor(cfg, newDirectory(cfg), nil, zap.New(core)).warnOfNames()
			if want.refused != "" {
				return // it does not come so far
			}
			if want.warned == "" {
				require.Zero(t, logged.Len())
				return
			}
			require.Equal(t, []any{want.warned}, logged.All()[0].ContextMap()["names"])
		})
	}
}

func TestAsYAML(t *testing.T) {
	for _, key := range []string{"acme", "012345670123", "012345678901", "1e5", "2026-01-01", "TRUE", "yes", "0x1F", "1.10", "a b", "-5"} {
		assert.Equal(t, asKey(t, key), asYAML(key), key)
	}
	for _, name := range []string{"", "a: b", "[x]", "*x", "&x", "!x", "#", "\n", "\xff", "null", "- x", "? x", "<<"} {
		assert.Equal(t, name, asYAML(name), "%q is nothing else without quotes, or no name", name)
	}
}

// When records come of a tenant whose block YAML has renamed, the block is named.
func TestRenamedBlocksAreNamed(t *testing.T) {
	r := newDoorRig(t, func(c *Config) { c.Tenants = map[string]TenantSettings{"1402433619": c.common()} })
	for range 2 {
		require.NoError(t, r.ConsumeLogs(t.Context(), logs(1, "012345670123")))
	}
	lines := r.logged.FilterField(zap.String("quoted", `"012345670123"`))
	require.Equal(t, 1, lines.Len(), "said when the tenant is new")
	assert.Equal(t, "tenants::1402433619", lines.All()[0].ContextMap()["block"])
	require.NoError(t, r.ConsumeLogs(t.Context(), logs(1, "12345")))
	assert.Equal(t, 1, r.logged.FilterMessageSnippet("has no block").Len())
}
