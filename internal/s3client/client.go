package s3client

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/logging"
)

const (
	appID       = "s3window" // is in the store's access log
	maxAttempts = 3
	maxBackoff  = 500 * time.Millisecond
)

// New makes a client for the settings, which must be valid. It reads the
// SDK's files and environment, and connects to nothing: credentials are taken
// when the first request needs them.
func New(ctx context.Context, c Config) (*s3.Client, error) {
	cfg, err := Load(ctx, c)
	if err != nil {
		return nil, err
	}
	return s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.UsePathStyle = c.PathStyle
		o.DisableLogOutputChecksumValidationSkipped = true
		o.APIOptions = append(o.APIOptions, unsignAcceptEncoding)
		if c.Endpoint != "" {
			o.BaseEndpoint = aws.String(c.Endpoint)
		}
	}), nil
}

// Load returns the configuration that New makes its client from, for clients of
// other services of AWS: region, credentials, role, retries and connections.
func Load(ctx context.Context, c Config) (aws.Config, error) {
	secure, err := c.TLS.load(ctx)
	if err != nil {
		return aws.Config{}, err
	}
	options := append(c.loadOptions(), config.WithHTTPClient(newHTTPClient(c.Timeout, secure)))
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return aws.Config{}, fmt.Errorf("load the SDK's configuration: %w", err)
	}
	if cfg.HTTPClient, err = finishHTTPClient(cfg.HTTPClient); err != nil {
		return aws.Config{}, err
	}
	if c.AccessKeyID == "" {
		use(&cfg, chain{append(c.loadOptions(), config.WithHTTPClient(singleUse(newHTTPClient(c.Timeout, secure))))})
	}
	if c.RoleARN != "" {
		use(&cfg, stscreds.NewAssumeRoleProvider(sts.NewFromConfig(cfg), c.RoleARN, func(o *stscreds.AssumeRoleOptions) {
			o.RoleSessionName = appID
			if c.ExternalID != "" {
				o.ExternalID = aws.String(c.ExternalID)
			}
		}))
	}
	return cfg, nil
}

// use has cfg take credentials from p, and again when they are refused.
func use(cfg *aws.Config, p aws.CredentialsProvider) {
	cache := aws.NewCredentialsCache(p)
	cfg.Credentials, cfg.Retryer = cache, freshRetryer(cache)
}

// CloseIdle ends the connections that client keeps open and does not use at
// the moment. The client stays usable.
func CloseIdle(client *s3.Client) {
	if h, ok := client.Options().HTTPClient.(interface{ CloseIdleConnections() }); ok {
		h.CloseIdleConnections()
	}
}

func (c Config) loadOptions() []func(*config.LoadOptions) error {
	sum, check := aws.RequestChecksumCalculationWhenSupported, aws.ResponseChecksumValidationWhenSupported
	if c.Checksum == ChecksumNone {
		sum, check = aws.RequestChecksumCalculationWhenRequired, aws.ResponseChecksumValidationWhenRequired
	}
	opts := []func(*config.LoadOptions) error{
		config.WithRegion(c.Region),
		config.WithAppID(appID),
		config.WithLogger(logging.Nop{}),
		config.WithRetryer(newRetryer),
		config.WithRequestChecksumCalculation(sum),
		config.WithResponseChecksumValidation(check),
	}
	if c.AccessKeyID != "" {
		opts = append(opts, config.WithCredentialsProvider(
			credentials.NewStaticCredentialsProvider(c.AccessKeyID, string(c.SecretAccessKey), "")))
	}
	return opts
}

// newRetryer retries what passes by itself, a few times. 409 is what AWS
// answers to a conditional request that meets another one: try again. There
// is no quota, because callers back off themselves and must see the store's
// own error.
func newRetryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = maxAttempts
		o.MaxBackoff = maxBackoff
		o.RateLimiter = ratelimit.None
		o.Retryables = append(o.Retryables, retry.RetryableErrorCode{Codes: map[string]struct{}{
			"ConditionalRequestConflict": {},
			"OperationAborted":           {},
		}})
	})
}
