package s3windowexporter

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.uber.org/zap"
)

// unconditionalStore is an S3 store that accepts every put.
func unconditionalStore(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("ETag", `"x"`)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestCrashPoint(t *testing.T) {
	for _, c := range []struct {
		value  string
		passed []string
		kills  int
	}{
		{"after_seal", []string{"after_upload"}, 0},
		{"after_seal", []string{"after_seal"}, 1},
		{"after_seal", []string{"after_seal", "after_seal"}, 1},
		{"after_seal:2", []string{"after_seal"}, 0},
		{"after_seal:2", []string{"after_seal", "mid_upload", "after_seal"}, 1},
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
	for _, value := range []string{":1", "after_seal:0", "after_seal:-1"} {
		_, err := newCrashPoint(value, nil)
		assert.ErrorContains(t, err, "must be a point", "%q", value)
	}
}

func TestStepsWithoutVariable(t *testing.T) {
	t.Setenv(crashVariable, "")
	pass, crashes, err := steps()
	require.NoError(t, err)
	assert.False(t, crashes)
	pass("after_seal")
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
