package jsonl

import "github.com/s3window/s3window/internal/encode/otlp"

// traces makes the lines of spans.
type traces struct {
	runs
	spanLines
}

func newTraces(columns []Column) *traces {
	x := &traces{newRuns(columns), newSpanLines(columns)}
	x.item = x.span
	return x
}

func (x *traces) held() int { return x.runs.held() + x.spanLines.held() }

// group implements rows.
func (x *traces) group(out *lines, g *otlp.Group) error {
	defer x.spanLines.release()
	return x.runs.group(out, g)
}

// span adds the line of a Span message.
func (x *traces) span(out *lines, message []byte) error {
	if err := x.enter(out); err != nil {
		return err
	}
	x.begin()
	var r otlp.Span
	if at := r.Parse(message, &x.spanLines); at < 0 {
		return otlp.Fault(at)
	}
	if at := x.append(out, &r, x.service); at < 0 {
		return otlp.Fault(at)
	}
	x.rest(out, x.attributes.columns)
	return nil
}
