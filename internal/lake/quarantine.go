package lake

import (
	"context"
	"fmt"

	"github.com/s3window/s3window/internal/partition"
)

// Entry names an entry of the WAL, or the part of it that begins with a record.
type Entry = partition.QuarantineName

// Quarantine keeps the raw bytes of an entry that could not be decoded, or a
// request of those of its records, and returns the key. It returns nil only
// after they are durable. Calling again with the same entry and bytes changes
// nothing and succeeds; with other bytes it returns ErrExists and the key.
//
// Crash before this: the entry is still in the WAL.
// Crash after it: the bytes lie here as well, and are found by the same key.
func (l *Lake) Quarantine(ctx context.Context, id partition.ID, e Entry, raw []byte) (string, error) {
	key := partition.QuarantineKey(l.ref.Prefix, id, e)
	l.step("lake:put-quarantine")
	if err := l.putSame(ctx, key, NewBody("application/octet-stream", raw)); err != nil {
		return key, fmt.Errorf("put quarantine %q: %w", key, err)
	}
	return key, nil
}
