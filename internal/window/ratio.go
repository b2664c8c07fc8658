package window

import (
	"context"

	"github.com/s3window/s3window/internal/encode"
)

const (
	// enough is the raw size of a part of a window that tells the whole ratio of
	// encoded to raw bytes: a small object is mostly its footer.
	enough = 1 << 20
	// little is the raw size from which it tells something.
	little = 256 << 10
)

// guess is the ratio to expect of records of which none was encoded yet.
func guess(spec *encode.Spec) float64 {
	if spec.Format == "jsonl" && spec.Codec == "none" {
		return 2
	}
	return 0.2
}

// learn takes the encoded and raw size of records into the expectation. What
// tells more than all before it counts alone.
func (p *part) learn(encoded, raw int64) {
	if raw < little {
		return
	}
	weight := 0.5 * min(1, float64(raw)/enough)
	if p.measured < min(raw, enough) {
		weight = 1
	}
	p.ratio += weight * (float64(encoded)/float64(raw) - p.ratio)
	p.measured = max(p.measured, raw)
}

// unmeasured is how many raw bytes of a window would tell more of the ratio than
// is known; false if it is known.
func (p *part) unmeasured() (raw int64, ok bool) {
	switch known := max(p.measured, p.sampled); {
	case known == 0:
		return little, true
	case known < enough:
		return enough, true
	}
	return 0, false
}

// sample has the first records of the open window encoded to know how large they
// will be, where that is not known: so the first window of a process keeps to
// its size as the later ones do. It costs a process some 1.3 MiB of records for a
// partition that has so many. Nothing waits for it, and what it makes is thrown
// away.
func (r *Runtime) sample(p *part) {
	w := p.open
	least, ok := p.unmeasured()
	if !ok || w.Raw < least || w.pin != nil || w.encoder == nil || r.samples >= r.opt.Encoders {
		return
	}
	entries, raw := w.hot(least)
	if raw < least {
		return // it is not in memory any more
	}
	r.samples++
	p.sampled = least
	r.work(func(ctx context.Context) func() {
		size, err := r.flusher.Measure(ctx, w.encoder, entries)
		return func() {
			r.samples--
			if err != nil {
				return // those who encode the window say so
			}
			p.learn(size, raw)
			if p.state == live && p.open != nil {
				p.open.expect(p.ratio)
				r.grown(p)
			}
		}
	})
}

// hot returns the first records of the window, of least raw bytes and no more
// than that takes, as far as they are held as they came.
func (w *openWindow) hot(least int64) (entries []encode.Entry, raw int64) {
	for _, u := range w.units {
		more, size := u.Payloads(least - raw)
		entries, raw = append(entries, more...), raw+size
		if raw >= least {
			break
		}
	}
	return entries, raw
}
