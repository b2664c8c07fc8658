package icebergsync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/s3window/s3window/icebergsync/internal/metadata"
	"github.com/s3window/s3window/icebergsync/internal/run"
	"github.com/s3window/s3window/icebergsync/internal/syncer"
	"github.com/s3window/s3window/icebergsync/internal/table"
)

const (
	// maxShown is how many problems a status names.
	maxShown = 3
	// progressEvery is the time between two lines about a long catch-up.
	progressEvery = 10 * time.Second
	// failuresToTell is how many passes in a row must fail before the status
	// says so. Hiccups do not.
	failuresToTell = 2
)

// reporter turns what a runner does into metrics, the component's status and log
// lines.
type reporter struct {
	telemetry *metadata.TelemetryBuilder
	logger    *zap.Logger
	host      component.Host

	// mu guards everything declared below.
	mu       sync.Mutex
	told     string               // the problems that the status has; empty = none
	known    map[string]bool      // problems that were logged
	failures int                  // passes in a row that could do nothing
	lines    map[string]time.Time // when the last line about a table's progress was written
}

func newReporter(e *icebergExtension, host component.Host) *reporter {
	return &reporter{telemetry: e.telemetry, logger: e.logger, host: host, known: map[string]bool{}, lines: map[string]time.Time{}}
}

func (r *reporter) observer() run.Observer {
	return run.Observer{Changed: r.changed, Skipped: r.skipped, Progress: r.progress}
}

func (r *reporter) changed(label, kind string, outcome syncer.Outcome, took time.Duration, windows int, err error) {
	ctx, of := context.Background(), attribute.String("table", label)
	all := metric.WithAttributes(of, attribute.String("kind", kind), attribute.String("outcome", string(outcome)))
	r.telemetry.IcebergCommits.Add(ctx, 1, all)
	r.telemetry.IcebergCommitDuration.Record(ctx, took.Seconds(), all)
	if outcome == syncer.Committed && windows > 0 {
		r.telemetry.IcebergWindows.Add(ctx, int64(windows), metric.WithAttributes(of))
	}
	if outcome != syncer.Committed {
		r.logger.Debug("Commit was not made, as far as is known", zap.String("table", label), zap.String("outcome", string(outcome)), zap.Error(err))
	}
}

func (r *reporter) skipped(label string, name table.Name, log syncer.Log, k uint64, format string) {
	r.telemetry.IcebergWindowsSkipped.Add(context.Background(), 1, metric.WithAttributes(attribute.String("table", label)))
	r.logger.Warn("Window is passed over: no table holds its format",
		zap.Stringer("table", name), zap.String("tenant", log.Tenant), zap.String("signal", string(log.Signal)),
		zap.Uint64("k", k), zap.String("format", format))
}

// progress writes a line about a table that is being caught up with, now and
// then.
func (r *reporter) progress(name table.Name, report syncer.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, last := time.Now(), r.lines[name.String()]
	if last.IsZero() || report.Commits <= 1 { // a pass of one commit leaves no line
		r.lines[name.String()] = now
		return
	}
	if now.Sub(last) < progressEvery {
		return
	}
	r.lines[name.String()] = now
	r.logger.Info("Table is catching up", zap.Stringer("table", name), zap.Int("windows", report.Windows),
		zap.Int64("records", report.Records), zap.Int("commits", report.Commits), zap.Int("behind", report.Behind))
}

// passed reports what a pass came to.
func (r *reporter) passed(results []run.Result, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var problems []string
	if err != nil {
		if r.failures++; r.failures >= failuresToTell {
			problems = append(problems, err.Error())
		}
	} else {
		r.failures = 0
	}
	for _, is := range results {
		problems = append(problems, problemsOf(is)...)
	}
	if err == nil {
		r.gauges(results)
	}
	r.logLocked(problems)
	r.statusLocked(problems)
}

func problemsOf(is run.Result) []string {
	var out []string
	if is.Err != nil {
		out = append(out, fmt.Sprintf("table %s: %v", is.Name, is.Err))
	}
	for _, p := range is.Report.Problems {
		out = append(out, fmt.Sprintf("table %s: %v", is.Name, p))
	}
	return out
}

// gauges sums the tables up by their label.
func (r *reporter) gauges(results []run.Result) {
	type sum struct {
		behind, blocked, stopped int64
		lag                      time.Duration
	}
	sums, now := map[string]*sum{}, time.Now()
	for _, is := range results {
		s := sums[is.Label]
		if s == nil {
			s = &sum{}
			sums[is.Label] = s
		}
		s.behind += int64(is.Report.Behind)
		s.blocked += int64(is.Report.Blocked())
		if is.Err != nil {
			s.stopped++
		}
		if !is.Report.Oldest.IsZero() {
			s.lag = max(s.lag, now.Sub(is.Report.Oldest))
		}
	}
	for label, s := range sums {
		ctx, of := context.Background(), metric.WithAttributes(attribute.String("table", label))
		r.telemetry.IcebergLagWindows.Record(ctx, s.behind, of)
		r.telemetry.IcebergLag.Record(ctx, s.lag.Seconds(), of)
		r.telemetry.IcebergLogsBlocked.Record(ctx, s.blocked, of)
		r.telemetry.IcebergTablesStopped.Record(ctx, s.stopped, of)
	}
}

// logLocked writes a line about each problem when it begins.
func (r *reporter) logLocked(problems []string) {
	known := map[string]bool{}
	for _, p := range problems {
		if !r.known[p] {
			r.logger.Warn("Windows do not get into a table", zap.String("problem", p))
		}
		known[p] = true
	}
	r.known = known
}

// statusLocked reports the problems when they change.
func (r *reporter) statusLocked(problems []string) {
	slices.Sort(problems)
	if more := len(problems) - maxShown; more > 0 {
		problems = append(problems[:maxShown:maxShown], fmt.Sprintf("%d more", more))
	}
	text := strings.Join(problems, "\n")
	if text == r.told {
		return
	}
	r.told = text
	if text == "" {
		r.logger.Info("Windows get into their tables again")
		componentstatus.ReportStatus(r.host, componentstatus.NewEvent(componentstatus.StatusOK))
		return
	}
	componentstatus.ReportStatus(r.host, componentstatus.NewRecoverableErrorEvent(errors.New(text)))
}
