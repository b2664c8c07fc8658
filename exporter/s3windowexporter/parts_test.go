package s3windowexporter

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/wal"
)

// unconditionalStore is an S3 store that accepts every put, and takes down the
// paths.
type unconditionalStore struct {
	*httptest.Server
	mu   sync.Mutex // guards puts
	puts []string
}

func startUnconditionalStore(t *testing.T) *unconditionalStore {
	t.Helper()
	s := &unconditionalStore{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, _ := io.ReadAll(r.Body)
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, md5.Sum(content)))
		if r.Method == http.MethodPut {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.puts = append(s.puts, r.URL.Path)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// The leases of earlier processes of the same queue are known by their writer.
func TestPredecessors(t *testing.T) {
	ext := &memoryStorage{}
	open := func() *wal.WAL {
		client, err := ext.GetClient(t.Context(), component.KindExporter, settings().ID, clientName)
		require.NoError(t, err)
		queue, err := wal.Open(t.Context(), wal.Options{Client: client})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, queue.Close(context.Background())) })
		return queue
	}
	first := open()
	require.NoError(t, first.Append(t.Context(), wal.Record{Tenant: "a", Signal: "logs", Items: 1, Payload: []byte("x")}))
	second := open()
	c, err := newCore(settings(), createDefaultConfig().(*Config))
	require.NoError(t, err)
	l := newLakes(c, nil, second, func(string) {})
	assert.True(t, l.predecessor(holderName(first.Writer())))
	assert.True(t, l.predecessor("another-host/"+first.Writer()), "the storage came along")
	for _, holder := range []string{l.holder, holderName("aaaaaaaaaaaaa"), "", "/", first.Writer() + "/"} {
		assert.False(t, l.predecessor(holder), "%q", holder)
	}
}

func TestCrashPoint(t *testing.T) {
	for _, c := range []struct {
		value  string
		passed []string
		kills  int
	}{
		{"wal:seal", []string{"window:upload"}, 0},
		{"wal:seal", []string{"wal:seal"}, 1},
		{"wal:seal", []string{"wal:seal", "wal:seal"}, 1},
		{"wal:seal:2", []string{"wal:seal"}, 0},
		{"wal:seal:2", []string{"wal:seal", "wal:seal done", "wal:seal"}, 1},
		{"commit:put-manifest done", []string{"commit:put-manifest", "commit:put-manifest done"}, 1},
		{"commit:put-manifest:1", []string{"commit:put-manifest"}, 1},
	} {
		kills := 0
		p, err := newCrashPoint(c.value, func() { kills++ })
		require.NoError(t, err)
		for _, label := range c.passed {
			p.pass(label)
		}
		assert.Equal(t, c.kills, kills, "%q %v", c.value, c.passed)
	}
	for _, value := range []string{":1", "wal:seal:0", "wal:seal:-1"} {
		_, err := newCrashPoint(value, nil)
		assert.ErrorContains(t, err, "must be the label of a step", "%q", value)
	}
}

func TestStepsWithoutVariable(t *testing.T) {
	t.Setenv(crashVariable, "")
	pass, crashes, err := steps()
	require.NoError(t, err)
	assert.False(t, crashes)
	pass("wal:seal")
}

func TestStatusIsReportedOncePerChange(t *testing.T) {
	const ok, bad, ended = componentstatus.StatusOK, componentstatus.StatusRecoverableError, componentstatus.StatusPermanentError
	s := &status{logger: zap.NewNop()}
	first, second := &host{}, &host{}
	s.join(first)
	s.set(flushes, nil)
	assert.Empty(t, first.statuses())
	s.set(flushes, errors.New("bucket is gone"))
	s.set(flushes, errors.New("bucket is gone"))
	s.join(second)
	assert.Equal(t, []componentstatus.Status{bad}, first.statuses())
	assert.Equal(t, []componentstatus.Status{bad}, second.statuses(), "told what it missed")
	s.set(appends, errors.New("disk is gone"))
	_, err := first.last()
	assert.EqualError(t, err, "bucket is gone\ndisk is gone")
	s.set(flushes, nil)
	_, err = first.last()
	assert.EqualError(t, err, "disk is gone")
	s.set(appends, nil)
	s.set(appends, nil)
	assert.Equal(t, []componentstatus.Status{bad, bad, bad, ok}, first.statuses())
	s.fail(errors.New("for good"))
	s.fail(errors.New("again"))
	s.set(flushes, errors.New("late"))
	assert.Equal(t, []componentstatus.Status{bad, bad, bad, ok, ended}, first.statuses())
	assert.Equal(t, []componentstatus.Status{bad, bad, bad, ok, ended}, second.statuses())
}

func TestNothingIsReportedAfterTheEnd(t *testing.T) {
	s := &status{logger: zap.NewNop()}
	h := &host{}
	s.join(h)
	s.end()
	s.set(flushes, errors.New("late"))
	s.fail(errors.New("late"))
	assert.Empty(t, h.statuses())
}

func TestKind(t *testing.T) {
	assert.Equal(t, kind("read tcp 127.0.0.1:54321: reset"), kind("read tcp 127.0.0.1:999: reset"))
	assert.NotEqual(t, kind("403 AccessDenied"), kind("connection refused"))
}
