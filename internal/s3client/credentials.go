package s3client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go"
)

// fileCredentials is for how long credentials that came from a file are used
// before the file is read again.
const fileCredentials = 5 * time.Minute

// chain is the SDK's default chain of credentials, gone through again whenever
// credentials are wanted: the SDK itself reads files once, when it is
// configured, and whoever rotates keys in a file would have to restart.
type chain struct {
	options []func(*config.LoadOptions) error
}

// Retrieve implements aws.CredentialsProvider.
func (c chain) Retrieve(ctx context.Context) (aws.Credentials, error) {
	cfg, err := config.LoadDefaultConfig(ctx, c.options...)
	if err != nil {
		return aws.Credentials{}, fmt.Errorf("load the SDK's configuration: %w", err)
	}
	if cfg.Credentials == nil {
		return aws.Credentials{}, errors.New("the SDK's default chain has no credentials")
	}
	found, err := cfg.Credentials.Retrieve(ctx)
	if err == nil && !found.CanExpire && strings.HasPrefix(found.Source, "SharedConfigCredentials") {
		found.CanExpire, found.Expires = true, time.Now().Add(fileCredentials)
	}
	return found, err
}

// freshCredentials is a retryer that has credentials fetched again when the
// store says that they are none any more, before the request is sent again.
type freshCredentials struct {
	aws.RetryerV2
	cache *aws.CredentialsCache
}

// IsErrorRetryable implements aws.Retryer.
func (f freshCredentials) IsErrorRetryable(err error) bool {
	var api smithy.APIError
	if errors.As(err, &api) {
		switch api.ErrorCode() {
		case "ExpiredToken", "ExpiredTokenException", "InvalidToken", "TokenRefreshRequired", "RequestExpired", "InvalidAccessKeyId":
			f.cache.Invalidate()
			return true
		}
	}
	return f.RetryerV2.IsErrorRetryable(err)
}

// freshRetryer wraps what newRetryer makes.
func freshRetryer(cache *aws.CredentialsCache) func() aws.Retryer {
	return func() aws.Retryer {
		return freshCredentials{RetryerV2: newRetryer().(*retry.Standard), cache: cache}
	}
}
