package replay

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/s3window/s3window/internal/partition"
)

// Receiver is where records are sent: an OTLP receiver over gRPC.
type Receiver struct {
	Endpoint string            // host:port
	TLS      *tls.Config       // nil = none
	Headers  map[string]string // {tenant} in a value is the tenant of the records
	Timeout  time.Duration     // of one try of a request
	RetryFor time.Duration     // of a request that the receiver may take later
	Backoff  time.Duration     // before the second try; doubles up to a minute
}

// Client sends records to a Receiver.
type Client struct {
	Receiver
	conn    *grpc.ClientConn
	logs    plogotlp.GRPCClient
	traces  ptraceotlp.GRPCClient
	metrics pmetricotlp.GRPCClient
}

// Dial makes a client. It connects with the first request.
func Dial(r Receiver) (*Client, error) {
	creds := insecure.NewCredentials()
	if r.TLS != nil {
		creds = credentials.NewTLS(r.TLS)
	}
	conn, err := grpc.NewClient(r.Endpoint, grpc.WithTransportCredentials(creds), grpc.WithUserAgent("s3window-replay"))
	if err != nil {
		return nil, fmt.Errorf("dial %q: %w", r.Endpoint, err)
	}
	return &Client{
		Receiver: r, conn: conn, logs: plogotlp.NewGRPCClient(conn), traces: ptraceotlp.NewGRPCClient(conn), metrics: pmetricotlp.NewGRPCClient(conn),
	}, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

// Logs sends one request and returns how many of its records the receiver
// refused. It tries again, for RetryFor, what may succeed later.
func (c *Client) Logs(ctx context.Context, id partition.ID, l plog.Logs) (refused int64, err error) {
	req := plogotlp.NewExportRequestFromLogs(l)
	err = c.send(ctx, id, l.LogRecordCount(), func(ctx context.Context) error {
		resp, err := c.logs.Export(ctx, req)
		if err == nil {
			refused = resp.PartialSuccess().RejectedLogRecords()
		}
		return err
	})
	return refused, err
}

// Traces is Logs for spans.
func (c *Client) Traces(ctx context.Context, id partition.ID, x ptrace.Traces) (refused int64, err error) {
	req := ptraceotlp.NewExportRequestFromTraces(x)
	err = c.send(ctx, id, x.SpanCount(), func(ctx context.Context) error {
		resp, err := c.traces.Export(ctx, req)
		if err == nil {
			refused = resp.PartialSuccess().RejectedSpans()
		}
		return err
	})
	return refused, err
}

// Metrics is Logs for data points.
func (c *Client) Metrics(ctx context.Context, id partition.ID, x pmetric.Metrics) (refused int64, err error) {
	req := pmetricotlp.NewExportRequestFromMetrics(x)
	err = c.send(ctx, id, x.DataPointCount(), func(ctx context.Context) error {
		resp, err := c.metrics.Export(ctx, req)
		if err == nil {
			refused = resp.PartialSuccess().RejectedDataPoints()
		}
		return err
	})
	return refused, err
}

// send makes one try after another.
func (c *Client) send(ctx context.Context, id partition.ID, records int, export func(context.Context) error) error {
	headers := maps.Clone(c.Headers)
	for k, v := range headers {
		headers[k] = strings.ReplaceAll(v, "{tenant}", id.Tenant)
	}
	ctx = metadata.NewOutgoingContext(ctx, metadata.New(headers))
	end := time.Now().Add(c.RetryFor)
	for wait := c.Backoff; ; wait = min(2*wait, time.Minute) {
		try, cancel := context.WithTimeout(ctx, c.Timeout)
		err := export(try)
		cancel()
		if err == nil {
			return nil
		}
		again, after := retryable(err)
		after = max(after, wait)
		if !again || ctx.Err() != nil || time.Now().Add(after).After(end) {
			return fmt.Errorf("send %d records to %s: %w", records, c.Endpoint, err)
		}
		if err := sleep(ctx, after); err != nil {
			return err
		}
	}
}

// retryable tells whether a request may succeed later, and not before when, by
// the rules of OTLP.
// https://opentelemetry.io/docs/specs/otlp/#failures
func retryable(err error) (again bool, after time.Duration) {
	s := status.Convert(err)
	told := false
	for _, d := range s.Details() {
		if info, ok := d.(*errdetails.RetryInfo); ok {
			told, after = true, info.GetRetryDelay().AsDuration()
		}
	}
	switch s.Code() {
	case codes.Canceled, codes.DeadlineExceeded, codes.Aborted, codes.OutOfRange, codes.Unavailable, codes.DataLoss:
		return true, after
	case codes.ResourceExhausted: // without RetryInfo: the request is too large
		return told, after
	}
	return false, 0
}
