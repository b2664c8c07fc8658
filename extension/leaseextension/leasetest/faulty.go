package leasetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/s3window/s3window/extension/leaseextension/lease"
)

// ErrInjected is the error of a broken request.
var ErrInjected = errors.New("injected fault")

// Fault is what happens to a request.
type Fault int

// The faults.
const (
	Pass      Fault = iota
	Refuse          // fails and is not applied
	Lose            // is applied, its answer is lost
	Delay           // fails, and is applied when Deliver is called
	Duplicate       // succeeds, and is applied again when Deliver is called
	Hang            // is not applied and does not answer until its context ends
	Conflict        // is applied, and its retry's conflict is what comes back
)

// Request is one request that a Faulty saw.
type Request struct {
	Op         string // get, put, delete or list
	Key        string
	Value      []byte
	IfRevision string
}

// Faulty is a store that breaks requests. Writes that are late are kept until
// Deliver sends them.
type Faulty struct {
	store lease.Store

	// mu guards everything declared below.
	mu     sync.Mutex
	next   map[string][]Fault
	decide func(n int, r Request) Fault
	log    []Request
	late   []Request
}

// NewFaulty returns a store that passes everything to store, so far.
func NewFaulty(store lease.Store) *Faulty {
	return &Faulty{store: store, next: map[string][]Fault{}}
}

// Next lets the next requests of op meet these faults, one each.
func (f *Faulty) Next(op string, faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next[op] = append(f.next[op], faults...)
}

// Always lets every request meet fault, until Heal.
func (f *Faulty) Always(fault Fault) { f.Decide(func(int, Request) Fault { return fault }) }

// Decide lets fn say what the n-th request from now on, counted from 0, meets.
func (f *Faulty) Decide(fn func(n int, r Request) Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.decide, f.log = fn, nil
}

// Random lets one of faults happen to a share of the requests, from 0 to 1.
func (f *Faulty) Random(seed uint64, share float64, faults ...Fault) {
	random := rand.New(rand.NewPCG(seed, 1))
	f.Decide(func(int, Request) Fault {
		if random.Float64() >= share {
			return Pass
		}
		return faults[random.IntN(len(faults))]
	})
}

// Heal ends Always, Decide, Random and Next. Late writes stay late.
func (f *Faulty) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.decide, f.next = nil, map[string][]Fault{}
}

// Deliver sends the late writes, in order, and returns how many were applied.
func (f *Faulty) Deliver(ctx context.Context) (applied int) {
	f.mu.Lock()
	late := f.late
	f.late = nil
	f.mu.Unlock()
	for _, r := range late {
		if _, err := f.apply(ctx, r); err == nil {
			applied++
		}
	}
	return applied
}

// Requests returns what was seen of op since the last Decide.
func (f *Faulty) Requests(op string) []Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.log), func(r Request) bool { return r.Op != op })
}

// fault logs the request and says what happens to it.
func (f *Faulty) fault(r Request) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.log)
	f.log = append(f.log, r)
	fault := Pass
	if f.decide != nil {
		fault = f.decide(n, r)
	}
	if queue := f.next[r.Op]; len(queue) > 0 {
		fault, f.next[r.Op] = queue[0], queue[1:]
	}
	if fault == Delay || fault == Duplicate {
		f.late = append(f.late, r)
	}
	return fault
}

func (f *Faulty) apply(ctx context.Context, r Request) (string, error) {
	if r.Op == "delete" {
		return "", f.store.Delete(ctx, r.Key, r.IfRevision)
	}
	return f.store.Put(ctx, r.Key, r.Value, r.IfRevision)
}

// write sends a put or delete through its fault.
func (f *Faulty) write(ctx context.Context, r Request) (string, error) {
	switch f.fault(r) {
	case Refuse, Delay:
		return "", ErrInjected
	case Hang:
		<-ctx.Done()
		return "", ctx.Err()
	case Lose:
		if _, err := f.apply(ctx, r); err != nil {
			return "", err
		}
		return "", ErrInjected
	case Conflict:
		if _, err := f.apply(ctx, r); err != nil {
			return "", err
		}
		return f.apply(ctx, r)
	}
	return f.apply(ctx, r)
}

// read sends a get or list through its fault.
func (f *Faulty) read(ctx context.Context, r Request) error {
	switch f.fault(r) {
	case Pass, Duplicate, Conflict:
		return nil
	case Hang:
		<-ctx.Done()
		return ctx.Err()
	}
	return ErrInjected
}

// Get implements lease.Store.
func (f *Faulty) Get(ctx context.Context, key string) (lease.Record, error) {
	if err := f.read(ctx, Request{Op: "get", Key: key}); err != nil {
		return lease.Record{}, err
	}
	return f.store.Get(ctx, key)
}

// Put implements lease.Store.
func (f *Faulty) Put(ctx context.Context, key string, value []byte, ifRevision string) (string, error) {
	return f.write(ctx, Request{Op: "put", Key: key, Value: slices.Clone(value), IfRevision: ifRevision})
}

// Delete implements lease.Store.
func (f *Faulty) Delete(ctx context.Context, key, ifRevision string) error {
	_, err := f.write(ctx, Request{Op: "delete", Key: key, IfRevision: ifRevision})
	return err
}

// List implements lease.Store.
func (f *Faulty) List(ctx context.Context, prefix string) ([]lease.Record, error) {
	if err := f.read(ctx, Request{Op: "list", Key: prefix}); err != nil {
		return nil, err
	}
	return f.store.List(ctx, prefix)
}
