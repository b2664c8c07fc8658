package lake

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"github.com/s3window/s3window/internal/s3client"
)

// maxUnfinished is how many uploads of unknown outcome are remembered.
const maxUnfinished = 64

// upload is a multipart upload whose parts are in the store.
type upload struct {
	id      *string
	parts   []types.CompletedPart
	answers []s3client.Answer // to the parts
	sum     [sha256.Size]byte // of the object
}

// putParts puts the object in parts that are cut out of the body's segments
// and sent a few at a time. The condition is checked first, because a refusal
// after the last part would cost the whole transfer, and again when the parts
// become the object, because only that counts.
//
// An upload that cannot become the object any more is aborted. One whose
// outcome is unknown is not: it may be the object by now. The next call with the
// same body completes it again, and sends no part twice.
//
// Crash before this: nothing. Crash in it: parts without an object, which cost
// storage until the same key is put again, or a lifecycle rule ends them.
// Crash after it: the object is whole.
func (b *S3) putParts(ctx context.Context, key string, body Body, cond condition) error {
	if err := b.refused(ctx, key, cond); err != nil {
		return err
	}
	u, err := b.uploaded(ctx, key, body)
	if err == nil {
		err = b.completeUpload(ctx, key, u, body, cond)
		switch {
		case err == nil:
		case decided(err):
			b.abort(ctx, key, u.id)
		default:
			b.remember(key, u)
		}
	}
	if _, code := statusOf(err); code == "NoSuchUpload" {
		err = cmp.Or(b.refused(ctx, key, cond), err) // another put of this key ended it, or it was completed before
	}
	if err == nil || errors.Is(err, ErrExists) {
		b.abortOthers(ctx, key)
	}
	return err
}

// decided says that the store has refused, so that the upload did not become
// the object and never will.
func decided(err error) bool {
	status, _ := statusOf(err)
	return status/100 == 4 && status != http.StatusRequestTimeout && status != http.StatusTooManyRequests
}

// refused says whether the condition fails already.
func (b *S3) refused(ctx context.Context, key string, cond condition) error {
	info, err := b.head(ctx, key)
	switch {
	case err != nil || info.ETag == "":
		return nil // absent, or a store in trouble: the upload will say
	case cond.match == "":
		b.abortOthers(ctx, key)
		return ErrExists
	case cond.match != info.ETag:
		return ErrChanged
	}
	return nil
}

// uploaded returns an upload with all parts of body in the store: one that an
// earlier call has remembered, or a new one. An error leaves none behind.
func (b *S3) uploaded(ctx context.Context, key string, body Body) (upload, error) {
	if u, ok := b.recall(key); ok && u.sum == body.SHA256 {
		return u, nil
	}
	id, err := b.createUpload(ctx, key, body)
	if err != nil {
		return upload{}, err
	}
	u := upload{id: id, sum: body.SHA256}
	if err := b.uploadParts(ctx, key, &u, body); err != nil {
		b.abort(ctx, key, id)
		return upload{}, err
	}
	return u, nil
}

func (b *S3) remember(key string, u upload) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for other := range b.unfinished {
		if len(b.unfinished) < maxUnfinished {
			break
		}
		delete(b.unfinished, other) // any: abortOthers frees it
	}
	b.unfinished[key] = u
}

func (b *S3) recall(key string) (upload, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	u, ok := b.unfinished[key]
	delete(b.unfinished, key)
	return u, ok
}

func (b *S3) createUpload(ctx context.Context, key string, body Body) (*string, error) {
	out, err := b.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: b.bucket, Key: aws.String(key),
		ContentType: optional(body.ContentType), Metadata: body.Metadata,
		ChecksumAlgorithm: b.o.Settings.Algorithm(), StorageClass: types.StorageClass(b.o.Settings.StorageClass),
		ServerSideEncryption: types.ServerSideEncryption(b.o.Settings.SSE), SSEKMSKeyId: optional(b.o.Settings.SSEKMSKeyID),
	})
	if err != nil {
		return nil, err
	}
	if aws.ToString(out.UploadId) == "" {
		return nil, fmt.Errorf("begin upload: %w: it has no upload id", s3client.ErrUnproven)
	}
	return out.UploadId, nil
}

func (b *S3) uploadParts(ctx context.Context, key string, u *upload, body Body) error {
	size := b.partSize(body.Size)
	n := int((body.Size + size - 1) / size)
	u.parts, u.answers = make([]types.CompletedPart, n), make([]s3client.Answer, n)
	var left atomic.Int64
	left.Store(int64(n))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(defaultPartsInTurn)
	for i := range n {
		segments := body.cut(int64(i)*size, size)
		group.Go(func() error {
			out, err := b.uploadPart(ctx, key, u.id, int32(i+1), segments)
			if err != nil {
				return err
			}
			u.parts[i], u.answers[i] = completedPart(i+1, out), s3client.PartAnswer(out)
			if left.Add(-1) > 0 {
				b.o.Step("lake:put-part done")
			}
			return nil
		})
	}
	return group.Wait()
}

// partSize is the configured one, or what keeps an object of n bytes within
// the number of parts an upload may have.
func (b *S3) partSize(n int64) int64 {
	return max(b.o.PartSize, (n+maxParts-1)/maxParts)
}

// uploadPart uploads a part. What its answer proves is asked when all parts are
// there: the store checks what it has of them when it makes the object.
func (b *S3) uploadPart(ctx context.Context, key string, id *string, number int32, segments [][]byte) (*s3.UploadPartOutput, error) {
	part := Body{Segments: segments}
	var size int64
	for _, s := range segments {
		size += int64(len(s))
	}
	out, err := b.client.UploadPart(ctx, &s3.UploadPartInput{
		Bucket: b.bucket, Key: aws.String(key), UploadId: id, PartNumber: aws.Int32(number),
		Body: part.Reader(), ContentLength: aws.Int64(size), ChecksumAlgorithm: b.o.Settings.Algorithm(),
	})
	if err == nil && aws.ToString(out.ETag) == "" {
		err = fmt.Errorf("upload part %d: %w: it has no ETag", number, s3client.ErrUnproven)
	}
	return out, err
}

func completedPart(number int, out *s3.UploadPartOutput) types.CompletedPart {
	return types.CompletedPart{
		PartNumber: aws.Int32(int32(number)), ETag: out.ETag, ChecksumCRC32: out.ChecksumCRC32, ChecksumCRC32C: out.ChecksumCRC32C,
		ChecksumCRC64NVME: out.ChecksumCRC64NVME, ChecksumSHA256: out.ChecksumSHA256,
	}
}

// completeUpload makes the object of the parts. nil says that the answer proves
// that it is body.
func (b *S3) completeUpload(ctx context.Context, key string, u upload, body Body, cond condition) error {
	out, err := b.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: b.bucket, Key: aws.String(key), UploadId: u.id,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: u.parts},
		IfNoneMatch:     cond.ifNoneMatch(), IfMatch: cond.ifMatch(),
	})
	if err != nil {
		return cond.outcome(err)
	}
	size := b.partSize(body.Size)
	for i, answer := range u.answers {
		if err := answer.Proves(body.cut(int64(i)*size, size)...); err != nil {
			return fmt.Errorf("part %d of an upload: %w", i+1, err)
		}
	}
	return s3client.CompleteAnswer(out).ProvesParts(u.answers, body.Segments...)
}

// ProveParts shows that an object in parts is refused where key exists.
func (b *S3) ProveParts(ctx context.Context, key string) error {
	body := NewBody("text/plain", []byte("s3window probe in parts\n"))
	u, err := b.uploaded(ctx, key, body)
	if err != nil {
		return err
	}
	switch err := b.completeUpload(ctx, key, u, body, condition{}); {
	case err == nil:
		return ErrNoParts
	case errors.Is(err, ErrExists):
		b.abort(ctx, key, u.id)
		return nil
	default:
		b.abort(ctx, key, u.id)
		if _, code := statusOf(err); code == "InvalidPart" {
			return fmt.Errorf("%w: %w", ErrNoParts, err)
		}
		return err
	}
}

// abort frees the parts of an upload that will not become an object. It has
// its own time, because the context of the upload may be what ended it. What
// it cannot free, abortOthers frees when the object is there.
func (b *S3) abort(ctx context.Context, key string, id *string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), defaultAbortTimeout)
	defer cancel()
	_, _ = b.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
		Bucket: b.bucket, Key: aws.String(key), UploadId: id,
	})
}

// abortOthers frees what earlier attempts at key left when their process died,
// or when their outcome was unknown. It is called when the object is there, so
// no upload of this key can succeed any more. It is a courtesy: errors, such as a
// missing permission to list uploads, change nothing.
func (b *S3) abortOthers(ctx context.Context, key string) {
	b.recall(key)
	out, err := b.client.ListMultipartUploads(ctx, &s3.ListMultipartUploadsInput{Bucket: b.bucket, Prefix: aws.String(key)})
	if err != nil {
		return
	}
	for _, u := range out.Uploads {
		if aws.ToString(u.Key) == key {
			b.abort(ctx, key, u.UploadId)
		}
	}
}
