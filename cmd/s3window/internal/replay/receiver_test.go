package replay

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// otlpReceiver is an OTLP receiver that counts what it took, by text.
type otlpReceiver struct {
	addr string

	mu       sync.Mutex // guards what is below
	got      map[string]int
	headers  metadata.MD
	largest  int
	calls    int
	answer   func(call int) (refused int64, err error) // before anything is taken; nil = take all
	unwanted func(request []byte) error                // nil = nothing is
}

// The services of a receiver.
type (
	logsService struct {
		plogotlp.UnimplementedGRPCServer
		*otlpReceiver
	}
	tracesService struct {
		ptraceotlp.UnimplementedGRPCServer
		*otlpReceiver
	}
	metricsService struct {
		pmetricotlp.UnimplementedGRPCServer
		*otlpReceiver
	}
)

func receive(t *testing.T, options ...grpc.ServerOption) *otlpReceiver {
	in, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &otlpReceiver{addr: in.Addr().String(), got: map[string]int{}}
	s := grpc.NewServer(options...)
	plogotlp.RegisterGRPCServer(s, &logsService{otlpReceiver: r})
	ptraceotlp.RegisterGRPCServer(s, &tracesService{otlpReceiver: r})
	pmetricotlp.RegisterGRPCServer(s, &metricsService{otlpReceiver: r})
	done := make(chan error)
	go func() { done <- s.Serve(in) }()
	t.Cleanup(func() {
		s.Stop()
		require.NoError(t, <-done)
	})
	return r
}

// take answers a request, and counts its texts if it is taken.
func (r *otlpReceiver) take(ctx context.Context, marshal func() ([]byte, error), texts func(visit func(string))) (refused int64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls++; r.answer != nil {
		if refused, err = r.answer(r.calls); err != nil {
			return 0, err
		}
	}
	r.headers, _ = metadata.FromIncomingContext(ctx)
	b, err := marshal()
	if err != nil {
		return 0, err
	}
	if r.unwanted != nil {
		if err := r.unwanted(b); err != nil {
			return 0, err
		}
	}
	r.largest = max(r.largest, len(b))
	texts(func(text string) { r.got[text]++ })
	return refused, nil
}

// Export implements plogotlp.GRPCServer.
func (r *logsService) Export(ctx context.Context, req plogotlp.ExportRequest) (plogotlp.ExportResponse, error) {
	resp := plogotlp.NewExportResponse()
	refused, err := r.take(ctx, req.MarshalProto, func(visit func(string)) {
		for _, rl := range req.Logs().ResourceLogs().All() {
			for _, sl := range rl.ScopeLogs().All() {
				for _, lr := range sl.LogRecords().All() {
					visit(lr.Body().Str())
				}
			}
		}
	})
	resp.PartialSuccess().SetRejectedLogRecords(refused)
	return resp, err
}

// Export implements ptraceotlp.GRPCServer.
func (r *tracesService) Export(ctx context.Context, req ptraceotlp.ExportRequest) (ptraceotlp.ExportResponse, error) {
	resp := ptraceotlp.NewExportResponse()
	refused, err := r.take(ctx, req.MarshalProto, func(visit func(string)) {
		for _, rs := range req.Traces().ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, sp := range ss.Spans().All() {
					visit(sp.Events().At(0).Name())
				}
			}
		}
	})
	resp.PartialSuccess().SetRejectedSpans(refused)
	return resp, err
}

// Export implements pmetricotlp.GRPCServer.
func (r *metricsService) Export(ctx context.Context, req pmetricotlp.ExportRequest) (pmetricotlp.ExportResponse, error) {
	resp := pmetricotlp.NewExportResponse()
	refused, err := r.take(ctx, req.MarshalProto, func(visit func(string)) {
		for _, rm := range req.Metrics().ResourceMetrics().All() {
			for _, sm := range rm.ScopeMetrics().All() {
				for _, m := range sm.Metrics().All() {
					for _, p := range m.Histogram().DataPoints().All() {
						text, _ := p.Attributes().Get("text")
						visit(text.Str())
					}
				}
			}
		}
	})
	resp.PartialSuccess().SetRejectedDataPoints(refused)
	return resp, err
}

func (r *otlpReceiver) client(t *testing.T) *Client {
	c, err := Dial(Receiver{
		Endpoint: r.addr, Timeout: 20 * time.Second, RetryFor: time.Second, Backoff: time.Millisecond,
		Headers: map[string]string{"x-scope-orgid": "t-{tenant}"},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// bodies are the records of windows of a tenant, each times so often.
func bodies(tenant string, times int, ks ...uint64) map[string]int {
	out := map[string]int{}
	for _, k := range ks {
		for n := range 10 {
			out[body(tenant, k, n)] = times
		}
	}
	return out
}
