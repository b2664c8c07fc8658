package s3windowexporter

import (
	"errors"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.uber.org/zap"
)

// source is a part of the exporter that can fail and recover by itself.
type source int

const (
	bucketCheck  source = iota // the check of buckets at the start
	bucketLeases               // leases that are kept in buckets
	flushes                    // windows on their way to the bucket
	appends                    // requests on their way into the queue
	queueClock                 // the clock that stamps them
	sources
)

// status reports the health of the exporter to the collector, to every signal
// of it: once for each change.
type status struct {
	logger *zap.Logger

	mu       sync.Mutex // guards everything below; held while reporting, so that events keep their order
	hosts    []component.Host
	failing  [sources]error
	reported string // the error that was reported last
	ended    bool   // permanently failed, or stopped: nothing more is reported
}

// join adds the host of one more signal.
func (s *status) join(host component.Host) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hosts = append(s.hosts, host)
	if s.reported != "" {
		componentstatus.ReportStatus(host, componentstatus.NewRecoverableErrorEvent(errors.New(s.reported)))
	}
}

// set says what a source waits for; nil that it goes on.
func (s *status) set(from source, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing[from] = err
	joined := errors.Join(s.failing[:]...)
	text := ""
	if joined != nil {
		text = joined.Error()
	}
	if s.ended || text == s.reported {
		return
	}
	s.reported = text
	if joined == nil {
		s.reportLocked(componentstatus.NewEvent(componentstatus.StatusOK))
		return
	}
	s.reportLocked(componentstatus.NewRecoverableErrorEvent(joined))
}

// fail reports what no waiting will mend.
func (s *status) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.ended = true
	s.logger.Error("Exporter cannot commit anything", zap.Error(err))
	s.reportLocked(componentstatus.NewPermanentErrorEvent(err))
}

// end stops the reports: the collector reports the rest of a component's life.
func (s *status) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

func (s *status) reportLocked(e *componentstatus.Event) {
	for _, h := range s.hosts {
		componentstatus.ReportStatus(h, e)
	}
}
