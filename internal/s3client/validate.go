package s3client

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

const (
	minTimeout = time.Second
	maxTimeout = 10 * time.Minute
)

var (
	awsBucket   = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	otherBucket = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$`)
	region      = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)
	roleARN     = regexp.MustCompile(`^arn:[^:\s]+:(iam|sts)::[^:\s]*:\S+$`)
	externalID  = regexp.MustCompile(`^[A-Za-z0-9+=,.@:/_-]+$`)
	token       = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
)

// Validate names everything that is wrong with the settings, one line each. It
// does no I/O and changes nothing.
func (c *Config) Validate() error {
	return errors.Join(
		c.validateBucket(), c.validateRegion(), c.validateEndpoint(), c.validateKeys(), c.validateRole(),
		c.validateSSE(), c.validateStorageClass(), c.validateChecksum(), c.validateTimeout(), c.validateTLS(),
	)
}

func (c *Config) validateBucket() error {
	switch {
	case c.Bucket == "":
		return errors.New("`bucket` is empty: it must name the bucket that objects go to")
	case strings.HasPrefix(c.Bucket, "arn:"):
		return nil
	case c.Endpoint == "" && !awsBucket.MatchString(c.Bucket):
		return fmt.Errorf("`bucket` (%q) must be 3 to 63 of a-z 0-9 . - with a letter or digit at both ends: AWS has no other names", c.Bucket)
	case !otherBucket.MatchString(c.Bucket):
		return fmt.Errorf("`bucket` (%q) must be 1 to 255 of A-Z a-z 0-9 . _ - beginning with a letter or digit: "+
			"it is a name, not a path; folders go into `prefix`", c.Bucket)
	}
	return nil
}

func (c *Config) validateRegion() error {
	if region.MatchString(c.Region) {
		return nil
	}
	return fmt.Errorf("`region` (%q) must be 1 to 64 of A-Z a-z 0-9 -: requests are signed with it; stores without regions take us-east-1", c.Region)
}

func (c *Config) validateEndpoint() error {
	if c.Endpoint == "" {
		return nil
	}
	u, err := url.Parse(c.Endpoint)
	switch {
	case err != nil:
		return errors.New("`endpoint` is not a URL: it must be like https://s3.example.com")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return fmt.Errorf("`endpoint` (%q) must be a URL that begins with http:// or https:// and names a host", u.Redacted())
	case u.User != nil:
		return fmt.Errorf("`endpoint` (%q) must not hold a user: keys go into `access_key_id` and `secret_access_key`", u.Redacted())
	case u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("`endpoint` (%q) must not hold a query or fragment: it would be lost from the requests", c.Endpoint)
	}
	return nil
}

func (c *Config) validateKeys() error {
	switch {
	case c.AccessKeyID == "" && c.SecretAccessKey != "":
		return errors.New("`access_key_id` is empty while `secret_access_key` is set: both, or neither for the SDK's default chain")
	case c.AccessKeyID != "" && c.SecretAccessKey == "":
		return errors.New("`secret_access_key` is empty while `access_key_id` is set: both, or neither for the SDK's default chain")
	}
	return nil
}

func (c *Config) validateRole() error {
	var errs []error
	if c.RoleARN != "" && !roleARN.MatchString(c.RoleARN) {
		errs = append(errs, fmt.Errorf("`role_arn` (%q) must be like arn:aws:iam::123456789012:role/name: STS takes no other form", c.RoleARN))
	}
	switch {
	case c.ExternalID != "" && c.RoleARN == "":
		errs = append(errs, fmt.Errorf("`external_id` (%q) is set without `role_arn`: it is only sent when a role is assumed", c.ExternalID))
	case c.ExternalID != "" && (!externalID.MatchString(c.ExternalID) || len(c.ExternalID) < 2 || len(c.ExternalID) > 1224):
		errs = append(errs, fmt.Errorf("`external_id` (%q) must be 2 to 1224 of A-Z a-z 0-9 + = , . @ : / _ -: STS takes no other", c.ExternalID))
	}
	return errors.Join(errs...)
}

func (c *Config) validateSSE() error {
	sse := types.ServerSideEncryption(c.SSE)
	switch {
	case sse != "" && sse != types.ServerSideEncryptionAes256 && sse != types.ServerSideEncryptionAwsKms:
		return fmt.Errorf("`sse` (%q) must be AES256 or aws:kms, or unset for the bucket's default: objects must be readable without a key of the reader", c.SSE)
	case c.SSEKMSKeyID != "" && sse != types.ServerSideEncryptionAwsKms:
		return fmt.Errorf("`sse_kms_key_id` (%q) needs `sse: aws:kms`: no other encryption takes a key", c.SSEKMSKeyID)
	}
	return nil
}

func (c *Config) validateStorageClass() error {
	class := types.StorageClass(c.StorageClass)
	known := class.Values()
	switch {
	case class == "":
		return nil
	case class == types.StorageClassGlacier || class == types.StorageClassDeepArchive:
		return fmt.Errorf("`storage_class` (%q) must be readable at once: objects are read back to know what was written; "+
			"let a lifecycle rule move them there later", class)
	case !token.MatchString(c.StorageClass):
		return fmt.Errorf("`storage_class` (%q) must be 1 to 64 of A-Z a-z 0-9 _ -: no store has another", class)
	case c.Endpoint == "" && !slices.Contains(known, class):
		return fmt.Errorf("`storage_class` (%q) must be one of %v: AWS has no other", class, known)
	}
	return nil
}

func (c *Config) validateChecksum() error {
	switch c.Checksum {
	case ChecksumCRC32C, ChecksumCRC64NVME, ChecksumSHA256, ChecksumNone:
		return nil
	}
	return fmt.Errorf("`checksum` (%q) must be crc32c, crc64nvme, sha256 or none: the store checks uploads with it", c.Checksum)
}

func (c *Config) validateTimeout() error {
	if c.Timeout >= minTimeout && c.Timeout <= maxTimeout {
		return nil
	}
	return fmt.Errorf("`timeout` (%v) must be %v to %v: a connection on which nothing moves for that long is given up", c.Timeout, minTimeout, maxTimeout)
}
