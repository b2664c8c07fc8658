package lease_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/lease/memory"
)

func TestHealth(t *testing.T) {
	down := errors.New("down")
	for name, requests := range map[string]struct {
		errs []error
		took time.Duration
		want []error
	}{
		"works":                        {errs: []error{nil, lease.ErrNotFound, lease.ErrConflict, nil}},
		"hiccups":                      {errs: []error{down, down, lease.ErrNotFound, down, down, lease.ErrConflict, down, down, nil}},
		"fails":                        {errs: []error{down, down, down, down}, want: []error{down}},
		"fails and answers again":      {errs: []error{down, down, down, lease.ErrConflict, nil}, want: []error{down, nil}},
		"fails twice":                  {errs: []error{down, down, down, nil, down, down, down, nil}, want: []error{down, nil, down, nil}},
		"hangs once":                   {errs: []error{down, down}, took: 5 * time.Second, want: []error{down}},
		"is slow to fail":              {errs: []error{down, down}, took: 2 * time.Second},
		"callers that went away":       {errs: []error{context.Canceled, context.Canceled, context.Canceled, fmt.Errorf("get: %w", context.Canceled)}},
		"failures between such":        {errs: []error{down, context.Canceled, down, context.Canceled, down}, want: []error{down}},
		"such do not mend":             {errs: []error{down, down, down, context.Canceled}, want: []error{down}},
		"a deadline is the store's":    {errs: []error{context.DeadlineExceeded, context.DeadlineExceeded, context.DeadlineExceeded}, want: []error{context.DeadlineExceeded}},
		"counts only failures in rows": {errs: []error{down, nil, down, nil, down}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []error
				h := lease.NewHealth(func(err error) { got = append(got, err) })
				for _, err := range requests.errs {
					time.Sleep(requests.took)
					h.Request("get", requests.took, err)
				}
				require.Equal(t, requests.want, got)
			})
		})
	}
}

// A store that refuses everything is told long before the attempt to acquire ends.
func TestRefusalIsToldSoon(t *testing.T) {
	refused := errors.New("403 AccessDenied")
	synctest.Test(t, func(t *testing.T) {
		told := make(chan error, 1)
		health := lease.NewHealth(func(err error) { told <- err })
		leases := lease.NewParticipant(refusing{memory.New(), refused}, lease.Options{Observer: lease.Observer{Request: health.Request}})
		defer leases.Close()
		asked := time.Now()
		ended := make(chan error)
		go func() {
			_, err := leases.Acquire(t.Context(), "x")
			ended <- err
		}()
		require.ErrorIs(t, <-told, refused)
		require.Less(t, time.Since(asked), time.Second)
		require.ErrorIs(t, <-ended, refused)
		require.GreaterOrEqual(t, time.Since(asked), 2*lease.DefaultTTL/3)
	})
}

// refusing is a store that refuses reads.
type refusing struct {
	lease.Store
	err error
}

func (r refusing) Get(context.Context, string) (lease.Record, error) { return lease.Record{}, r.err }
