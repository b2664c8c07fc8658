package s3windowexporter

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"
	"google.golang.org/grpc/codes"

	"github.com/s3window/s3window/internal/wal"
)

// Two exporters behind a fan-out get the same request, read-only; and one that
// refuses it leaves it as it was, because the caller sends it again.
func TestRequestsAreNotChanged(t *testing.T) {
	r := newOfflineRig(t, "http://127.0.0.1:1")
	r.cfg.Tenant.MaxTenants = 2
	full := r.start()
	other := *r.cfg
	r.cfg = &other
	r.cfg.Tenant.MaxTenants, r.cfg.S3.Prefix = 3, "other"
	set := settings()
	set.ID = component.MustNewIDWithName("s3window", "other")
	takes := r.create(set)
	require.NoError(t, takes.Start(t.Context(), r.host))
	assert.False(t, full.Capabilities().MutatesData)

	ld := logs(2, "a", "b", "a", "c")
	before, err := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	require.NoError(t, err)
	require.Error(t, full.ConsumeLogs(t.Context(), ld))
	require.NoError(t, takes.ConsumeLogs(t.Context(), ld))
	after, err := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(before, after))
	r.shutdown(full)
	r.shutdown(takes)
}

func TestRefusals(t *testing.T) {
	r := newOfflineRig(t, "http://127.0.0.1:1")
	r.cfg.QueueConfig.Get().QueueSize = 1 << 20
	e := r.start()
	defer r.shutdown(e)

	err := e.ConsumeLogs(t.Context(), logs(100_000, "a"))
	require.True(t, consumererror.IsPermanent(err))
	require.ErrorIs(t, err, wal.ErrTooLarge)
	requireRefusal(t, err, codes.InvalidArgument, "2100032 bytes are more than a request may have: send smaller ones")

	for err = nil; err == nil; {
		err = e.ConsumeLogs(t.Context(), logs(5_000, "a"))
	}
	require.ErrorIs(t, err, wal.ErrFull)
	assert.False(t, consumererror.IsPermanent(err), "a full queue is worth a retry")
	r.await(func() bool { s, _ := r.host.last(); return s == componentstatus.StatusRecoverableError })
	_, status := r.host.last()
	assert.NotContains(t, status.Error(), "queue's storage", "a full queue is no fault of the storage")
}

// The bound is one for a request, and not for the part that each of its tenants
// has of it: it is read back from the queue in one piece.
func TestRequestsBeyondTheMemoryAreRefused(t *testing.T) {
	r := newOfflineRig(t, "http://127.0.0.1:1")
	r.cfg.MemoryLimitMiB, r.cfg.Flush.TargetSizeMiB = 128, 8
	core, logged := zapobserver.New(zap.WarnLevel)
	set := settings()
	set.Logger = zap.New(core)
	e := r.create(set)
	require.NoError(t, e.Start(t.Context(), r.host))
	defer r.shutdown(e)
	large := func(tenants ...string) plog.Logs {
		ld := plog.NewLogs()
		for _, tenant := range tenants {
			rl := ld.ResourceLogs().AppendEmpty()
			rl.Resource().Attributes().PutStr("tenant.id", tenant)
			rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetEmptyBytes().FromRaw(make([]byte, 7<<20))
		}
		return ld
	}
	require.NoError(t, e.ConsumeLogs(t.Context(), large("a")))
	for _, tenants := range [][]string{{"a", "a"}, {"a", "b"}} {
		err := e.ConsumeLogs(t.Context(), large(tenants...))
		require.True(t, consumererror.IsPermanent(err))
		requireRefusal(t, err, codes.InvalidArgument, "are more than a request may have")
	}
	lines := logged.FilterField(zap.String("setting", "memory_limit_mib (128)"))
	assert.Equal(t, 1, lines.Len(), "the operator is told which setting decides, once")
}

func TestStorageFailsAndRecovers(t *testing.T) {
	r := newOfflineRig(t, "http://127.0.0.1:1")
	e := r.start()
	defer r.shutdown(e)
	r.await(func() bool { return len(r.host.statuses()) == 1 }) // the bucket
	broken := errors.New("disk is gone")
	r.storage.set(broken)
	for range 3 {
		err := e.ConsumeLogs(t.Context(), logs(1, "a"))
		require.ErrorIs(t, err, broken)
		require.False(t, consumererror.IsPermanent(err))
	}
	_, err := r.host.last()
	require.ErrorContains(t, err, "write to the queue's storage")
	require.ErrorContains(t, err, "check bucket")
	r.storage.set(nil)
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a")))
	r.await(func() bool {
		_, err := r.host.last()
		return err != nil && !strings.Contains(err.Error(), "storage")
	})
}

// Every append that the storage refuses counts; a full queue is no fault of it.
func TestAppendsThatFailCount(t *testing.T) {
	r := newDoorRig(t, func(c *Config) { c.QueueConfig.Get().QueueSize = 1 << 20 })
	r.storage.set(errors.New("disk is gone"))
	for range 3 {
		require.Error(t, r.ConsumeLogs(t.Context(), logs(1, "a")))
	}
	r.storage.set(nil)
	for err := error(nil); err == nil; {
		err = r.ConsumeLogs(t.Context(), logs(5_000, "a"))
	}
	assert.EqualValues(t, 3, retriesOf(t, r.tel, "append"))
}
