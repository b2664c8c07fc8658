package window

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/wal"
)

func TestDamagedEntryIsNamedInTheNextManifest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		p := w.start(d, settings{})
		p.append("acme", ids("whole", 3)...)
		p.append("acme", ids("broken", 5)...)
		synctest.Wait()
		p.crash()
		d.damage(t, "broken-00002")

		p = w.start(d, settings{maxAge: time.Second})
		time.Sleep(time.Minute)
		ws := w.windows("acme")
		require.NotEmpty(t, ws)
		assert.ElementsMatch(t, ids("whole", 3), w.bodies("acme"))
		require.Len(t, ws[0].Lost, 1)
		assert.EqualValues(t, 5, ws[0].Lost[0].Records)
		assert.NotEmpty(t, ws[0].Lost[0].Reason)
		assert.Zero(t, p.wal.Stats().Entries)
		p.shutdown()
	})
}

// damage changes a byte of the value that contains text.
func (d *disk) damage(t *testing.T, text string) {
	for k, v := range d.values {
		if at := bytes.Index(v, []byte(text)); at >= 0 && strings.HasPrefix(k, "l") {
			v[at] ^= 1
			return
		}
	}
	t.Fatalf("no value contains %q", text)
}

func TestDamageIsBounded(t *testing.T) {
	var d Damage
	for i := range 1000 {
		d.Add(wal.Damage{Kind: "entry", Tenant: "acme", Signal: "logs", Writer: "w", Seq: uint64(i), Items: 2})
	}
	d.Add(wal.Damage{Kind: "entry", Items: 7, Reason: "nobody knows whose"})
	lost := d.take(key{"acme", "logs"})
	require.Len(t, lost, maxDamage)
	var sum int64
	for _, l := range lost {
		sum += l.Records
	}
	assert.EqualValues(t, 2000, sum)
	assert.Equal(t, []lake.Lost(nil), d.take(key{"acme", "logs"}))
}
