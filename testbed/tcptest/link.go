package tcptest

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"
	"time"
)

// Action is what a rule does.
type Action int

// The actions. A piece is what one read of a connection returns; a request that
// is smaller than 16 KiB and sent at once is one piece.
const (
	Pass       Action = iota // forward, after Rule.Delay
	Refuse                   // break every connection, and new ones at once
	Hold                     // nothing passes, connections stay; Heal lets through what was sent
	CutRequest               // forward half of a piece with the mark, then break the connection
	LoseAnswer               // forward a piece with the mark; a moment later break the connection in place of its answer
)

// untilApplied is how long LoseAnswer waits for the server to act on a request.
const untilApplied = 100 * time.Millisecond

// Rule says what the network does to everything.
type Rule struct {
	Do    Action
	Mark  string        // of CutRequest and LoseAnswer: bytes in the client's stream
	Every int           // of the pieces with the mark breaks one in so many; 0 = each
	Delay time.Duration // of every piece, in each direction
}

// Link is the network in front of one server. It is safe for concurrent use.
type Link struct {
	Address string // host:port for clients

	target   string
	listener net.Listener
	closed   context.Context
	end      context.CancelFunc
	work     sync.WaitGroup

	// mu guards everything declared below.
	mu      sync.Mutex
	rule    Rule
	changed chan struct{} // closed when rule changes
	conns   map[*conn]struct{}
	marked  int // pieces with the mark under this rule
	broken  int // of these
}

// Start opens a link to the server at target that ends with the test.
func Start(t testing.TB, target string) *Link {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	l := &Link{
		Address: listener.Addr().String(), target: target, listener: listener,
		changed: make(chan struct{}), conns: map[*conn]struct{}{},
	}
	l.closed, l.end = context.WithCancel(context.Background())
	l.work.Go(l.accept)
	t.Cleanup(l.close)
	return l
}

func (l *Link) close() {
	l.end()
	_ = l.listener.Close()
	l.cutAll()
	l.work.Wait()
}

// Break puts rule in place of the one that is there.
func (l *Link) Break(rule Rule) {
	l.mu.Lock()
	l.rule, l.marked, l.broken = rule, 0, 0
	close(l.changed)
	l.changed = make(chan struct{})
	l.mu.Unlock()
	if rule.Do == Refuse {
		l.cutAll()
	}
}

// Heal lets everything pass from now on.
func (l *Link) Heal() { l.Break(Rule{}) }

// Broken is how many requests CutRequest or LoseAnswer broke since Break.
func (l *Link) Broken() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken
}

func (l *Link) cutAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		c.cut()
	}
}

// await waits until something may pass, and returns the rule for it; false when
// the link is closed.
func (l *Link) await() (Rule, bool) {
	for {
		l.mu.Lock()
		rule, changed := l.rule, l.changed
		l.mu.Unlock()
		if rule.Do != Hold {
			return rule, l.sleep(rule.Delay)
		}
		select {
		case <-changed:
		case <-l.closed.Done():
			return Rule{}, false
		}
	}
}

func (l *Link) sleep(d time.Duration) bool {
	if d <= 0 {
		return l.closed.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.closed.Done():
		return false
	}
}

// breaks says whether rule breaks a piece, and counts.
func (l *Link) breaks(rule Rule, piece []byte) bool {
	if rule.Do != CutRequest && rule.Do != LoseAnswer || !bytes.Contains(piece, []byte(rule.Mark)) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.marked++
	if l.marked%max(rule.Every, 1) != 0 {
		return false
	}
	l.broken++
	return true
}
