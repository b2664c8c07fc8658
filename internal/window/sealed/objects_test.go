package sealed

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/lake"
)

// TestFits says what may stand for an object of a window.
func TestFits(t *testing.T) {
	ours := encode.Object{Records: 10, MinTime: 1, MaxTime: 9, SHA256: [32]byte{1}, Encoder: "this"}
	part := ours
	part.Part = 2
	same := lake.Object{Records: 10, MinTime: 1, MaxTime: 9, SHA256: hex.EncodeToString(ours.SHA256[:]), Encoder: "this"}
	bytes := same
	bytes.SHA256 = strings.Repeat("0", 64)
	other := bytes
	other.Encoder = "other"
	more, first, last := other, other, other
	more.Records, first.MinTime, last.MaxTime = 11, 2, 8
	fewer := bytes
	fewer.Records = 9
	for name, c := range map[string]struct {
		there         lake.Object
		ours          encode.Object
		only, refiled bool
		want          bool
	}{
		"the same":                                {same, ours, false, false, true},
		"the same, where records were refiled":    {same, ours, false, true, true},
		"other bytes by the same encoder":         {bytes, ours, false, false, false},
		"by another encoder":                      {other, ours, false, false, true},
		"by another, where records were refiled":  {other, ours, false, true, false},
		"begins later":                            {first, ours, false, false, false},
		"ends earlier":                            {last, ours, false, false, false},
		"more":                                    {more, ours, false, false, false},
		"more, and the only object":               {more, ours, true, false, true},
		"the only object, of what is left of all": {more, ours, true, true, false},
		"other bytes, and the only object":        {bytes, ours, true, false, true},
		"fewer, and the only object":              {fewer, ours, true, false, false},
		"the same part":                           {same, part, false, false, true},
		"a part by another encoder":               {other, part, false, false, false},
	} {
		assert.Equal(t, c.want, putter{only: c.only, refiled: c.refiled}.fits(c.there, c.ours), name)
	}
}
