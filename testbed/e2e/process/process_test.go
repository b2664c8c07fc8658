package process_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/s3window/s3window/testbed/e2e/process"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func options(t *testing.T, script string) process.Options {
	return process.Options{Path: "/bin/sh", Args: []string{"-c", script}, Log: filepath.Join(t.TempDir(), "log")}
}

func TestStartReportsTheEndOfTheLog(t *testing.T) {
	o := options(t, "echo no such bucket; exit 3")
	var err error
	o.Ready, err = process.FreeAddress()
	require.NoError(t, err)
	_, err = process.Start(t.Context(), o)
	require.ErrorContains(t, err, "no such bucket")
	require.ErrorContains(t, err, "exit status 3")
}

func TestKillAndStop(t *testing.T) {
	p, err := process.Launch(options(t, "sleep 60"))
	require.NoError(t, err)
	require.True(t, p.Running())
	require.False(t, p.Killed())
	p.Kill()
	require.True(t, p.Killed())

	p, err = process.Launch(options(t, "trap 'exit 0' TERM; echo up; while :; do sleep 0.05; done"))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return p.Tail(10) == "up" }, 10*time.Second, 10*time.Millisecond)
	require.NoError(t, p.Stop(10*time.Second))
	require.False(t, p.Killed())

	p, err = process.Launch(options(t, "trap '' TERM; echo up; while :; do sleep 0.05; done"))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return p.Tail(10) == "up" }, 10*time.Second, 10*time.Millisecond)
	require.ErrorIs(t, p.Stop(100*time.Millisecond), process.ErrSlow)
	require.True(t, p.Killed())
}
