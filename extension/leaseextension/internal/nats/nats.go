// Package nats is the lease backend on a JetStream KV bucket: one key per
// register, written with the expected sequence of its subject.
//
// A revision is the bucket's sequence of the write, which grows with every write
// to any key. A removed register leaves a delete marker, as KV clients leave it;
// creating it again replaces the marker.
//
// Reads are answered by the leader of the bucket. KV clients ask any server that
// has a copy, which may lag.
//
// Anything that is subscribed may answer a request. An answer counts only if it
// names the bucket or the key that was asked for, and a write only if its number
// is behind the one that was replaced. A key is missing only if the server says so
// by its code.
package nats

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/s3window/s3window/extension/leaseextension/internal/dial"
	"github.com/s3window/s3window/extension/leaseextension/lease"
)

const (
	operation = "KV-Operation" // header of markers
	deleted   = "DEL"

	askTries   = 10
	askTimeout = 500 * time.Millisecond

	// publishTimeout is how long an acknowledgement may take. The client does
	// not notice that one was lost with its connection.
	publishTimeout = 2 * time.Second

	// listers is how many registers List reads at once.
	listers = 8
)

// Store is a lease.Store in a KV bucket.
type Store struct {
	cfg        Config
	connection *dial.Lazy[*connection]
	stream     string
	subject    string // of the bucket; ends with a dot
}

// Get implements lease.Store.
func (s *Store) Get(ctx context.Context, key string) (lease.Record, error) {
	conn, err := s.connection.Get(ctx)
	if err != nil {
		return lease.Record{}, err
	}
	found, err := s.last(ctx, conn, key)
	switch {
	case err != nil:
		return lease.Record{}, err
	case found.sequence == 0 || found.marker:
		return lease.Record{}, lease.ErrNotFound
	}
	return lease.Record{Key: key, Value: found.data, Revision: strconv.FormatUint(found.sequence, 10)}, nil
}

// message is the last one of a subject.
type message struct {
	sequence uint64 // 0: there is none
	marker   bool
	data     []byte
}

// last asks the leader, whatever the bucket allows others to answer.
func (s *Store) last(ctx context.Context, conn *connection, key string) (message, error) {
	ask, err := json.Marshal(map[string]string{"last_by_subj": s.subject + escape(key)})
	if err != nil {
		return message{}, err
	}
	answer, err := s.ask(ctx, conn, "$JS.API.STREAM.MSG.GET."+s.stream, ask)
	if err != nil {
		return message{}, s.failed("get", key, err)
	}
	var got struct {
		Error   *jetstream.APIError `json:"error"`
		Message *struct {
			Subject  string `json:"subject"`
			Sequence uint64 `json:"seq"`
			Header   []byte `json:"hdrs"`
			Data     []byte `json:"data"`
		} `json:"message"`
	}
	if err := json.Unmarshal(answer.Data, &got); err != nil {
		return message{}, s.failed("get", key, err)
	}
	switch {
	case got.Error != nil && got.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return message{}, nil
	case got.Error != nil && got.Error.ErrorCode == jetstream.JSErrCodeStreamNotFound:
		return message{}, s.remake(ctx, conn)
	case got.Error != nil:
		return message{}, s.failed("get", key, got.Error)
	case got.Message == nil || got.Message.Sequence == 0 || got.Message.Subject != s.subject+escape(key):
		return message{}, s.failed("get", key, errors.New("the answer has no message of the key"))
	}
	found := message{sequence: got.Message.Sequence, data: got.Message.Data}
	if len(got.Message.Header) > 0 {
		header, err := natsgo.DecodeHeadersMsg(got.Message.Header)
		if err != nil {
			return message{}, s.failed("get", key, err)
		}
		found.marker = header.Get(operation) != "" // DEL, or PURGE by hand
	}
	return found, nil
}

// remake makes the bucket again under a connection that has seen it: servers
// that lost their data come back without one.
func (s *Store) remake(ctx context.Context, conn *connection) error {
	if _, err := find(ctx, conn.jetstream, s.cfg); err != nil {
		return fmt.Errorf("make bucket %q again: %w", s.cfg.Bucket, err)
	}
	return nil
}

// ask sends a request again when no answer comes: while a bucket has no leader,
// servers drop what only the leader answers.
func (s *Store) ask(ctx context.Context, conn *connection, subject string, body []byte) (answer *natsgo.Msg, err error) {
	for range askTries {
		patience, cancel := context.WithTimeout(ctx, askTimeout)
		answer, err = conn.nats.RequestWithContext(patience, subject, body)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return answer, err
		}
	}
	return answer, err
}

// Put implements lease.Store.
//
// Crash before this: the old version. Crash after it: the new one, on a majority
// of the bucket's replicas, and on their disks as soon as the servers sync.
func (s *Store) Put(ctx context.Context, key string, value []byte, ifRevision string) (string, error) {
	at, err := number(ifRevision)
	if err != nil {
		return "", err
	}
	conn, err := s.connection.Get(ctx)
	if err != nil {
		return "", err
	}
	msg := natsgo.NewMsg(s.subject + escape(key))
	msg.Data = value
	revision, err := s.publish(ctx, conn, key, msg, at)
	if at != 0 || !errors.Is(err, lease.ErrConflict) {
		return revision, err
	}
	found, lookErr := s.last(ctx, conn, key)
	switch {
	case lookErr != nil:
		return "", lookErr
	case !found.marker:
		return "", lease.ErrConflict
	}
	return s.publish(ctx, conn, key, msg, found.sequence)
}

// publish sends a message that stays if its subject's last one is number at.
func (s *Store) publish(ctx context.Context, conn *connection, key string, msg *natsgo.Msg, at uint64) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	ack, err := conn.jetstream.PublishMsg(ctx, msg, jetstream.WithExpectLastSequencePerSubject(at), jetstream.WithExpectStream(s.stream))
	switch {
	case err == nil && (ack.Stream != s.stream || ack.Sequence <= at):
		return "", s.failed("put", key, fmt.Errorf("the answer says number %d of stream %q, which cannot be", ack.Sequence, ack.Stream))
	case err == nil:
		return strconv.FormatUint(ack.Sequence, 10), nil
	}
	var api *jetstream.APIError
	if errors.As(err, &api) && slices.Contains([]jetstream.ErrorCode{
		jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant, // of one server, of a cluster
	}, api.ErrorCode) {
		return "", lease.ErrConflict
	}
	return "", s.failed("put", key, err)
}

// Delete implements lease.Store.
func (s *Store) Delete(ctx context.Context, key, ifRevision string) error {
	at, err := number(ifRevision)
	if err != nil {
		return err
	}
	conn, err := s.connection.Get(ctx)
	if err != nil {
		return err
	}
	found, err := s.last(ctx, conn, key)
	switch {
	case err != nil:
		return err
	case found.sequence == 0 || found.marker:
		return lease.ErrNotFound
	case found.sequence != at:
		return lease.ErrConflict
	}
	marker := natsgo.NewMsg(s.subject + escape(key))
	marker.Header.Set(operation, deleted)
	_, err = s.publish(ctx, conn, key, marker, at)
	return err
}

// List implements lease.Store. Keys that are not registers are left out.
func (s *Store) List(ctx context.Context, prefix string) ([]lease.Record, error) {
	conn, err := s.connection.Get(ctx)
	if err != nil {
		return nil, err
	}
	info, err := conn.bucket.Info(ctx, jetstream.WithSubjectFilter(s.subject+">"))
	if err == nil && info.Config.Name != s.stream {
		err = fmt.Errorf("the answer is about stream %q", info.Config.Name)
	}
	if err != nil {
		return nil, s.failed("list", prefix, err)
	}
	var keys []string
	for subject := range info.State.Subjects {
		if key, ok := unescape(strings.TrimPrefix(subject, s.subject)); ok && strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	records := make([]lease.Record, len(keys))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(listers)
	for i, key := range keys {
		work.Go(func() error {
			rec, err := s.Get(ctx, key)
			if err != nil && !errors.Is(err, lease.ErrNotFound) {
				return err
			}
			records[i] = rec
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	records = slices.DeleteFunc(records, func(r lease.Record) bool { return r.Key == "" })
	slices.SortFunc(records, func(a, b lease.Record) int { return cmp.Compare(a.Key, b.Key) })
	return records, nil
}

func (s *Store) failed(verb, key string, err error) error {
	if errors.Is(err, natsgo.ErrReconnectBufExceeded) { // that it may not keep what it cannot send
		err = errors.New("no server is connected")
	}
	return fmt.Errorf("%s key %q of stream %q: %w", verb, key, s.stream, err)
}

// number is the inverse of a revision. It returns 0, the number before every
// message, for no revision.
func number(revision string) (uint64, error) {
	if revision == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(revision, 10, 64)
	if err != nil || n == 0 {
		return 0, lease.ErrConflict // none of JetStream's: no version has it
	}
	return n, nil
}
