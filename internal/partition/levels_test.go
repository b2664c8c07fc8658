package partition

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// The directories are a public format: these are goldens, none may ever change.
func TestPlaces(t *testing.T) {
	id := ID{Sink: "default", Tenant: "acme", Signal: Logs}
	name := ObjectName{Start: 1791009458377856, End: 1791009758000001, Writer: "q7m2aaaaaaaaa", Part: 2, Ext: "parquet"}
	at := time.Date(2026, 10, 2, 23, 59, 0, 0, time.UTC).UnixMicro()
	levels := Level("service", "a/b") + "/" + Level("env", "")
	for place, want := range map[Place]string{
		{Time: at, Align: AlignHour}:                 "dt=2026-10-02/hour=23/",
		{Time: at, Align: AlignNone}:                 "dt=2026-10-02/hour=23/",
		{Time: at, Align: AlignHour, Levels: levels}: "dt=2026-10-02/hour=23/service=a%2Fb/env=__HIVE_DEFAULT_PARTITION__/",
		{Time: at, Align: AlignDay, Levels: levels}:  "dt=2026-10-02/service=a%2Fb/env=__HIVE_DEFAULT_PARTITION__/",
		{Time: -1, Align: AlignHour}:                 "dt=1969-12-31/hour=23/",
	} {
		assert.Equal(t, want, place.String())
		key := PlacedKey("otel", id, place, name)
		assert.Equal(t, "otel/tenant=acme/signal=logs/"+want+"w-1791009458377856-1791009758000001-q7m2aaaaaaaaa-2.parquet", key)
		gotID, gotName, err := ParseObjectKey("otel", key)
		assert.NoError(t, err)
		assert.Equal(t, ID{Tenant: "acme", Signal: Logs}, gotID)
		assert.Equal(t, name, gotName)
	}
}

// No value leaves its level, and no two values share one.
func TestLevels(t *testing.T) {
	seen := map[string]string{}
	for _, v := range hostile() {
		l := Level("as", v)
		assert.NotContains(t, strings.TrimPrefix(l, "as="), "/", v)
		assert.LessOrEqual(t, len(l), len("as=")+MaxEscaped, v)
		assert.NotContains(t, []string{"as=", "as=.", "as=.."}, l, v)
		if other, ok := seen[l]; ok {
			assert.Equal(t, other, v, "both are %s", l)
		}
		seen[l] = v
	}
}

func TestLevelNames(t *testing.T) {
	for _, as := range []string{"a", "_", "service", "x1", strings.Repeat("a", 32)} {
		assert.NoError(t, LevelName(as), as)
	}
	for _, as := range []string{"", "1", "A", "a-b", "a b", "ü", "a/b", "a=b", strings.Repeat("a", 33), "tenant", "signal", "dt", "hour"} {
		assert.Error(t, LevelName(as), as)
	}
}
