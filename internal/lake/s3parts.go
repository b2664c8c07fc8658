package lake

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"
)

// putParts puts the object in parts that are cut out of the body's segments
// and sent a few at a time. The condition is checked first, because a refusal
// after the last part would cost the whole transfer, and again when the parts
// become the object, because only that counts. Every failure aborts the
// upload.
//
// Crash before this: nothing. Crash in it: parts without an object, which cost
// storage until the same key is put again, or a lifecycle rule ends them.
// Crash after it: the object is whole.
func (b *S3) putParts(ctx context.Context, key string, body Body, cond condition) error {
	if err := b.refused(ctx, key, cond); err != nil {
		return err
	}
	upload, err := b.createUpload(ctx, key, body)
	if err != nil {
		return err
	}
	parts, err := b.uploadParts(ctx, key, upload, body)
	if err == nil {
		err = b.completeUpload(ctx, key, upload, parts, cond)
	}
	if err != nil {
		b.abort(ctx, key, upload)
	}
	if _, code := statusOf(err); code == "NoSuchUpload" {
		err = cmp.Or(b.refused(ctx, key, cond), err) // another put of this key ended it
	}
	if err == nil || errors.Is(err, ErrExists) {
		b.abortOthers(ctx, key)
	}
	return err
}

// refused says whether the condition fails already.
func (b *S3) refused(ctx context.Context, key string, cond condition) error {
	info, err := b.head(ctx, key)
	switch {
	case err != nil:
		return nil // absent, or a store in trouble: the upload will say
	case cond.match == "":
		b.abortOthers(ctx, key)
		return ErrExists
	case cond.match != info.ETag:
		return ErrChanged
	}
	return nil
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
	return out.UploadId, nil
}

func (b *S3) uploadParts(ctx context.Context, key string, upload *string, body Body) ([]types.CompletedPart, error) {
	size := b.partSize(body.Size)
	parts := make([]types.CompletedPart, (body.Size+size-1)/size)
	var left atomic.Int64
	left.Store(int64(len(parts)))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(defaultPartsInTurn)
	for i := range parts {
		segments := body.cut(int64(i)*size, size)
		group.Go(func() (err error) {
			parts[i], err = b.uploadPart(ctx, key, upload, int32(i+1), segments)
			if err == nil && left.Add(-1) > 0 {
				b.o.Step("mid_upload")
			}
			return err
		})
	}
	return parts, group.Wait()
}

// partSize is the configured one, or what keeps an object of n bytes within
// the number of parts an upload may have.
func (b *S3) partSize(n int64) int64 {
	return max(b.o.PartSize, (n+maxParts-1)/maxParts)
}

func (b *S3) uploadPart(
	ctx context.Context, key string, upload *string, number int32, segments [][]byte,
) (types.CompletedPart, error) {
	part := Body{Segments: segments}
	var size int64
	for _, s := range segments {
		size += int64(len(s))
	}
	out, err := b.client.UploadPart(ctx, &s3.UploadPartInput{
		Bucket: b.bucket, Key: aws.String(key), UploadId: upload, PartNumber: aws.Int32(number),
		Body: part.Reader(), ContentLength: aws.Int64(size), ChecksumAlgorithm: b.o.Settings.Algorithm(),
	})
	if err != nil {
		return types.CompletedPart{}, err
	}
	return types.CompletedPart{
		PartNumber: aws.Int32(number), ETag: out.ETag, ChecksumCRC32: out.ChecksumCRC32, ChecksumCRC32C: out.ChecksumCRC32C,
		ChecksumCRC64NVME: out.ChecksumCRC64NVME, ChecksumSHA256: out.ChecksumSHA256,
	}, nil
}

func (b *S3) completeUpload(
	ctx context.Context, key string, upload *string, parts []types.CompletedPart, cond condition,
) error {
	_, err := b.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: b.bucket, Key: aws.String(key), UploadId: upload,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
		IfNoneMatch:     cond.ifNoneMatch(), IfMatch: cond.ifMatch(),
	})
	return cond.outcome(err)
}

// abort frees the parts of an upload that will not become an object. It has
// its own time, because the context of the upload may be what ended it. What
// it cannot free, abortOthers frees when the object is there.
func (b *S3) abort(ctx context.Context, key string, upload *string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), defaultAbortTimeout)
	defer cancel()
	_, _ = b.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
		Bucket: b.bucket, Key: aws.String(key), UploadId: upload,
	})
}

// abortOthers frees what earlier attempts at key left when their process died.
// It is called when the object is there, so no upload of this key can succeed
// any more. It is a courtesy: errors, such as a missing permission to list
// uploads, change nothing.
func (b *S3) abortOthers(ctx context.Context, key string) {
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
