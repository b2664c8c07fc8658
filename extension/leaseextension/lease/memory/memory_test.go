package memory_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/lease/memory"
	"github.com/s3window/s3window/extension/leaseextension/leasetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	leasetest.Run(t, leasetest.Bubble, func(testing.TB) leasetest.Backend {
		store := memory.New()
		return leasetest.Backend{Open: func(testing.TB) lease.Store { return store }}
	})
}
