package lake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/s3window/s3window/internal/s3client"
)

const (
	mib                 = 1 << 20
	minPartSize         = 5 * mib // S3 refuses smaller ones, but for the last
	defaultPartSize     = 16 * mib
	defaultThreshold    = 64 * mib
	defaultPartsInTurn  = 4
	maxParts            = 10_000
	defaultAbortTimeout = 30 * time.Second
)

// S3Options says how an S3 bucket is used.
type S3Options struct {
	// Settings name the bucket and what stands on every put: encryption,
	// storage class, checksum.
	Settings s3client.Config
	// Threshold is the size from which an object goes up in parts; 0 = 64 MiB.
	Threshold int64
	// PartSize is the size of a part; 0 = 16 MiB, and never below 5 MiB. It
	// grows where an object would have more than 10,000 parts.
	PartSize int64
	// Step is called between the parts of an upload, with "lake:put-part done";
	// it may be nil. Crash drills kill the process there.
	Step func(label string)
}

// S3 is a Bucket at an S3 store. Its requests end when the store does not
// answer: the client's connections see to that.
type S3 struct {
	client *s3.Client
	o      S3Options
	bucket *string

	mu         sync.Mutex // guards unfinished
	unfinished map[string]upload
}

// NewS3 makes the bucket that o.Settings names, over a client of package
// s3client. It does no I/O.
func NewS3(client *s3.Client, o S3Options) *S3 {
	if o.Threshold <= 0 {
		o.Threshold = defaultThreshold
	}
	if o.PartSize <= 0 {
		o.PartSize = defaultPartSize
	}
	o.PartSize = max(o.PartSize, minPartSize)
	if o.Step == nil {
		o.Step = func(string) {}
	}
	return &S3{client: client, o: o, bucket: aws.String(o.Settings.Bucket), unfinished: map[string]upload{}}
}

// condition is what a put requires of the key: that it is absent, or that its
// ETag is match.
type condition struct{ match string }

func (c condition) ifNoneMatch() *string {
	if c.match == "" {
		return aws.String("*")
	}
	return nil
}

func (c condition) ifMatch() *string {
	if c.match == "" {
		return nil
	}
	return aws.String(c.match)
}

// PutIfAbsent implements Bucket.
func (b *S3) PutIfAbsent(ctx context.Context, key string, body Body) error {
	return b.put(ctx, key, body, condition{})
}

// Replace implements Bucket.
func (b *S3) Replace(ctx context.Context, key string, body Body, etag string) error {
	if etag == "" {
		return errors.New("replace: the version to replace has no ETag")
	}
	return b.put(ctx, key, body, condition{match: etag})
}

func (b *S3) put(ctx context.Context, key string, body Body, cond condition) error {
	if body.Size >= b.o.Threshold {
		return b.putParts(ctx, key, body, cond)
	}
	out, err := b.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: b.bucket, Key: aws.String(key), Body: body.Reader(), ContentLength: aws.Int64(body.Size),
		ContentType: optional(body.ContentType), Metadata: body.Metadata,
		IfNoneMatch: cond.ifNoneMatch(), IfMatch: cond.ifMatch(),
		ChecksumAlgorithm: b.o.Settings.Algorithm(), StorageClass: types.StorageClass(b.o.Settings.StorageClass),
		ServerSideEncryption: types.ServerSideEncryption(b.o.Settings.SSE), SSEKMSKeyId: optional(b.o.Settings.SSEKMSKeyID),
	})
	if err != nil {
		return cond.outcome(err)
	}
	return s3client.PutAnswer(out).Proves(body.Segments...)
}

// outcome turns the store's refusals into the errors of Bucket.
func (c condition) outcome(err error) error {
	switch status, code := statusOf(err); {
	case err == nil:
		return nil
	case status == http.StatusPreconditionFailed && c.match == "":
		return fmt.Errorf("%w: %w", ErrExists, err)
	case status == http.StatusPreconditionFailed, c.match != "" && code == "NoSuchKey":
		return fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return err
}

// Open implements Bucket. What the store says of the content's checksum is not
// checked: readers have a hash of their own, and a torn object must be seen as
// it is.
func (b *S3) Open(ctx context.Context, key string) (io.ReadCloser, Info, error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: b.bucket, Key: aws.String(key)}, func(o *s3.Options) {
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	})
	if err != nil {
		return nil, Info{}, absent(err)
	}
	if aws.ToString(out.ETag) == "" {
		out.Body.Close()
		return nil, Info{}, fmt.Errorf("%w: it has no ETag: something between here and the store made it up", s3client.ErrUnproven)
	}
	return out.Body, Info{
		Key: key, ETag: aws.ToString(out.ETag), Size: aws.ToInt64(out.ContentLength),
		Metadata: out.Metadata, ModTime: aws.ToTime(out.LastModified),
	}, nil
}

// Stat implements Bucket. The answer to a HEAD has no body: a 404 does not say
// whether the object or the whole bucket is missing, nor a 403 why. A GET does.
func (b *S3) Stat(ctx context.Context, key string) (Info, error) {
	info, err := b.head(ctx, key)
	if status, _ := statusOf(err); status/100 != 4 {
		return info, err
	}
	r, info, err := b.Open(ctx, key)
	if err != nil {
		return Info{}, err
	}
	r.Close()
	return info, nil
}

func (b *S3) head(ctx context.Context, key string) (Info, error) {
	out, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: b.bucket, Key: aws.String(key)})
	if err != nil {
		return Info{}, err
	}
	return Info{
		Key: key, ETag: aws.ToString(out.ETag), Size: aws.ToInt64(out.ContentLength),
		Metadata: out.Metadata, ModTime: aws.ToTime(out.LastModified),
	}, nil
}

// List implements Bucket.
func (b *S3) List(ctx context.Context, prefix, after string, visit func(Info) error) error {
	in := &s3.ListObjectsV2Input{Prefix: aws.String(prefix), StartAfter: optional(after)}
	return b.pages(ctx, in, func(page *s3.ListObjectsV2Output) error {
		for _, o := range page.Contents {
			if aws.ToString(o.Key) <= after {
				continue // a store that does not know StartAfter
			}
			if err := visit(Info{
				Key: aws.ToString(o.Key), ETag: aws.ToString(o.ETag),
				Size: aws.ToInt64(o.Size), ModTime: aws.ToTime(o.LastModified),
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

// Dirs implements Bucket.
func (b *S3) Dirs(ctx context.Context, prefix string, visit func(dir string) error) error {
	in := &s3.ListObjectsV2Input{Prefix: aws.String(prefix), Delimiter: aws.String("/")}
	return b.pages(ctx, in, func(page *s3.ListObjectsV2Output) error {
		for _, c := range page.CommonPrefixes {
			if err := visit(aws.ToString(c.Prefix)); err != nil {
				return err
			}
		}
		return nil
	})
}

// pages visits the answers of a listing.
func (b *S3) pages(ctx context.Context, in *s3.ListObjectsV2Input, visit func(*s3.ListObjectsV2Output) error) error {
	in.Bucket = b.bucket
	pages := s3.NewListObjectsV2Paginator(b.client, in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		if page.Name == nil { // an empty answer is none that there is nothing
			return fmt.Errorf("%w: it names no bucket: something between here and the store made it up", s3client.ErrUnproven)
		}
		if err := visit(page); err != nil {
			return err
		}
	}
	return nil
}

// Delete implements Bucket.
func (b *S3) Delete(ctx context.Context, key string) error {
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: b.bucket, Key: aws.String(key)})
	if _, code := statusOf(err); code == "NoSuchKey" {
		return nil
	}
	return err
}

// absent makes ErrNotExist of the store's word for it. A missing bucket is
// another thing.
func absent(err error) error {
	if _, code := statusOf(err); code == "NoSuchKey" {
		return fmt.Errorf("%w: %w", ErrNotExist, err)
	}
	return err
}

// statusOf returns the HTTP status and the store's code that err carries.
func statusOf(err error) (status int, code string) {
	var response interface{ HTTPStatusCode() int }
	if errors.As(err, &response) {
		status = response.HTTPStatusCode()
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		code = api.ErrorCode()
	}
	return status, code
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
