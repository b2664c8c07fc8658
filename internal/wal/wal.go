package wal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
)

const (
	groupBytes   = 8 << 20              // appends in one Batch; a larger request has one to itself
	spacedSize   = 16 << 10             // values from here up are followed by spacers
	maxGather    = 2 * time.Millisecond // for the senders of the last Batch to come back
	fullPause    = time.Second          // how long appends are refused after storage-full
	handOffBytes = 8 << 20              // appended and not yet read, in memory
	readBytes    = 6 << 20              // read ahead; a larger group is loaded by Read alone
	getKeys      = 256                  // Gets in one Batch
	asideCount   = 64                   // values set aside that are kept
	asideBytes   = 64 << 20             // and their bytes
)

// HeldBytes bounds what a WAL holds in memory for its reader, and a scan for its
// caller: hand-off, read-ahead and ScanBytes, without the one group that Read is
// giving out.
const HeldBytes = handOffBytes + readBytes + ScanBytes

// WAL is a write-ahead queue. Its methods may be called concurrently; Next and
// Read belong to one reader.
type WAL struct {
	opts    Options
	client  storage.Client
	inMem   bool
	room    *room
	names   *interner
	backlog []Backlog // as of the open

	ctx     context.Context // of the committer's storage calls
	cancel  context.CancelFunc
	wake    chan struct{} // holds a token when the committer has work
	closing chan struct{} // closed by Close
	stopped chan struct{} // closed when the committer has returned
	pace    pace          // the committer's own

	// mu guards everything declared below.
	mu        sync.Mutex
	closed    bool
	pending   []*request
	controls  []*control
	trims     trims
	discards  []seqRange // may exist after an append whose outcome is unknown
	index     index
	reader    reader
	inflight  *group
	nextSeq   uint64
	clock     clock
	segment   segment
	seals     seals
	writers   writers
	asides    asides
	fullUntil time.Time
	readable  chan struct{} // closed when something becomes unread
	behind    bool          // the clock was complained about
	counts    counts
}

// Open opens the queue that is in opts.Client and draws a fresh writer id,
// which is durable when Open returns, unless the storage is full: then it
// becomes so with the first append. Open reads the headers of all entries, not
// their payloads. A storage error, or a format of another version, fails it
// and changes nothing: it never starts empty because it could not read.
func Open(ctx context.Context, opts Options) (*WAL, error) {
	w := newWAL(opts.withDefaults())
	if !w.inMem {
		if err := w.recover(ctx); err != nil {
			return nil, fmt.Errorf("open queue: %w", err)
		}
		if err := w.register(ctx); err != nil {
			return nil, fmt.Errorf("open queue: %w", err)
		}
	}
	w.ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go w.commit()
	return w, nil
}

func newWAL(opts Options) *WAL {
	w := &WAL{
		opts:     opts,
		client:   opts.Client,
		room:     &room{limit: opts.Limit, block: opts.BlockOnOverflow},
		names:    newInterner(),
		wake:     make(chan struct{}, 1),
		closing:  make(chan struct{}),
		stopped:  make(chan struct{}),
		readable: make(chan struct{}),
		nextSeq:  1,
		trims:    trims{size: trimKeys},
		index:    index{segments: map[uint64]int64{}},
		seals:    seals{span: span{1, 1}, records: map[uint64]sealRecord{}},
		writers:  newWriters(opts.WriterInfo),
		asides:   asides{span: span{1, 1}},
		segment:  segment{id: 1},
		clock:    newClock(0),
	}
	if w.client == nil {
		w.client, w.inMem = newMemory(), true
	}
	return w
}

// register writes this open's writer and the mark, and reads the mark back: a
// storage that keeps nothing is found here.
//
// Crash before this: the next open finds what this one found. Crash after it:
// one more writer without entries, forgotten with the entries before it.
func (w *WAL) register(ctx context.Context) error {
	s := &step{}
	w.sealStepLocked(s)
	err := w.client.Batch(ctx, w.operations(s)...)
	if isFull(err) {
		w.opts.Logger.Warn("Storage of the queue is full at start")
		return nil
	}
	if err != nil {
		return fmt.Errorf("write writer id: %w", err)
	}
	w.settleLocked(s)
	got, err := w.client.Get(ctx, markKey)
	if err != nil {
		return fmt.Errorf("read mark back: %w", err)
	}
	if len(got) != markSize {
		return errors.New("read mark back: the storage does not keep what is written to it")
	}
	return nil
}

// Writer is the id under which this open appends.
func (w *WAL) Writer() string { return w.writers.own.id }

// Close refuses new appends, finishes those that are pending as well as trims,
// and closes the storage client. When ctx ends first, what is still waiting
// for the storage fails with ErrClosed, or with ErrUnknown where a Batch is
// under way; nothing that was acknowledged is lost either way. No goroutine is
// left, unless the storage does not return from a Batch.
func (w *WAL) Close(ctx context.Context) error {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.closing)
	}
	w.mu.Unlock()
	w.room.close()
	w.poke()
	select {
	case <-w.stopped:
	case <-ctx.Done():
		w.cancel()
		w.failPending()
		select {
		case <-w.stopped:
		case <-time.After(fullPause):
			return fmt.Errorf("close queue: storage does not return: %w", ctx.Err())
		}
	}
	w.cancel()
	if err := w.client.Close(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("close queue: %w", err)
	}
	return nil
}

// poke tells the committer that there is work.
func (w *WAL) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func newWriterID() string { return strings.ToLower(rand.Text()[:writerLen]) }
