package s3windowexporter

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/zap"
)

// The status names the buckets that do not answer and whose they are, a few of
// them, and tells of each change of a reason once.
func TestBucketChecksAreSummed(t *testing.T) {
	s := &status{logger: zap.NewNop()}
	h := &host{}
	s.join(h)
	b := newBucketChecks(&core{status: s})
	at := func(i int, tenants ...string) *gate {
		g := &gate{tenants: tenants}
		g.settings.Bucket = fmt.Sprintf("lake-%d", i)
		return g
	}
	last := func() string {
		_, err := h.last()
		return errors.Join(err).Error()
	}
	gates := []*gate{at(0), at(1, "acme"), at(2, "a", "b", "c", "d", "e"), at(3, "f"), at(4, "g")}
	assert.True(t, b.report(gates[0], "403 AccessDenied"))
	assert.False(t, b.report(gates[0], "403 AccessDenied"))
	assert.Equal(t, `check bucket "lake-0": 403 AccessDenied`, last())
	assert.True(t, b.report(gates[1], "read 127.0.0.1:1: reset"))
	assert.False(t, b.report(gates[1], "read 127.0.0.1:2: reset"))
	assert.True(t, b.report(gates[2], "404 NoSuchBucket"))
	assert.True(t, b.report(gates[3], "404 NoSuchBucket"))
	assert.True(t, b.report(gates[4], "404 NoSuchBucket"))
	assert.Equal(t, "check bucket \"lake-0\": 403 AccessDenied\ncheck bucket \"lake-1\" of tenant \"acme\": read 127.0.0.1:1: reset\n"+
		"check bucket \"lake-2\" of tenant \"a\", \"b\", \"c\", 2 more: 404 NoSuchBucket\ncheck 2 more buckets", last())
	b.report(gates[0], "")
	b.report(gates[2], "")
	b.report(gates[4], "")
	assert.Equal(t, "check bucket \"lake-1\" of tenant \"acme\": read 127.0.0.1:1: reset\ncheck bucket \"lake-3\" of tenant \"f\": 404 NoSuchBucket", last())
	b.report(gates[1], "")
	b.report(gates[3], "")
	_, err := h.last()
	assert.NoError(t, err)
	before := len(h.statuses())
	b.report(gates[0], "")
	assert.Len(t, h.statuses(), before, "nothing new")
}
