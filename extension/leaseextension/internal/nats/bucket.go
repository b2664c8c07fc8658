package nats

import (
	"context"
	"errors"
	"fmt"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The layout of KV buckets.
const (
	streamPrefix  = "KV_"
	subjectPrefix = "$KV."
)

// connection is a connection whose bucket is known to be there.
type connection struct {
	nats      *natsgo.Conn
	jetstream jetstream.JetStream
	bucket    jetstream.Stream
}

// open finds the bucket, or makes it.
//
// Crash before this: no bucket. Crash after it: an empty one.
func open(ctx context.Context, conn *natsgo.Conn, cfg Config) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, fmt.Errorf("use JetStream: %w", err)
	}
	stream, err := find(ctx, js, cfg)
	if err != nil {
		return nil, fmt.Errorf("open bucket %q: %w", cfg.Bucket, err)
	}
	return &connection{nats: conn, jetstream: js, bucket: stream}, nil
}

// find finds the bucket, or makes it.
//
// Crash before this: no bucket. Crash after it: one without registers, which
// the next process finds.
func find(ctx context.Context, js jetstream.JetStream, cfg Config) (jetstream.Stream, error) {
	name := streamPrefix + cfg.Bucket
	stream, err := js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		stream, err = js.CreateStream(ctx, layout(cfg))
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another process was faster, with other settings
			stream, err = js.Stream(ctx, name)
		}
	}
	if err != nil {
		return nil, err
	}
	made := stream.CachedInfo().Config
	if made.Name != name {
		return nil, fmt.Errorf("the answer is about stream %q", made.Name)
	}
	return stream, keeps(made)
}

// layout is that of a KV bucket, except that followers do not answer reads.
func layout(cfg Config) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:              streamPrefix + cfg.Bucket,
		Description:       "leases",
		Subjects:          []string{subjectPrefix + cfg.Bucket + ".>"},
		MaxMsgsPerSubject: 1,
		MaxMsgs:           -1,
		MaxBytes:          -1,
		MaxMsgSize:        -1,
		MaxConsumers:      -1,
		Replicas:          cfg.Replicas,
		Storage:           jetstream.FileStorage,
		Discard:           jetstream.DiscardNew,
		AllowRollup:       true,
		DenyDelete:        true,
	}
}

// keeps tells why the bucket would lose registers by itself.
func keeps(c jetstream.StreamConfig) error {
	switch {
	case c.MaxAge > 0:
		return fmt.Errorf("it drops values after %v: leases need a bucket without a TTL", c.MaxAge)
	case c.Discard != jetstream.DiscardNew && (c.MaxBytes > 0 || c.MaxMsgs > 0):
		return errors.New("it drops values when it is full: leases need a bucket that refuses new ones")
	}
	return nil
}
