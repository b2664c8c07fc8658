package s3client

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func valid() Config {
	c := Default()
	c.Bucket = "lake"
	return c
}

func TestDefault(t *testing.T) {
	require.Equal(t, Config{Region: "us-east-1", Checksum: "crc32c", Timeout: 30 * time.Second}, Default())
	c := valid()
	require.NoError(t, c.Validate())
}

func TestConfigFromYAMLKeys(t *testing.T) {
	c := Default()
	require.NoError(t, confmap.NewFromStringMap(map[string]any{
		"bucket": "lake", "region": "eu-central-1", "endpoint": "http://127.0.0.1:9000", "path_style": true,
		"access_key_id": "k", "secret_access_key": "s", "role_arn": "arn:aws:iam::123456789012:role/r", "external_id": "x-1",
		"sse": "aws:kms", "sse_kms_key_id": "key", "storage_class": "STANDARD_IA", "checksum": "none", "timeout": "5s",
	}).Unmarshal(&c))
	require.Equal(t, Config{
		Bucket: "lake", Region: "eu-central-1", Endpoint: "http://127.0.0.1:9000", PathStyle: true,
		AccessKeyID: "k", SecretAccessKey: "s", RoleARN: "arn:aws:iam::123456789012:role/r", ExternalID: "x-1",
		SSE: "aws:kms", SSEKMSKeyID: "key", StorageClass: "STANDARD_IA", Checksum: "none", Timeout: 5 * time.Second,
	}, c)
	require.NoError(t, c.Validate())
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", c, c, c), `"s"`)
	require.Error(t, confmap.NewFromStringMap(map[string]any{"bukket": "lake"}).Unmarshal(&c))
}

func TestValidate(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(c *Config)
		want   string // empty = valid
	}{
		"no bucket":            {func(c *Config) { c.Bucket = "" }, "`bucket` is empty: it must name the bucket"},
		"bucket for AWS":       {func(c *Config) { c.Bucket = "My_Lake" }, "`bucket` (\"My_Lake\") must be 3 to 63 of a-z"},
		"bucket elsewhere":     {func(c *Config) { c.Bucket, c.Endpoint = "My_Lake", "http://h" }, ""},
		"bucket with a path":   {func(c *Config) { c.Bucket, c.Endpoint = "lake/otel", "http://h" }, "`bucket` (\"lake/otel\") must be 1 to 255"},
		"bucket short":         {func(c *Config) { c.Bucket = "ab" }, "3 to 63"},
		"access point":         {func(c *Config) { c.Bucket = "arn:aws:s3:us-east-1:123456789012:accesspoint/x" }, ""},
		"no region":            {func(c *Config) { c.Region = "" }, "`region` (\"\") must be 1 to 64"},
		"region auto":          {func(c *Config) { c.Region = "auto" }, ""},
		"region with a dot":    {func(c *Config) { c.Region = "eu.1" }, "`region` (\"eu.1\")"},
		"endpoint bare":        {func(c *Config) { c.Endpoint = "127.0.0.1:9000" }, "`endpoint` is not a URL"},
		"endpoint other":       {func(c *Config) { c.Endpoint = "s3://lake" }, "must be a URL that begins with http"},
		"endpoint no host":     {func(c *Config) { c.Endpoint = "http://" }, "names a host"},
		"endpoint query":       {func(c *Config) { c.Endpoint = "http://h/?x=1" }, "must not hold a query"},
		"endpoint path":        {func(c *Config) { c.Endpoint = "https://h/storage/v1/s3" }, ""},
		"endpoint user":        {func(c *Config) { c.Endpoint = "http://u:pw@h" }, "must not hold a user"},
		"secret alone":         {func(c *Config) { c.SecretAccessKey = "hush" }, "`access_key_id` is empty while"},
		"key alone":            {func(c *Config) { c.AccessKeyID = "k" }, "`secret_access_key` is empty while"},
		"both keys":            {func(c *Config) { c.AccessKeyID, c.SecretAccessKey = "k", "hush" }, ""},
		"role":                 {func(c *Config) { c.RoleARN = "arn:aws-us-gov:iam::123456789012:role/a/b" }, ""},
		"role name only":       {func(c *Config) { c.RoleARN = "role/a" }, "`role_arn` (\"role/a\") must be like"},
		"external id alone":    {func(c *Config) { c.ExternalID = "x-1" }, "`external_id` (\"x-1\") is set without `role_arn`"},
		"external id odd":      {func(c *Config) { c.RoleARN, c.ExternalID = "arn:aws:iam::1:role/a", "a b" }, "`external_id` (\"a b\") must be"},
		"external id short":    {func(c *Config) { c.RoleARN, c.ExternalID = "arn:aws:iam::1:role/a", "a" }, "2 to 1224"},
		"sse":                  {func(c *Config) { c.SSE = "AES256" }, ""},
		"sse wrong":            {func(c *Config) { c.SSE = "aes256" }, "`sse` (\"aes256\") must be AES256 or aws:kms"},
		"kms":                  {func(c *Config) { c.SSE, c.SSEKMSKeyID = "aws:kms", "k" }, ""},
		"kms key alone":        {func(c *Config) { c.SSEKMSKeyID = "k" }, "`sse_kms_key_id` (\"k\") needs `sse: aws:kms`"},
		"kms key with AES256":  {func(c *Config) { c.SSE, c.SSEKMSKeyID = "AES256", "k" }, "needs `sse: aws:kms`"},
		"class":                {func(c *Config) { c.StorageClass = "GLACIER_IR" }, ""},
		"class archived":       {func(c *Config) { c.StorageClass = "DEEP_ARCHIVE" }, "must be readable at once"},
		"class unknown to AWS": {func(c *Config) { c.StorageClass = "COLD" }, "must be one of ["},
		"class elsewhere":      {func(c *Config) { c.StorageClass, c.Endpoint = "COLD", "http://h" }, ""},
		"class odd":            {func(c *Config) { c.StorageClass, c.Endpoint = "C\r\n", "http://h" }, "1 to 64"},
		"checksum md5":         {func(c *Config) { c.Checksum = "md5" }, "`checksum` (\"md5\") must be crc32c, crc64nvme, sha256 or none"},
		"no checksum":          {func(c *Config) { c.Checksum = "" }, "`checksum` (\"\")"},
		"timeout short":        {func(c *Config) { c.Timeout = 999 * time.Millisecond }, "`timeout` (999ms) must be 1s to 10m0s"},
		"timeout long":         {func(c *Config) { c.Timeout = 11 * time.Minute }, "`timeout` (11m0s)"},
	} {
		t.Run(name, func(t *testing.T) {
			c := valid()
			tc.change(&c)
			before := c
			err := c.Validate()
			require.Equal(t, before, c, "validation changes nothing")
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.want)
			require.NotContains(t, err.Error(), "\n", "one problem, one line")
			require.NotContains(t, err.Error(), "hush")
			require.NotContains(t, err.Error(), "pw")
		})
	}
}

func TestValidateNamesEverythingAtOnce(t *testing.T) {
	c := Config{ExternalID: "e", SSE: "x", StorageClass: "GLACIER", AccessKeyID: "k", Endpoint: "ftp://h"}
	lines := strings.Split(c.Validate().Error(), "\n")
	require.Len(t, lines, 9, "%q", lines)
	for _, l := range lines {
		require.Regexp(t, "^`[a-z_]+` ", l)
	}
}

func TestAlgorithm(t *testing.T) {
	for sum, want := range map[string]types.ChecksumAlgorithm{"crc32c": "CRC32C", "crc64nvme": "CRC64NVME", "sha256": "SHA256", "none": ""} {
		require.Equal(t, want, Config{Checksum: sum}.Algorithm())
	}
}

func TestRefine(t *testing.T) {
	c := valid()
	c.SSE, c.SSEKMSKeyID, c.StorageClass, c.Checksum = "aws:kms", "key", "GLACIER", ChecksumSHA256
	in := s3.PutObjectInput{}
	c.Refine(&in)
	require.Equal(t, s3.PutObjectInput{
		ServerSideEncryption: types.ServerSideEncryptionAwsKms, SSEKMSKeyId: &c.SSEKMSKeyID, ChecksumAlgorithm: types.ChecksumAlgorithmSha256,
	}, in, "an object that is read back and replaced takes no storage class")

	in, c = s3.PutObjectInput{}, valid()
	c.Checksum = ChecksumNone
	c.Refine(&in)
	require.Equal(t, s3.PutObjectInput{}, in)
}
