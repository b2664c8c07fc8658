package replay

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
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
	conn *grpc.ClientConn
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
	return &Client{Receiver: r, conn: conn}, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

// Send sends one request of a partition, an Export…ServiceRequest message of so
// many records, and returns how many of them the receiver took note of and
// refused. It tries again, for RetryFor, what may succeed later.
func (c *Client) Send(ctx context.Context, id partition.ID, request []byte, records int) (refused int64, err error) {
	s, err := serviceOf(id.Signal)
	if err != nil {
		return 0, err
	}
	err = c.send(ctx, id, records, func(ctx context.Context) error {
		var response []byte
		if err := c.conn.Invoke(ctx, s.method, &request, &response, grpc.ForceCodec(bytesCodec{})); err != nil {
			return err
		}
		refused, err = s.refused(response)
		return err
	})
	return refused, err
}

// service is how OTLP has requests of a signal.
type service struct {
	method  string
	refused func(response []byte) (int64, error)
}

func serviceOf(s partition.Signal) (service, error) {
	const of = "/opentelemetry.proto.collector."
	switch s {
	case partition.Logs:
		return service{of + "logs.v1.LogsService/Export", func(b []byte) (int64, error) {
			r := plogotlp.NewExportResponse()
			err := r.UnmarshalProto(b)
			return r.PartialSuccess().RejectedLogRecords(), err
		}}, nil
	case partition.Traces:
		return service{of + "trace.v1.TraceService/Export", func(b []byte) (int64, error) {
			r := ptraceotlp.NewExportResponse()
			err := r.UnmarshalProto(b)
			return r.PartialSuccess().RejectedSpans(), err
		}}, nil
	case partition.Metrics:
		return service{of + "metrics.v1.MetricsService/Export", func(b []byte) (int64, error) {
			r := pmetricotlp.NewExportResponse()
			err := r.UnmarshalProto(b)
			return r.PartialSuccess().RejectedDataPoints(), err
		}}, nil
	}
	return service{}, fmt.Errorf("signal %q is not known", s)
}

// bytesCodec passes messages as the bytes that they are.
type bytesCodec struct{}

// Name implements encoding.Codec: the bytes are protobuf.
func (bytesCodec) Name() string { return "proto" }

// Marshal implements encoding.Codec.
func (bytesCodec) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

// Unmarshal implements encoding.Codec.
func (bytesCodec) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = bytes.Clone(data)
	return nil
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

// unwanted says that the receiver refuses a request for good, and because of
// what is in it: not because of who sends it, nor of how it is.
func unwanted(err error) bool {
	switch again, _ := retryable(err); status.Code(err) {
	case codes.InvalidArgument, codes.Internal, codes.Unknown:
		return true
	case codes.ResourceExhausted: // it is too large
		return !again
	}
	return false
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
