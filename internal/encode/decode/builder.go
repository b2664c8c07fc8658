package decode

import (
	"fmt"

	"go.opentelemetry.io/collector/pdata/plog"
)

// logsBuilder groups rows into requests.
type logsBuilder struct {
	src   logSource
	limit int
	visit func(plog.Logs) error

	logs          plog.Logs
	size          int // upper bound of the request as OTLP
	pending       int // records in logs
	records       int // in all
	res, sc       []byte
	nextRes, next []byte
	sizer         plog.ProtoMarshaler
}

// frame is the most that a message costs beside its content: tag and length.
const frame = 6

// add adds the row that the source stands at.
func (b *logsBuilder) add() error {
	b.nextRes = b.src.appendResource(b.nextRes[:0])
	b.next = b.src.appendScope(b.next[:0])
	newRes := b.pending == 0 || string(b.nextRes) != string(b.res)
	newScope := newRes || string(b.next) != string(b.sc)
	lr := plog.NewLogRecord()
	if err := b.src.record(lr); err != nil {
		return b.broken(err)
	}
	rl, sl := plog.NewResourceLogs(), plog.NewScopeLogs()
	need := b.sizer.LogRecordSize(lr) + frame
	if newScope {
		if err := b.head(rl, sl); err != nil {
			return err
		}
		need += b.sizer.ResourceLogsSize(rl) + b.sizer.ScopeLogsSize(sl) + 2*frame
	}
	if b.pending > 0 && b.size > b.limit-need {
		if err := b.emit(); err != nil {
			return err
		}
		if !newScope {
			if err := b.head(rl, sl); err != nil {
				return err
			}
			need += b.sizer.ResourceLogsSize(rl) + b.sizer.ScopeLogsSize(sl) + 2*frame
		}
		newRes, newScope = true, true
	}
	b.put(rl, sl, lr, newRes, newScope)
	b.size += need
	return nil
}

func (b *logsBuilder) head(rl plog.ResourceLogs, sl plog.ScopeLogs) error {
	if err := b.src.resource(rl); err != nil {
		return b.broken(err)
	}
	if err := b.src.scope(sl); err != nil {
		return b.broken(err)
	}
	return nil
}

func (b *logsBuilder) broken(err error) error {
	return fmt.Errorf("decode record %d: %w", b.records, err)
}

func (b *logsBuilder) put(rl plog.ResourceLogs, sl plog.ScopeLogs, lr plog.LogRecord, newRes, newScope bool) {
	if b.pending == 0 {
		b.logs = plog.NewLogs()
	}
	all := b.logs.ResourceLogs()
	if newRes {
		rl.MoveTo(all.AppendEmpty())
	}
	scopes := all.At(all.Len() - 1).ScopeLogs()
	if newScope {
		sl.MoveTo(scopes.AppendEmpty())
	}
	lr.MoveTo(scopes.At(scopes.Len() - 1).LogRecords().AppendEmpty())
	b.res, b.nextRes = b.nextRes, b.res
	b.sc, b.next = b.next, b.sc
	b.pending++
	b.records++
}

// emit passes on what was gathered.
func (b *logsBuilder) emit() error {
	if b.pending == 0 {
		return nil
	}
	logs := b.logs
	b.logs, b.size, b.pending = plog.Logs{}, 0, 0
	return b.visit(logs)
}
