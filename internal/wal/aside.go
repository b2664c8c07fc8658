package wal

import (
	"context"
	"fmt"
)

// Aside is a value that was taken out of the queue as it stood.
type Aside struct {
	Seq    uint64
	Reason string
	Raw    []byte // the frame
}

// asides are the values set aside, oldest first.
type asides struct {
	span
	sizes []int64 // of low, low+1, …
	bytes int64
}

// kept is a value on its way aside. Its number is given once, so that a second
// try does not make a twin.
type kept struct {
	number  uint64
	evicted []string
}

// keep adds the record of raw to a step and makes room for it: the oldest go. A
// value that is larger than all the room is not kept.
func (a *asides) keep(s *step, k *kept, seq uint64, reason string, raw []byte) {
	n := int64(len(raw))
	if raw == nil || n > asideBytes {
		return
	}
	if k.number == 0 {
		for len(a.sizes) > 0 && (len(a.sizes) >= asideCount || a.bytes+n > asideBytes) {
			k.evicted = append(k.evicted, numbered(asidePrefix, a.low))
			a.drop()
		}
		k.number = a.next
		a.sizes = append(a.sizes, n)
		a.bytes += n
		a.next++
	}
	s.set(numbered(asidePrefix, k.number), encodeAside(k.number, seq, reason, raw))
	s.deletes = append(s.deletes, k.evicted...)
}

func (a *asides) drop() {
	a.bytes -= a.sizes[0]
	a.sizes = a.sizes[1:]
	a.low++
}

// SetAside takes an entry out of the queue and keeps its frame under another
// key, for a person to look at. At most 64 frames and 64 MiB are kept, the
// newest ones.
//
// Crash before this: the entry is replayed. Crash after it: it is aside.
func (w *WAL) SetAside(ctx context.Context, seq uint64, reason string) error {
	if err := w.do(w.asideControl(seq, reason), ctx.Done()); err != nil {
		return fmt.Errorf("set entry %d aside: %w", seq, err)
	}
	return nil
}

func (w *WAL) asideControl(seq uint64, reason string) *control {
	c, k := &control{label: "wal:aside"}, &kept{}
	var raw []byte
	c.prepare = func() (err error) {
		raw, err = w.client.Get(w.ctx, numbered(entryPrefix, seq))
		return err
	}
	c.build = func(s *step) {
		w.asides.keep(s, k, seq, reason, raw)
		s.deletes = appendKeys(s.deletes, seq, true)
	}
	c.applied = func() weights {
		raw = nil
		w.counts.aside++
		return w.removeLocked(seq)
	}
	return c
}

// Aside gives what was set aside and is still kept, oldest first.
func (w *WAL) Aside(ctx context.Context) ([]Aside, error) {
	w.mu.Lock()
	there := w.asides.span
	w.mu.Unlock()
	var all []Aside
	for number := there.low; number < there.next; number++ {
		raw, err := w.client.Get(ctx, numbered(asidePrefix, number))
		if err != nil {
			return nil, fmt.Errorf("read what was set aside: %w", err)
		}
		if a, err := decodeAside(raw); err == nil {
			all = append(all, a)
		}
	}
	return all, nil
}

// damaged reports what was found and sets it aside without waiting for it.
// When the storage refuses that, the value stays where it is, is not delivered,
// and is found again by the next open.
func (w *WAL) damaged(found []Damage) {
	for i := range found {
		d := &found[i]
		w.logDamage(d)
		w.mu.Lock()
		w.counts.damaged++
		w.mu.Unlock()
		if d.Kind != "entry" {
			continue
		}
		c := w.asideControl(d.Seq, d.Reason)
		c.done = make(chan error, 1)
		_ = w.send(c) // closed: the next open finds it
	}
}

// inspect reads the frame stored under seq. What can still be known of a
// damaged one is in the Damage. One that want does not ask for is the zero
// Entry, and its payload is not looked at.
func (w *WAL) inspect(seq uint64, raw []byte, want func(tenant, signal string) bool) (Entry, *Damage) {
	d := &Damage{Kind: "entry", Seq: seq, Bytes: len(raw)}
	if raw == nil {
		d.Reason = "value is missing"
		return Entry{}, d
	}
	h, err := parseHeader(raw, seq)
	if err != nil {
		d.Reason = err.Error()
		return Entry{}, d
	}
	e := Entry{
		Seq: seq, Writer: w.names.of(h.writer), Stamp: h.stamp, Segment: h.segment,
		Tenant: w.names.of(h.tenant), Signal: w.names.of(h.signal), Items: h.items,
	}
	if want != nil && !want(e.Tenant, e.Signal) {
		return Entry{}, nil
	}
	if e.Payload, err = h.payload(raw); err != nil {
		d.Writer, d.Stamp, d.Segment = e.Writer, e.Stamp, e.Segment
		d.Tenant, d.Signal, d.Items, d.Reason = e.Tenant, e.Signal, e.Items, err.Error()
		return Entry{}, d
	}
	return e, nil
}
