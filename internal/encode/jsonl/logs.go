package jsonl

import "github.com/s3window/s3window/internal/encode/otlp"

// logs makes the lines of log records.
type logs struct {
	runs
	logLines
}

func newLogs(columns []Column) *logs {
	l := &logs{newRuns(columns), newLogLines(columns)}
	l.item = l.record
	return l
}

func (l *logs) held() int { return l.runs.held() + l.logLines.held() }

// group implements rows.
func (l *logs) group(out *lines, g *otlp.Group) error {
	defer l.logLines.release()
	return l.runs.group(out, g)
}

// record adds the line of a LogRecord message.
func (l *logs) record(out *lines, message []byte) error {
	if err := l.enter(out); err != nil {
		return err
	}
	l.begin()
	var r otlp.Log
	if at := r.Parse(message, &l.attributes); at < 0 {
		return otlp.Fault(at)
	}
	if at := l.append(out, &r, l.service); at < 0 {
		return otlp.Fault(at)
	}
	l.rest(out, l.attributes.columns)
	return nil
}
