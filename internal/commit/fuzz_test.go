package commit

import (
	"testing"
)

// FuzzModel is TestModel with whatever seeds the fuzzer tries. One that fails
// prints the command that runs it alone, and where its run was written down.
func FuzzModel(f *testing.F) {
	for world := range hostileWorlds {
		f.Add(uint8(world), uint16(1))
	}
	f.Fuzz(func(t *testing.T, world uint8, seed uint16) {
		h := hostileWorlds[int(world)%len(hostileWorlds)]
		w := runModel(t, uint64(seed), h.scenario, true)
		for _, bad := range w.bad {
			t.Errorf("seed %d in world %q, fleet %q: %s", seed, h.name, w.kind, bad)
		}
		if len(w.bad) > 0 {
			t.Logf("its run is in %s; again, alone:\n  %s", w.keep(t), alone(int(seed), h.name))
		}
	})
}
