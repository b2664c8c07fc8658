package verify

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/s3window/s3window/internal/lake"
)

func TestDirectoriesOfAWindow(t *testing.T) {
	at := func(hour, minute int) int64 { return time.Date(2026, 11, 30, hour, minute, 0, 0, time.UTC).UnixMicro() }
	const dir = "tenant=acme/signal=logs/dt=2026-11-30/"
	for name, c := range map[string]struct {
		key      string
		from, to int64 // of the records; the window starts at 8:30
		want     bool
	}{
		"the window's hour":                  {dir + "hour=08/w", at(1, 0), at(2, 0), true},
		"the records' hour":                  {dir + "hour=03/w", at(3, 0), at(3, 59), true},
		"the records' hour, with levels":     {dir + "hour=03/service=a/w", at(3, 0), at(3, 59), true},
		"the hour of some of the records":    {dir + "hour=03/w", at(3, 0), at(4, 0), false},
		"nobody's hour":                      {dir + "hour=05/w", at(3, 0), at(3, 59), false},
		"the window's day":                   {dir + "w", at(-48, 0), at(-30, 0), true},
		"the records' day":                   {"tenant=acme/signal=logs/dt=2026-11-29/w", at(-20, 0), at(-1, 59), true},
		"the day before some of the records": {"tenant=acme/signal=logs/dt=2026-11-29/w", at(-20, 0), at(0, 0), false},
		"no time":                            {dir + "hour=x/w", at(8, 0), at(8, 0), false},
	} {
		assert.Equal(t, c.want, filedRight(c.key, lake.Object{MinTime: c.from, MaxTime: c.to}, at(8, 30)), name)
	}
}
