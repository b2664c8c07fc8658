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
	conn *grpc.ClientConn
	logs plogotlp.GRPCClient
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
	return &Client{Receiver: r, conn: conn, logs: plogotlp.NewGRPCClient(conn)}, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

// Logs sends one request and returns how many of its records the receiver
// refused. It tries again, for RetryFor, what may succeed later.
func (c *Client) Logs(ctx context.Context, id partition.ID, l plog.Logs) (refused int64, err error) {
	headers := maps.Clone(c.Headers)
	for k, v := range headers {
		headers[k] = strings.ReplaceAll(v, "{tenant}", id.Tenant)
	}
	ctx = metadata.NewOutgoingContext(ctx, metadata.New(headers))
	req := plogotlp.NewExportRequestFromLogs(l)
	end := time.Now().Add(c.RetryFor)
	for wait := c.Backoff; ; wait = min(2*wait, time.Minute) {
		try, cancel := context.WithTimeout(ctx, c.Timeout)
		resp, err := c.logs.Export(try, req)
		cancel()
		if err == nil {
			return resp.PartialSuccess().RejectedLogRecords(), nil
		}
		again, after := retryable(err)
		after = max(after, wait)
		if !again || ctx.Err() != nil || time.Now().Add(after).After(end) {
			return 0, fmt.Errorf("send %d records to %s: %w", l.LogRecordCount(), c.Endpoint, err)
		}
		if err := sleep(ctx, after); err != nil {
			return 0, err
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
