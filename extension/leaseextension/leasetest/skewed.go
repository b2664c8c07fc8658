package leasetest

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/s3window/s3window/extension/leaseextension/lease"
)

// Skewed is the store of a waiter whose clock runs at rate times the others':
// it sees every TTL that much shorter, which is the same. Only reads are
// changed, so it is for waiters.
func Skewed(store lease.Store, rate float64) lease.Store {
	return skewed{Store: store, rate: rate}
}

type skewed struct {
	lease.Store
	rate float64
}

// Get implements lease.Store.
func (s skewed) Get(ctx context.Context, key string) (lease.Record, error) {
	rec, err := s.Store.Get(ctx, key)
	if err != nil {
		return rec, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(rec.Value, &fields); err != nil {
		return rec, err
	}
	var held struct {
		Holder string `json:"holder"`
		TTL    int64  `json:"ttl_ms"`
	}
	if fields["lease"] == nil {
		return rec, nil
	}
	if err := json.Unmarshal(fields["lease"], &held); err != nil {
		return rec, err
	}
	ttl := int64(float64(held.TTL) / s.rate)
	fields["lease"] = json.RawMessage(`{"holder":` + strconv.Quote(held.Holder) + `,"ttl_ms":` + strconv.FormatInt(ttl, 10) + `}`)
	rec.Value, err = json.Marshal(fields)
	return rec, err
}
