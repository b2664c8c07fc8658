package encode

import (
	"testing"

	"github.com/s3window/s3window/internal/encode/encodetest"
)

// Encoding costs next to no allocations, and keeps what it uses.
func TestAllocationsPerRecord(t *testing.T) {
	e := newTestEncoder(t, testSpec(DefaultColumns()...))
	batches, records, _ := calls(t, encodetest.Logs(2, 60000))
	n := testing.AllocsPerRun(3, func() {
		for _, b := range batches {
			stage(t, e, b)
		}
	})
	if per := n / float64(records); per >= 0.03 {
		t.Errorf("%.4f allocations per record, want less than 0.03", per)
	}
	if len(idleStagers(e)) != 1 {
		t.Errorf("%d stagers are kept, want the one that was used", len(idleStagers(e)))
	}
	if h := idleStagers(e)[0].held(); h > ScratchBytes {
		t.Errorf("the stager holds %d bytes, more than ScratchBytes", h)
	}
}

// Requests with a record each must not cost an allocation each either.
func TestAllocationsPerEntry(t *testing.T) {
	e := newTestEncoder(t, testSpec(DefaultColumns()...))
	entries := make([]Entry, 20000)
	for i := range entries {
		entries[i] = Entry{Payload: request(msg(1, attr(1, "service.name", "s"+itoa(int64(i%50)))), msg(2, msg(2, msg(5, str(1, "x"))))), ReceivedAt: int64(i)}
	}
	n := testing.AllocsPerRun(3, func() { stage(t, e, entries) })
	if per := n / float64(len(entries)); per >= 0.05 {
		t.Errorf("%.4f allocations per entry, want less than 0.05", per)
	}
}
