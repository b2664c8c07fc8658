package s3client

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"go.opentelemetry.io/collector/config/configopaque"
)

// The values of Config.Checksum.
const (
	ChecksumCRC32C    = "crc32c"
	ChecksumCRC64NVME = "crc64nvme"
	ChecksumSHA256    = "sha256"
	ChecksumNone      = "none"
)

// Config says which bucket, where, as whom and how. It is comparable: two
// equal Configs can share a client.
type Config struct {
	// Bucket is the bucket's name or an access point's ARN.
	Bucket string `mapstructure:"bucket"`
	// Region signs the requests. Stores other than AWS take any.
	Region string `mapstructure:"region"`
	// Endpoint is the store's URL; empty means AWS.
	Endpoint string `mapstructure:"endpoint"`
	// PathStyle puts the bucket into the path instead of the host name.
	PathStyle bool `mapstructure:"path_style"`

	// AccessKeyID and SecretAccessKey are static keys; empty means the SDK's
	// default chain.
	AccessKeyID     string              `mapstructure:"access_key_id"`
	SecretAccessKey configopaque.String `mapstructure:"secret_access_key"`
	// RoleARN is assumed through STS, with the keys above or the chain.
	RoleARN    string `mapstructure:"role_arn"`
	ExternalID string `mapstructure:"external_id"`

	// SSE is the server-side encryption asked for: AES256, aws:kms, or empty
	// for the bucket's own default.
	SSE          string `mapstructure:"sse"`
	SSEKMSKeyID  string `mapstructure:"sse_kms_key_id"`
	StorageClass string `mapstructure:"storage_class"`

	// Checksum is sent with every upload and checked by the store.
	Checksum string `mapstructure:"checksum"`
	// Timeout is for how long no byte may move on a connection.
	Timeout time.Duration `mapstructure:"timeout"`
	// TLS is for stores whose certificate no system knows.
	TLS TLS `mapstructure:"tls"`
}

// Default returns the settings that apply where nothing is configured. The
// bucket has no default.
func Default() Config {
	return Config{Region: "us-east-1", Checksum: ChecksumCRC32C, Timeout: 30 * time.Second}
}

// Algorithm returns what a put request must carry as its ChecksumAlgorithm;
// empty with checksum none.
func (c Config) Algorithm() types.ChecksumAlgorithm {
	switch c.Checksum {
	case ChecksumCRC32C:
		return types.ChecksumAlgorithmCrc32c
	case ChecksumCRC64NVME:
		return types.ChecksumAlgorithmCrc64nvme
	case ChecksumSHA256:
		return types.ChecksumAlgorithmSha256
	}
	return ""
}

// Overridden says which setting of the environment has no effect because of the
// settings; empty for none.
func (c Config) Overridden() string {
	const name = "AWS_REQUEST_CHECKSUM_CALCULATION"
	if c.Checksum != ChecksumNone && strings.EqualFold(os.Getenv(name), "when_required") {
		return fmt.Sprintf("%s (when_required) is overridden by `checksum` (%s): set `checksum: none` for stores that know no checksums", name, c.Checksum)
	}
	return ""
}

// Refine adds the encryption and the checksum of the settings to a put. Not the
// storage class: that is for objects which are written once, and some classes
// cannot be read at once.
func (c Config) Refine(in *s3.PutObjectInput) {
	in.ChecksumAlgorithm = c.Algorithm()
	in.ServerSideEncryption = types.ServerSideEncryption(c.SSE)
	if c.SSEKMSKeyID != "" {
		in.SSEKMSKeyId = &c.SSEKMSKeyID
	}
}
