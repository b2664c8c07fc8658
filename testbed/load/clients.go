package load

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
)

// clients send requests of every signal over one connection.
type clients struct {
	logs    plogotlp.GRPCClient
	traces  ptraceotlp.GRPCClient
	metrics pmetricotlp.GRPCClient
}

func newClients(conn *grpc.ClientConn) clients {
	return clients{plogotlp.NewGRPCClient(conn), ptraceotlp.NewGRPCClient(conn), pmetricotlp.NewGRPCClient(conn)}
}

// send sends a request of a signal. A part that is refused is an error.
func (c clients) send(ctx context.Context, signal string, m maker, records map[string]int) error {
	var rejected int64
	var why string
	switch signal {
	case "logs":
		resp, err := c.logs.Export(ctx, plogotlp.NewExportRequestFromLogs(m.logs(records)))
		if err != nil {
			return err
		}
		rejected, why = resp.PartialSuccess().RejectedLogRecords(), resp.PartialSuccess().ErrorMessage()
	case "traces":
		resp, err := c.traces.Export(ctx, ptraceotlp.NewExportRequestFromTraces(m.traces(records)))
		if err != nil {
			return err
		}
		rejected, why = resp.PartialSuccess().RejectedSpans(), resp.PartialSuccess().ErrorMessage()
	case "metrics":
		resp, err := c.metrics.Export(ctx, pmetricotlp.NewExportRequestFromMetrics(m.metrics(records)))
		if err != nil {
			return err
		}
		rejected, why = resp.PartialSuccess().RejectedDataPoints(), resp.PartialSuccess().ErrorMessage()
	default:
		return fmt.Errorf("signal %q is not logs, traces or metrics", signal)
	}
	if rejected > 0 {
		return errors.New(why)
	}
	return nil
}
