package s3windowexporter

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
)

func TestNearest(t *testing.T) {
	names := []string{"bucket", "region", "endpoint", "prefix", "path_style", "sse"}
	for word, want := range map[string]string{
		"bukket": "bucket", "Bucket": "bucket", "buckte": "bucket", "end_point": "endpoint", "pathstyle": "path_style",
		"ss": "sse", "essse": "", "storage": "", "style": "path_style", "": "", "x": "",
	} {
		assert.Equal(t, want, nearest(word, names), "%q", word)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "acb", 1}, {"abc", "abd", 1}, {"abc", "xabc", 1}, {"kitten", "sitting", 3}} {
		assert.Equal(t, c.want, distance(c.a, c.b), "%q %q", c.a, c.b)
	}
}

// Every key of a configuration in which everything is set is known.
func TestEverySettingIsKnown(t *testing.T) {
	conf := confmap.New()
	require.NoError(t, conf.Marshal(load(t, "s3window/all")))
	assert.Empty(t, takeUnknown(conf, reflect.TypeFor[Config]()))
}

// What is said of an unknown key is one line, whatever else is wrong.
func TestUnknownKeysAreOneLineEach(t *testing.T) {
	cfg := load(t, "s3window/unknown_keys")
	for _, err := range flatten(cfg.Validate()) {
		assert.NotContains(t, err.Error(), "\n")
		assert.NotContains(t, err.Error(), "s3windowexporter.", "no Go type is named")
		assert.True(t, strings.HasPrefix(err.Error(), "`"), err.Error())
	}
}
