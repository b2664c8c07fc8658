package lake

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Tail returns the last n bytes of the object at key, all of it if it has fewer,
// and its size; ErrNotExist. It is one request.
func (b *S3) Tail(ctx context.Context, key string, n int64) ([]byte, int64, error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{
		Bucket: b.bucket, Key: aws.String(key), Range: aws.String(fmt.Sprintf("bytes=-%d", n)),
	})
	if err != nil {
		return nil, 0, absent(err)
	}
	defer out.Body.Close()
	tail, err := io.ReadAll(out.Body)
	if err != nil {
		return nil, 0, err
	}
	size := aws.ToInt64(out.ContentLength) // of a store that sends the whole object
	if _, total, ok := strings.Cut(aws.ToString(out.ContentRange), "/"); ok {
		if size, err = strconv.ParseInt(total, 10, 64); err != nil {
			return nil, 0, fmt.Errorf("the store answers a range with %q", aws.ToString(out.ContentRange))
		}
	}
	return tail[max(0, int64(len(tail))-n):], size, nil
}

// Tail is what S3.Tail is.
func (d *Dir) Tail(ctx context.Context, key string, n int64) ([]byte, int64, error) {
	path, err := d.path(key)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, 0, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, gone(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if _, err := f.Seek(max(0, info.Size()-n), io.SeekStart); err != nil {
		return nil, 0, err
	}
	tail, err := io.ReadAll(f)
	return tail, info.Size(), err
}
