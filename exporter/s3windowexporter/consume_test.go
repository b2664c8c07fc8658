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

	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/wal"
)

// Two exporters behind a fan-out get the same request, read-only; and one that
// refuses it leaves it as it was, because the caller sends it again.
func TestRequestsAreNotChanged(t *testing.T) {
	r := newOfflineRig(t, "http://127.0.0.1:1")
	r.cfg.Tenant.MaxTenants = 2
	full := r.start()
	r.cfg.Tenant.MaxTenants = 3
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
	r.cfg.Tenant.MaxTenants = 2
	e := r.start()
	defer r.shutdown(e)

	err := e.ConsumeLogs(t.Context(), logs(1, "a", "b", "c"))
	require.True(t, consumererror.IsPermanent(err))
	require.ErrorContains(t, err, "admit tenant \"c\": `tenant::max_tenants` (2)")
	var limit *partition.LimitError
	require.ErrorAs(t, err, &limit)

	err = e.ConsumeLogs(t.Context(), logs(100_000, "a"))
	require.True(t, consumererror.IsPermanent(err))
	require.ErrorIs(t, err, wal.ErrTooLarge)

	for err = nil; err == nil; {
		err = e.ConsumeLogs(t.Context(), logs(5_000, "a"))
	}
	require.ErrorIs(t, err, wal.ErrFull)
	assert.False(t, consumererror.IsPermanent(err), "a full queue is worth a retry")
	r.await(func() bool { s, _ := r.host.last(); return s == componentstatus.StatusRecoverableError })
	_, status := r.host.last()
	assert.NotContains(t, status.Error(), "queue's storage", "a full queue is no fault of the storage")
}

func TestRequestsBeyondTheMemoryAreRefused(t *testing.T) {
	r := newOfflineRig(t, "http://127.0.0.1:1")
	r.cfg.MemoryLimitMiB, r.cfg.Flush.TargetSizeMiB = 128, 8
	e := r.start()
	defer r.shutdown(e)
	ld := plog.NewLogs()
	ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetEmptyBytes().FromRaw(make([]byte, 20<<20))
	err := e.ConsumeLogs(t.Context(), ld)
	require.True(t, consumererror.IsPermanent(err))
	require.ErrorContains(t, err, "are more than `memory_limit_mib` (128) lets be encoded at once")
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
