// Package etcd is the lease backend on an etcd cluster: one key per register,
// written by transactions on its mod revision.
//
// A revision is the cluster's number of the write: it grows with every write to
// any key, so it never comes back, unless the cluster is restored from an old
// copy. etcd's own leases are not used: waiters observe the expiry.
//
// An empty message is a valid answer to gRPC, and says that a key is missing. It
// counts only with the cluster's revision in it, which is 1 or more, and a write
// only if that is behind the revision that was replaced.
package etcd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/s3window/s3window/extension/leaseextension/internal/dial"
	"github.com/s3window/s3window/extension/leaseextension/lease"
)

// page is how many registers List reads at once.
const page = 500

// errForeign says that an answer is not one of etcd's.
var errForeign = errors.New("the answer is not etcd's: its revision or what was asked for is missing")

// Store is a lease.Store in an etcd cluster.
type Store struct {
	connection *dial.Lazy[*clientv3.Client]
	prefix     string
}

// Get implements lease.Store. The read goes through the quorum.
func (s *Store) Get(ctx context.Context, key string) (lease.Record, error) {
	client, err := s.connection.Get(ctx)
	if err != nil {
		return lease.Record{}, err
	}
	answer, err := client.Get(ctx, s.prefix+key)
	switch {
	case err != nil:
		return lease.Record{}, s.failed("get", key, err)
	case answer.Header.GetRevision() <= 0:
		return lease.Record{}, s.failed("get", key, errForeign)
	case len(answer.Kvs) == 0:
		return lease.Record{}, lease.ErrNotFound
	case string(answer.Kvs[0].Key) != s.prefix+key || answer.Kvs[0].ModRevision <= 0:
		return lease.Record{}, s.failed("get", key, errForeign)
	}
	return lease.Record{Key: key, Value: answer.Kvs[0].Value, Revision: revision(answer.Kvs[0].ModRevision)}, nil
}

// Put implements lease.Store.
//
// Crash before this: the old version. Crash after it: the new one, on the disks
// of a majority.
func (s *Store) Put(ctx context.Context, key string, value []byte, ifRevision string) (string, error) {
	at, err := number(ifRevision)
	if err != nil {
		return "", err
	}
	client, err := s.connection.Get(ctx)
	if err != nil {
		return "", err
	}
	// A key that does not exist has mod revision 0.
	answer, err := client.Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(s.prefix+key), "=", at)).
		Then(clientv3.OpPut(s.prefix+key, string(value))).
		Commit()
	switch {
	case err != nil:
		return "", s.failed("put", key, err)
	case !answer.Succeeded && answer.Header.GetRevision() > 0:
		return "", lease.ErrConflict
	case answer.Succeeded && answer.Header.GetRevision() > at && len(answer.Responses) == 1:
		return revision(answer.Header.GetRevision()), nil
	}
	return "", s.failed("put", key, errForeign)
}

// Delete implements lease.Store.
func (s *Store) Delete(ctx context.Context, key, ifRevision string) error {
	at, err := number(ifRevision)
	if err != nil {
		return err
	}
	client, err := s.connection.Get(ctx)
	if err != nil {
		return err
	}
	answer, err := client.Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(s.prefix+key), "=", at)).
		Then(clientv3.OpDelete(s.prefix + key)).
		Else(clientv3.OpGet(s.prefix+key, clientv3.WithCountOnly())).
		Commit()
	switch {
	case err != nil:
		return s.failed("delete", key, err)
	case answer.Header.GetRevision() <= 0 || len(answer.Responses) != 1:
		return s.failed("delete", key, errForeign)
	case answer.Succeeded && answer.Responses[0].GetResponseDeleteRange().Deleted == 1:
		return nil
	case answer.Succeeded || answer.Responses[0].GetResponseRange().Count == 0:
		return lease.ErrNotFound
	}
	return lease.ErrConflict
}

// List implements lease.Store.
func (s *Store) List(ctx context.Context, prefix string) ([]lease.Record, error) {
	client, err := s.connection.Get(ctx)
	if err != nil {
		return nil, err
	}
	var records []lease.Record
	from, end := s.prefix+prefix, clientv3.GetPrefixRangeEnd(s.prefix+prefix)
	if from == "" {
		from = "\x00" // the first key there can be
	}
	for {
		answer, err := client.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(page))
		if err == nil && (answer.Header.GetRevision() <= 0 || answer.More && len(answer.Kvs) == 0) {
			err = errForeign
		}
		if err != nil {
			return nil, s.failed("list", prefix, err)
		}
		for _, kv := range answer.Kvs {
			if string(kv.Key) < from || !strings.HasPrefix(string(kv.Key), s.prefix+prefix) {
				return nil, s.failed("list", prefix, errForeign)
			}
			records = append(records, lease.Record{
				Key: strings.TrimPrefix(string(kv.Key), s.prefix), Value: kv.Value, Revision: revision(kv.ModRevision),
			})
		}
		if !answer.More {
			return records, nil
		}
		from = string(answer.Kvs[len(answer.Kvs)-1].Key) + "\x00"
	}
}

func (s *Store) failed(verb, key string, err error) error {
	return fmt.Errorf("%s key %q: %w", verb, s.prefix+key, err)
}

func revision(n int64) string { return strconv.FormatInt(n, 10) }

// number is the inverse of revision. It returns 0, the mod revision of a key that
// does not exist, for no revision.
func number(revision string) (int64, error) {
	if revision == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(revision, 10, 64)
	if err != nil || n <= 0 {
		return 0, lease.ErrConflict // none of etcd's: no version has it
	}
	return n, nil
}
