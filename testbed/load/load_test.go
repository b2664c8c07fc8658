package load_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/s3window/s3window/testbed/load"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// receiver takes every request but those that refuse says.
type receiver struct {
	plogotlp.UnimplementedGRPCServer
	refuse func(n int) bool

	mu     sync.Mutex // guards everything below
	n      int
	tenant map[string]string // id -> tenant, of the accepted
}

func (r *receiver) Export(_ context.Context, req plogotlp.ExportRequest) (plogotlp.ExportResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	if r.refuse(r.n) {
		return plogotlp.NewExportResponse(), status.Error(codes.Unavailable, "full")
	}
	for _, rl := range req.Logs().ResourceLogs().All() {
		tenant, _ := rl.Resource().Attributes().Get("tenant.id")
		for _, rec := range rl.ScopeLogs().At(0).LogRecords().All() {
			id, _ := rec.Attributes().Get(load.IDAttribute)
			r.tenant[id.Str()] = tenant.Str()
		}
	}
	return plogotlp.NewExportResponse(), nil
}

func start(t *testing.T, r *receiver) string {
	r.tenant = map[string]string{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := grpc.NewServer()
	plogotlp.RegisterGRPCServer(s, r)
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { s.Stop(); <-done })
	return l.Addr().String()
}

func TestJournalSaysWhatTheReceiverTook(t *testing.T) {
	r := &receiver{refuse: func(n int) bool { return n%4 == 0 }}
	var journal bytes.Buffer
	var stats load.Stats
	require.NoError(t, load.Run(t.Context(), load.Options{
		Endpoints: []string{start(t, r)}, Tenants: []string{"acme", "globex"}, Run: "t",
		Senders: 3, Records: 10, Duration: time.Second,
	}, load.NewJournal(&journal), &stats))

	sent, acked, unknown := map[string]map[string]int{}, 0, 0
	lines := json.NewDecoder(&journal)
	for lines.More() {
		var e struct {
			Request, State string
			Records        map[string]int
		}
		require.NoError(t, lines.Decode(&e))
		switch e.State {
		case "sent":
			require.NotContains(t, sent, e.Request)
			sent[e.Request] = e.Records
		case "acked":
			for _, n := range sent[e.Request] {
				acked += n
			}
		case "unknown":
			unknown++
		}
	}
	require.NotZero(t, acked)
	require.NotZero(t, unknown)
	require.Len(t, r.tenant, acked, "every accepted record has an id of its own")
	require.EqualValues(t, acked, stats.Acked.Load())
	require.EqualValues(t, unknown, stats.Errors.Load())
	tenants := map[string]bool{}
	for id, tenant := range r.tenant {
		require.Contains(t, id, "/"+tenant+"/")
		tenants[tenant] = true
	}
	require.Equal(t, map[string]bool{"acme": true, "globex": true}, tenants)
}

func TestRateIsHeld(t *testing.T) {
	r := &receiver{refuse: func(int) bool { return false }}
	var stats load.Stats
	require.NoError(t, load.Run(t.Context(), load.Options{
		Endpoints: []string{start(t, r)}, Tenants: []string{"acme"}, Run: "t",
		Senders: 2, Records: 10, Rate: 200, Duration: time.Second,
	}, load.NewJournal(&bytes.Buffer{}), &stats))
	require.Positive(t, stats.Acked.Load())
	require.LessOrEqual(t, stats.Acked.Load(), int64(220))
}

func TestRunNeedsATarget(t *testing.T) {
	require.Error(t, load.Run(t.Context(), load.Options{Run: "t"}, load.NewJournal(&bytes.Buffer{}), nil))
}
