package lake_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
)

func TestReason(t *testing.T) {
	for want, err := range map[string]error{
		"":                                 nil,
		"plain words":                      fmt.Errorf("put object: %w", errors.New("plain\n words ")),
		"object exists":                    fmt.Errorf("put manifest: %w", lake.ErrExists),
		"object does not exist":            fmt.Errorf("read: %w", lake.ErrNotExist),
		"canceled":                         fmt.Errorf("put: %w", context.Canceled),
		"the store did not answer in time": fmt.Errorf("put: %w", context.DeadlineExceeded),
		strings.Repeat("ü", 120) + "…":     errors.New(strings.Repeat("ü", 150)),
	} {
		require.Equal(t, want, lake.Reason(err))
	}
}
