package load

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
)

// Options say what to send.
type Options struct {
	Endpoints []string      // host:port of OTLP gRPC receivers; senders are spread over them
	Tenants   []string      // values of the resource attribute tenant.id
	Run       string        // begins every id; no two runs of one journal may share it
	Senders   int           // requests in flight at once; default 4
	Records   int           // per request; default 50
	Rate      int           // records per second of all senders; 0 = as fast as they are acknowledged
	Duration  time.Duration // 0 = until the context ends
	BodyBytes int           // least size of a body
	Timeout   time.Duration // of one request; default 10 s
	Signals   []string      // logs, traces, metrics: those of the requests in turn; default logs
	Late      bool          // a record of twenty is some hours old
}

// Stats counts what a run did. Its fields grow while the run lasts.
type Stats struct {
	Acked   atomic.Int64 // records
	Unknown atomic.Int64 // records
	Errors  atomic.Int64 // requests that were not acknowledged

	LastError atomic.Pointer[string] // what the newest of them was answered
}

// Run sends until the duration is over or ctx ends, then waits for the answers
// of what is in flight. An unreachable or refusing collector is no error: the
// senders pause for a moment and go on with new records. stats may be nil.
func Run(ctx context.Context, o Options, j *Journal, stats *Stats) error {
	if len(o.Endpoints) == 0 || len(o.Tenants) == 0 || o.Run == "" {
		return errors.New("load needs an endpoint, a tenant and the name of its run")
	}
	o.Senders, o.Records = orDefault(o.Senders, 4), orDefault(o.Records, 50)
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	if o.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Duration)
		defer cancel()
	}
	if stats == nil {
		stats = &Stats{}
	}
	if o.Signals == nil {
		o.Signals = []string{"logs"}
	}
	g, ctx := errgroup.WithContext(ctx)
	for n := range o.Senders {
		s := sender{Options: o, number: n, journal: j, stats: stats}
		g.Go(func() error { return s.run(ctx) })
	}
	return g.Wait()
}

func orDefault(n, def int) int {
	if n == 0 {
		return def
	}
	return n
}

type sender struct {
	Options
	number  int
	journal *Journal
	stats   *Stats
}

func (s *sender) run(ctx context.Context) error {
	endpoint := s.Endpoints[s.number%len(s.Endpoints)]
	conn, err := grpc.NewClient(endpoint,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.5, MaxDelay: 500 * time.Millisecond},
			MinConnectTimeout: time.Second,
		}))
	if err != nil {
		return fmt.Errorf("dial %q: %w", endpoint, err)
	}
	defer conn.Close()
	client := newClients(conn)
	pace := newPace(s.Rate, s.Senders*s.Records)
	defer pace.stop()
	for seq := 0; pace.wait(ctx); seq++ {
		acked, err := s.send(client, seq)
		if err != nil {
			return err
		}
		if !acked && !pause(ctx, 100*time.Millisecond) {
			return nil
		}
	}
	return nil
}

// send sends one request and journals its outcome. It does not end with the
// run's context: an answer that is on its way is worth waiting for.
func (s *sender) send(client clients, seq int) (acked bool, err error) {
	request := fmt.Sprintf("%s-%d-%06d", s.Run, s.number, seq)
	records := share(s.Tenants, seq+s.number, s.Records)
	if err := s.journal.write(entry{Request: request, State: "sent", Records: records}); err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.Timeout)
	defer cancel()
	made := maker{request: request, bodyBytes: s.BodyBytes, late: s.Late, now: time.Now()}
	if sendErr := client.send(ctx, s.Signals[seq%len(s.Signals)], made, records); sendErr != nil {
		answer := sendErr.Error()
		s.stats.LastError.Store(&answer)
		s.stats.Errors.Add(1)
		s.stats.Unknown.Add(int64(s.Records))
		return false, s.journal.write(entry{Request: request, State: "unknown"})
	}
	s.stats.Acked.Add(int64(s.Records))
	return true, s.journal.write(entry{Request: request, State: "acked"})
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// pace lets one sender go at its share of the rate.
type pace struct {
	ticker *time.Ticker // nil: no limit
}

// newPace makes the pace of one of several senders that send perRound records
// together each time.
func newPace(rate, perRound int) *pace {
	if rate <= 0 {
		return &pace{}
	}
	return &pace{ticker: time.NewTicker(time.Duration(float64(perRound) / float64(rate) * float64(time.Second)))}
}

// wait waits for the next turn; false when ctx has ended.
func (p *pace) wait(ctx context.Context) bool {
	if p.ticker == nil {
		return ctx.Err() == nil
	}
	select {
	case <-ctx.Done():
		return false
	case <-p.ticker.C:
		return true
	}
}

func (p *pace) stop() {
	if p.ticker != nil {
		p.ticker.Stop()
	}
}
