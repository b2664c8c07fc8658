package leaseextension

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/extension/extensiontest"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/lease/memory"
)

// fakeSettings are the settings of a backend in another module.
type fakeSettings struct {
	Address string `mapstructure:"address"`
}

func (s *fakeSettings) Check() error {
	if s.Address == "" {
		return errors.New("`address` is empty")
	}
	return nil
}

type fakeStore struct {
	lease.Store
	closed *int
}

func (s fakeStore) Close() error { *s.closed++; return nil }

func TestStandaloneBackend(t *testing.T) {
	closed := 0
	factory := NewBackendFactory(Standalone[fakeSettings]{
		Type: component.MustNewType("fake_lease"), Defaults: fakeSettings{Address: "default"},
		Open: func(_ context.Context, s fakeSettings) (ClosingStore, error) {
			if s.Address == "nowhere" {
				return nil, errors.New("no such file")
			}
			return fakeStore{memory.New(), &closed}, nil
		},
	})
	start := func(settings map[string]any) (component.Component, error) {
		cfg := factory.CreateDefaultConfig()
		require.NoError(t, confmap.NewFromStringMap(settings).Unmarshal(cfg))
		if err := confmap.Validate(cfg); err != nil {
			return nil, err
		}
		ext, err := factory.Create(t.Context(), extensiontest.NewNopSettings(factory.Type()), cfg)
		require.NoError(t, err)
		return ext, ext.Start(t.Context(), componenttest.NewNopHost())
	}

	_, err := start(map[string]any{"ttl": "1s", "address": ""})
	require.EqualError(t, err, "`ttl` (1s) must be 2s to 10m0s: below, one slow request loses the lease; above, a dead holder blocks too long\n`address` is empty")
	_, err = start(map[string]any{"address": "nowhere"})
	require.EqualError(t, err, "open lease store \"fake_lease\": no such file")

	ext, err := start(map[string]any{"ttl": "3s"})
	require.NoError(t, err)
	require.Equal(t, 3*time.Second, ext.(*leaseExtension).plan.ttl)
	held, err := ext.(lease.Leases).Acquire(t.Context(), "x")
	require.NoError(t, err)
	require.NoError(t, held.Release(t.Context(), nil))
	require.NoError(t, ext.Shutdown(t.Context()))
	require.Equal(t, 1, closed)
}
