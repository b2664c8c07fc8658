package redislease

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/s3window/s3window/extension/leaseextension/lease"
)

const (
	fieldValue    = "value"
	fieldRevision = "revision"

	// page is about how many keys one SCAN looks at.
	page = 1000
)

// Scripts run alone in the server: nothing comes between the comparison and the
// write. They answer one of these numbers, or the revision that they wrote or
// deleted, which only the server that ran them knows.
const (
	conflict = int64(0)
	missing  = int64(-1)

	putScript = `local at = redis.call('HGET', KEYS[1], 'revision')
if (at or '') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'value', ARGV[2], 'revision', ARGV[3])
return redis.call('HGET', KEYS[1], 'revision')`

	deleteScript = `local at = redis.call('HGET', KEYS[1], 'revision')
if not at then return -1 end
if at ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
return at`
)

// Store is a lease.Store in a Redis or Valkey server: one hash per
// register.
//
// A revision is drawn at random by every write: after a server has lost writes in
// a failover, no new write has the revision of a lost one.
type Store struct {
	client redis.UniversalClient
	prefix string
}

// Get implements lease.Store. It reads from the master.
func (s *Store) Get(ctx context.Context, key string) (lease.Record, error) {
	answer, err := s.client.HMGet(ctx, s.prefix+key, fieldValue, fieldRevision).Result()
	if err != nil {
		return lease.Record{}, s.failed("get", key, err)
	}
	if len(answer) != 2 {
		return lease.Record{}, s.failed("get", key, fmt.Errorf("the answer has %d fields, 2 were asked for", len(answer)))
	}
	if answer[0] == nil && answer[1] == nil {
		return lease.Record{}, lease.ErrNotFound
	}
	value, valued := answer[0].(string)
	revision, revised := answer[1].(string)
	if !valued || !revised || revision == "" {
		return lease.Record{}, s.failed("get", key, errors.New("it is no lease: its value or revision is missing"))
	}
	return lease.Record{Key: key, Value: []byte(value), Revision: revision}, nil
}

// Put implements lease.Store.
//
// Crash before this: the old version. Crash after it: the new one, if the server
// syncs every write (appendfsync always) and its place is not taken by a replica
// that has not seen it.
func (s *Store) Put(ctx context.Context, key string, value []byte, ifRevision string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	revision := rand.Text()
	if err := s.run(ctx, putScript, key, revision, ifRevision, value, revision); err != nil {
		return "", s.failed("put", key, err)
	}
	return revision, nil
}

// run runs a script on the register's key, which must answer want.
func (s *Store) run(ctx context.Context, script, key, want string, arguments ...any) error {
	answer, err := redis.NewScript(script).Run(ctx, s.client, []string{s.prefix + key}, arguments...).Result()
	switch {
	case err != nil:
		return err
	case answer == want:
		return nil
	case answer == conflict:
		return lease.ErrConflict
	case answer == missing:
		return lease.ErrNotFound
	}
	return fmt.Errorf("the answer %.40q is not the script's", fmt.Sprint(answer))
}

// Delete implements lease.Store.
func (s *Store) Delete(ctx context.Context, key, ifRevision string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.run(ctx, deleteScript, key, ifRevision, ifRevision); err != nil {
		return s.failed("delete", key, err)
	}
	return nil
}

// List implements lease.Store. It scans every key of the database.
func (s *Store) List(ctx context.Context, prefix string) ([]lease.Record, error) {
	keys, err := s.keys(ctx, s.prefix+prefix)
	if err != nil {
		return nil, s.failed("list", prefix, err)
	}
	var records []lease.Record
	for _, key := range keys {
		rec, err := s.Get(ctx, strings.TrimPrefix(key, s.prefix))
		if errors.Is(err, lease.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		records = append(records, rec)
	}
	slices.SortFunc(records, func(a, b lease.Record) int { return cmp.Compare(a.Key, b.Key) })
	return records, nil
}

// keys returns the keys that start with prefix, of all masters, each once.
func (s *Store) keys(ctx context.Context, prefix string) ([]string, error) {
	var mu sync.Mutex
	found := map[string]bool{}
	scan := func(ctx context.Context, node redis.Cmdable) error {
		keys := node.ScanType(ctx, 0, literal(prefix)+"*", page, "hash").Iterator()
		for keys.Next(ctx) {
			mu.Lock()
			found[keys.Val()] = true
			mu.Unlock()
		}
		return keys.Err()
	}
	var err error
	if cluster, ok := s.client.(*redis.ClusterClient); ok {
		err = cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error { return scan(ctx, node) })
	} else {
		err = scan(ctx, s.client)
	}
	keys := make([]string, 0, len(found))
	for key := range found {
		keys = append(keys, key)
	}
	return keys, err
}

// literal is the pattern that matches s alone.
func literal(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `^`, `\^`, `-`, `\-`).Replace(s)
}

func (s *Store) failed(verb, key string, err error) error {
	return fmt.Errorf("%s key %q: %w", verb, s.prefix+key, err)
}
