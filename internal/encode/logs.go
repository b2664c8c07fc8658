package encode

import (
	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/encode/parquet"
)

// logs has the columns of log records, one row per record.
type logs struct {
	runs
	logColumns
}

func newLogs(t *parquet.Table, columns []Column) *logs {
	l := &logs{runs: newRuns(t)}
	l.item = l.record
	l.add(t, l.addService)
	l.attributes.promoted = l.columns(columns)
	return l
}

func (l *logs) held() int { return l.runs.held() + l.logColumns.held() }

func (l *logs) reset() {
	l.runs.reset()
	l.logColumns.reset()
}

// record adds the row of a LogRecord message.
func (l *logs) record(s *stager, b []byte, received int64) error {
	if l.full() {
		if err := l.cut(s); err != nil {
			return err
		}
	}
	var r otlp.Log
	if at := r.Parse(b, &l.attributes); at < 0 {
		return otlp.Fault(at)
	}
	if at := l.put(&r, s.time(r.Nanos(), received), received); at < 0 {
		return otlp.Fault(at)
	}
	l.table.EndRow(len(b))
	return nil
}
