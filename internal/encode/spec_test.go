package encode

import (
	"errors"
	"strings"
	"testing"
)

func TestSpecIsValidated(t *testing.T) {
	for want, change := range map[string]func(*Spec){
		`signal "profiles"`:             func(s *Spec) { s.Signal = "profiles" },
		`format "csv"`:                  func(s *Spec) { s.Format = "csv" },
		`codec "lz4"`:                   func(s *Spec) { s.Codec = "lz4" },
		`codec "zstd" with level "9"`:   func(s *Spec) { s.Level = "9" },
		`codec "snappy" with level`:     func(s *Spec) { s.Codec, s.Level = "snappy", "3" },
		`row group sizes`:               func(s *Spec) { s.RowGroupRows = -1 },
		`size of objects`:               func(s *Spec) { s.ObjectBytes = -1 },
		`0 places are not`:              func(s *Spec) { s.Filing = &Filing{} },
		`names 0 attributes`:            func(s *Spec) { s.Columns = []Column{{As: "x"}} },
		`names 2 attributes`:            func(s *Spec) { s.Columns = []Column{{As: "x", Attribute: "a", ScopeAttribute: "b"}} },
		`"ts", which is taken`:          func(s *Spec) { s.Columns = []Column{{As: "ts", Attribute: "a"}} },
		`"tenant_id", which is taken`:   func(s *Spec) { s.Columns = []Column{{As: "tenant_id", Attribute: "a"}} },
		`"", which must be 1 to 128`:    func(s *Spec) { s.Columns = []Column{{Attribute: "a"}} },
		`"Ts", which must be 1 to 128`:  func(s *Spec) { s.Columns = []Column{{As: "Ts", Attribute: "a"}} },
		`"7x", which must be 1 to 128`:  func(s *Spec) { s.Columns = []Column{{As: "7x", Attribute: "a"}} },
		`"a.b", which must be 1 to 128`: func(s *Spec) { s.Columns = []Column{{As: "a.b", Attribute: "a"}} },
		`"tenant", which must be an`:    func(s *Spec) { s.Columns = []Column{{As: "tenant", Attribute: "a"}} },
		`"hour", which must be another`: func(s *Spec) { s.Columns = []Column{{As: "hour", Attribute: "a"}} },
		`"sink", which must be another`: func(s *Spec) { s.Columns = []Column{{As: "sink", Attribute: "a"}} },
		`"x", which is taken`:           func(s *Spec) { s.Columns = []Column{{As: "x", Attribute: "a"}, {As: "x", Attribute: "b"}} },
		`another column promotes`:       func(s *Spec) { s.Columns = []Column{{As: "x", Attribute: "a"}, {As: "y", Attribute: "a"}} },
		`type "float"`:                  func(s *Spec) { s.Columns = []Column{{As: "x", Attribute: "a", Type: "float"}} },
	} {
		spec := testSpec()
		change(&spec)
		if _, err := New(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one with %q", err, want)
		}
	}
	for _, level := range []string{"", "fastest", "3"} {
		spec := testSpec(DefaultColumns()...)
		spec.Level = level
		newTestEncoder(t, spec)
	}
}

func TestTooLargeAnEntryIsRejected(t *testing.T) {
	e := newTestEncoder(t, testSpec())
	s := stage(t, e, []Entry{{Payload: make([]byte, maxPayload+1)}})
	if len(s.Rejected) != 1 || errors.Is(s.Rejected[0].Err, nil) {
		t.Errorf("rejected %v", s.Rejected)
	}
}
