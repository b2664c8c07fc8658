package encode

import (
	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/encode/parquet"
)

// traces has the columns of spans, one row per span.
type traces struct {
	runs
	spanColumns
}

func newTraces(t *parquet.Table, columns []Column) *traces {
	x := &traces{runs: newRuns(t)}
	x.item = x.span
	x.add(t, x.addService)
	x.attributes.promoted = x.columns(columns)
	return x
}

func (x *traces) held() int { return x.runs.held() + x.spanColumns.held() }

func (x *traces) reset() {
	x.runs.reset()
	x.spanColumns.reset()
}

// span adds the row of a Span message.
func (x *traces) span(s *stager, b []byte, received int64) error {
	if x.full() {
		if err := x.cut(s); err != nil {
			return err
		}
	}
	var r otlp.Span
	if at := r.Parse(b, &x.spanColumns); at < 0 {
		return otlp.Fault(at)
	}
	if at := x.put(&r, s.time(r.Nanos(), received), received); at < 0 {
		return otlp.Fault(at)
	}
	x.table.EndRow(len(b))
	return nil
}
