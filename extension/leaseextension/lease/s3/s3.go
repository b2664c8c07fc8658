// Package s3 is the lease backend on an S3 bucket alone: one object per
// register, created with If-None-Match and replaced with If-Match.
//
// A register's revision is its object's ETag. Equal bytes have equal ETags, so
// two versions are told apart only because every record carries a random write
// id; a store that does not honour the conditions (some do not) is no backend.
//
// No answer counts because of its status alone: a proxy may have made it up. A
// write counts if the answer proves the value, see s3client.Answer. A value that
// was read counts if the answer proves it, or if it has the hash that was written
// beside it into the object's metadata. A bucket that encrypts with a key of KMS
// has ETags that prove nothing: without checksums each write is then read back.
package s3

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"golang.org/x/sync/errgroup"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/internal/s3client"
)

// maxValue is the largest object that is read as a register.
const maxValue = 1 << 20

// listers is how many objects List reads at once.
const listers = 8

// Store is a lease.Store in a bucket.
type Store struct {
	client *s3.Client
	bucket string
	prefix string // ends with a slash unless empty
	refine []func(*s3.PutObjectInput)
}

// New returns a store on the objects below prefix in bucket. refine may add to
// each PUT what the bucket needs, such as encryption.
func New(client *s3.Client, bucket, prefix string, refine ...func(*s3.PutObjectInput)) *Store {
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		prefix += "/"
	}
	return &Store{client: client, bucket: bucket, prefix: prefix, refine: refine}
}

// Get implements lease.Store.
func (s *Store) Get(ctx context.Context, key string) (lease.Record, error) {
	name, _ := objectNameOf(key)
	rec, _, err := s.read(ctx, name)
	rec.Key = key
	return rec, err
}

func (s *Store) read(ctx context.Context, name string) (lease.Record, map[string]string, error) {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: aws.String(s.prefix + name)})
	if err != nil {
		return lease.Record{}, nil, s.failed("get", name, err)
	}
	defer out.Body.Close()
	value, err := io.ReadAll(io.LimitReader(out.Body, maxValue+1))
	if err != nil {
		return lease.Record{}, nil, s.failed("get", name, err)
	}
	if len(value) > maxValue {
		return lease.Record{}, nil, s.failed("get", name, fmt.Errorf("more than %d bytes: not a lease", maxValue))
	}
	revision, err := strong(out.ETag)
	if err == nil && out.Metadata[hashMetadata] != hashOf(value) {
		err = s3client.GetAnswer(out).Proves(value)
	}
	if err != nil {
		return lease.Record{}, nil, s.failed("get", name, err)
	}
	return lease.Record{Value: value, Revision: revision}, out.Metadata, nil
}

// strong returns an ETag that can be asked for by If-Match.
func strong(etag *string) (string, error) {
	switch e := aws.ToString(etag); {
	case e == "":
		return "", errors.New("the answer has no ETag: it is not the store's, or something on the way takes it off")
	case strings.HasPrefix(e, "W/"):
		return "", fmt.Errorf("the answer has the weak ETag %q: something on the way changes answers, such as a proxy that compresses them", e)
	default:
		return e, nil
	}
}

// Put implements lease.Store.
//
// 412 means that the condition does not hold, which a retry of the SDK meets
// also after its own first try was applied. 409 means that another conditional
// write was at work: the outcome is unknown, as after every other error.
//
// Crash before this: the old version. Crash after it: the new one. There is no
// version in between, S3 replaces objects whole.
func (s *Store) Put(ctx context.Context, key string, value []byte, ifRevision string) (string, error) {
	name, cut := objectNameOf(key)
	in := &s3.PutObjectInput{
		Bucket:        &s.bucket,
		Key:           aws.String(s.prefix + name),
		Body:          bytes.NewReader(value),
		ContentLength: aws.Int64(int64(len(value))),
		ContentType:   aws.String("application/json"),
		Metadata:      map[string]string{hashMetadata: hashOf(value)},
	}
	if cut {
		in.Metadata[nameMetadata] = base64.RawURLEncoding.EncodeToString([]byte(key))
	}
	if ifRevision == "" {
		in.IfNoneMatch = aws.String("*")
	} else {
		in.IfMatch = &ifRevision
	}
	for _, refine := range s.refine {
		refine(in)
	}
	out, err := s.client.PutObject(ctx, in)
	if err != nil {
		if err = s.failed("put", name, err); errors.Is(err, lease.ErrNotFound) {
			err = lease.ErrConflict
		}
		return "", err
	}
	revision, err := strong(out.ETag)
	if err == nil {
		err = s3client.PutAnswer(out).Proves(value)
	}
	if err != nil {
		return "", s.failed("put", name, err)
	}
	return revision, nil
}

// Delete implements lease.Store.
func (s *Store) Delete(ctx context.Context, key, ifRevision string) error {
	name, _ := objectNameOf(key)
	// S3 answers a delete of nothing with success: ask first.
	rec, _, err := s.read(ctx, name)
	if err != nil {
		return err
	}
	if rec.Revision != ifRevision {
		return lease.ErrConflict
	}
	_, err = s.client.DeleteObject(ctx, &s3.DeleteObjectInput{
		Bucket: &s.bucket, Key: aws.String(s.prefix + name), IfMatch: &ifRevision,
	})
	if err != nil {
		return s.failed("delete", name, err)
	}
	// The answer is empty, and so proves nothing.
	switch _, _, err = s.read(ctx, name); {
	case errors.Is(err, lease.ErrNotFound):
		return nil
	case err == nil:
		err = errors.New("the store says that it is deleted, and it is there")
	}
	return fmt.Errorf("look after deletion: %w", err)
}

// List implements lease.Store. Objects that are not registers are left out.
func (s *Store) List(ctx context.Context, prefix string) ([]lease.Record, error) {
	names, err := s.names(ctx, prefix)
	if err != nil {
		return nil, err
	}
	records := make([]lease.Record, len(names))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(listers)
	for i, name := range names {
		work.Go(func() error {
			rec, metadata, err := s.read(ctx, name)
			if errors.Is(err, lease.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			if key, ok := keyOf(name, metadata); ok {
				rec.Key = key
				records[i] = rec
			}
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	records = slices.DeleteFunc(records, func(r lease.Record) bool {
		return r.Key == "" || !strings.HasPrefix(r.Key, prefix)
	})
	slices.SortFunc(records, func(a, b lease.Record) int { return cmp.Compare(a.Key, b.Key) })
	return records, nil
}

// names returns the object names below the store's prefix that may belong to
// registers whose name starts with prefix.
func (s *Store) names(ctx context.Context, prefix string) ([]string, error) {
	var names []string
	pages := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{
		Bucket: &s.bucket, Prefix: aws.String(s.prefix + listPrefix(prefix)), Delimiter: aws.String("/"),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list %q in bucket %q: %w", s.prefix, s.bucket, err)
		}
		if aws.ToString(page.Name) == "" {
			return nil, fmt.Errorf("list %q in bucket %q: the answer names no bucket: it is no listing", s.prefix, s.bucket)
		}
		for _, object := range page.Contents {
			name := strings.TrimPrefix(aws.ToString(object.Key), s.prefix)
			if strings.HasSuffix(name, suffix) {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// failed turns an answer of S3 into the errors of lease.Store.
func (s *Store) failed(verb, name string, err error) error {
	var api smithy.APIError
	if errors.As(err, &api) && api.ErrorCode() == "NoSuchKey" {
		return lease.ErrNotFound
	}
	var status interface{ HTTPStatusCode() int }
	if errors.As(err, &status) && status.HTTPStatusCode() == http.StatusPreconditionFailed {
		return lease.ErrConflict
	}
	return fmt.Errorf("%s object %q in bucket %q: %w", verb, s.prefix+name, s.bucket, err)
}
