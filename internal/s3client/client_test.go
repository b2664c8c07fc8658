package s3client

import (
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/s3window/s3window/testbed/s3test"
)

// isolate keeps the machine's own AWS settings out of a test.
func isolate(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	for name, value := range map[string]string{
		"AWS_CONFIG_FILE": none, "AWS_SHARED_CREDENTIALS_FILE": none, "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "", "AWS_CA_BUNDLE": "",
		"AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_S3": "", "AWS_ENDPOINT_URL_STS": "", "AWS_REGION": "",
	} {
		t.Setenv(name, value)
	}
}

func newClient(t *testing.T, c Config) *s3.Client {
	t.Helper()
	client, err := New(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { CloseIdle(client) })
	return client
}

// store is a fake that answers what the test says and keeps the requests.
type store struct {
	*httptest.Server
	mu     sync.Mutex
	seen   []*http.Request
	bodies []string
	answer func(n int, w http.ResponseWriter, r *http.Request)
}

func newStore(t *testing.T, start func(http.Handler) *httptest.Server, answer func(n int, w http.ResponseWriter, r *http.Request)) *store {
	t.Helper()
	s := &store{answer: answer}
	s.Server = start(s)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen, s.bodies = append(s.seen, r), append(s.bodies, string(body))
	if s.answer != nil {
		s.answer(len(s.seen), w, r)
	}
}

func (s *store) config() Config {
	c := valid()
	c.Endpoint, c.PathStyle, c.AccessKeyID, c.SecretAccessKey = s.URL, true, "key", "secret"
	return c
}

func put(t *testing.T, client *s3.Client, c Config) error {
	t.Helper()
	key := "k"
	_, err := client.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: &c.Bucket, Key: &key, Body: strings.NewReader("hello"), ChecksumAlgorithm: c.Algorithm(),
	})
	return err
}

func TestAgainstTheServer(t *testing.T) {
	isolate(t)
	s := s3test.Start(t)
	c := valid()
	c.Bucket, c.Endpoint, c.PathStyle = s.NewBucket(t), s.Endpoint, true
	c.AccessKeyID, c.SecretAccessKey = s.AccessKey, configopaque.String(s.SecretKey)
	for _, c.Checksum = range []string{"crc32c", "crc64nvme", "sha256", "none"} {
		require.NoError(t, put(t, newClient(t, c), c), c.Checksum)
	}
	c.AccessKeyID, c.SecretAccessKey = "", ""
	require.ErrorContains(t, put(t, newClient(t, c), c), "credentials", "the default chain has none here")
	t.Setenv("AWS_ACCESS_KEY_ID", s.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s.SecretKey)
	require.NoError(t, put(t, newClient(t, c), c), "the default chain")
}

func TestRetries(t *testing.T) {
	isolate(t)
	for name, tc := range map[string]struct {
		status int
		code   string
		sent   int
	}{
		"500":     {500, "InternalError", 3},
		"503":     {503, "SlowDown", 3},
		"409":     {409, "ConditionalRequestConflict", 3},
		"aborted": {409, "OperationAborted", 3},
		"412":     {412, "PreconditionFailed", 1},
		"403":     {403, "AccessDenied", 1},
		"404":     {404, "NoSuchBucket", 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, httptest.NewServer, func(_ int, w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.status)
				fmt.Fprintf(w, "<Error><Code>%s</Code><Message>words</Message></Error>", tc.code)
			})
			err := put(t, newClient(t, s.config()), s.config())
			var api smithy.APIError
			require.ErrorAs(t, err, &api)
			require.Equal(t, tc.code, api.ErrorCode())
			require.Len(t, s.seen, tc.sent)
		})
	}
}

// There is no quota of retries: a long outage must not turn the store's error
// into one of the SDK's.
func TestRetriesNeverRunOut(t *testing.T) {
	isolate(t)
	s := newStore(t, httptest.NewServer, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	client := newClient(t, s.config())
	var running sync.WaitGroup
	for range 80 { // the SDK's own quota is 500 tokens, 5 a retry
		running.Go(func() {
			if err := put(t, client, s.config()); err == nil || strings.Contains(err.Error(), "quota") {
				t.Error(err)
			}
		})
	}
	running.Wait()
	require.Equal(t, 80*maxAttempts, len(s.seen))
}

func TestChecksumAndSignature(t *testing.T) {
	isolate(t)
	for _, tc := range []struct{ checksum, header string }{
		{"crc32c", "X-Amz-Checksum-Crc32c"}, {"crc64nvme", "X-Amz-Checksum-Crc64nvme"}, {"sha256", "X-Amz-Checksum-Sha256"}, {"none", ""},
	} {
		t.Run("http "+tc.checksum, func(t *testing.T) {
			s := newStore(t, httptest.NewServer, nil)
			c := s.config()
			c.Checksum = tc.checksum
			require.NoError(t, put(t, newClient(t, c), c))
			requireChecksums(t, s.seen[0].Header, tc.header)
			require.Len(t, s.seen[0].Header.Get("X-Amz-Content-Sha256"), 64, "the payload is signed")
			require.Equal(t, "hello", s.bodies[0])
			require.Contains(t, s.seen[0].UserAgent(), "app/s3window")
		})
		t.Run("https "+tc.checksum, func(t *testing.T) {
			s := newStore(t, httptest.NewTLSServer, nil)
			trust(t, s)
			c := s.config()
			c.Checksum = tc.checksum
			require.NoError(t, put(t, newClient(t, c), c))
			r := s.seen[0]
			require.Equal(t, "HTTP/1.1", r.Proto)
			if tc.checksum == "none" {
				require.Equal(t, "hello", s.bodies[0])
				require.Empty(t, r.Header.Get("X-Amz-Trailer"))
				return
			}
			require.Equal(t, strings.ToLower(tc.header), r.Header.Get("X-Amz-Trailer"))
			require.Contains(t, s.bodies[0], strings.ToLower(tc.header)+":")
		})
	}
}

func requireChecksums(t *testing.T, h http.Header, want string) {
	t.Helper()
	for name := range h {
		if strings.HasPrefix(name, "X-Amz-Checksum-") {
			require.Equal(t, want, name)
		}
	}
	if want != "" {
		require.NotEmpty(t, h.Get(want))
	}
}

// trust puts the server's certificate into AWS_CA_BUNDLE.
func trust(t *testing.T, s *store) {
	t.Helper()
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	require.NoError(t, os.WriteFile(bundle, cert, 0o600))
	t.Setenv("AWS_CA_BUNDLE", bundle)
}

func TestCertificatesAreChecked(t *testing.T) {
	isolate(t)
	s := newStore(t, httptest.NewTLSServer, nil)
	s.Config.ErrorLog = nil
	var unknown *tls.CertificateVerificationError
	require.ErrorAs(t, put(t, newClient(t, s.config()), s.config()), &unknown)
}

func TestRoleIsAssumed(t *testing.T) {
	isolate(t)
	sts := newStore(t, httptest.NewServer, func(_ int, w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
			<AccessKeyId>temporary</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>token</SessionToken>
			<Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	})
	t.Setenv("AWS_ENDPOINT_URL_STS", sts.URL)
	for _, externalID := range []string{"", "tenant-7"} {
		s := newStore(t, httptest.NewServer, nil)
		c := s.config()
		c.RoleARN, c.ExternalID = "arn:aws:iam::123456789012:role/writer", externalID
		client := newClient(t, c)
		require.NoError(t, put(t, client, c))
		require.NoError(t, put(t, client, c))

		asked, err := url.ParseQuery(sts.bodies[len(sts.bodies)-1])
		require.NoError(t, err)
		require.Equal(t, "AssumeRole", asked.Get("Action"))
		require.Equal(t, c.RoleARN, asked.Get("RoleArn"))
		require.Equal(t, "s3window", asked.Get("RoleSessionName"))
		require.Equal(t, externalID, asked.Get("ExternalId"))
		require.Contains(t, sts.seen[len(sts.seen)-1].Header.Get("Authorization"), "Credential=key/", "with the static keys")
		require.Contains(t, s.seen[0].Header.Get("Authorization"), "Credential=temporary/")
		require.Equal(t, "token", s.seen[0].Header.Get("X-Amz-Security-Token"))
	}
	require.Len(t, sts.seen, 2, "one request for two puts")
}

func TestRoleRefused(t *testing.T) {
	isolate(t)
	sts := newStore(t, httptest.NewServer, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `<ErrorResponse><Error><Code>AccessDenied</Code><Message>not you</Message></Error></ErrorResponse>`)
	})
	t.Setenv("AWS_ENDPOINT_URL_STS", sts.URL)
	s := newStore(t, httptest.NewServer, nil)
	c := s.config()
	c.RoleARN = "arn:aws:iam::123456789012:role/writer"
	err := put(t, newClient(t, c), c)
	require.ErrorContains(t, err, "AccessDenied: not you")
	require.Empty(t, s.seen)
}

func TestAddresses(t *testing.T) {
	isolate(t)
	for name, tc := range map[string]struct {
		change func(c *Config)
		want   string
	}{
		"AWS":               {func(c *Config) { c.Region = "eu-west-1" }, "https://lake.s3.eu-west-1.amazonaws.com/k?"},
		"AWS path style":    {func(c *Config) { c.PathStyle = true }, "https://s3.us-east-1.amazonaws.com/lake/k?"},
		"elsewhere":         {func(c *Config) { c.Endpoint = "https://s3.example.com" }, "https://lake.s3.example.com/k?"},
		"elsewhere by path": {func(c *Config) { c.Endpoint, c.PathStyle = "http://s3.example.com/base", true }, "http://s3.example.com/base/lake/k?"},
	} {
		t.Run(name, func(t *testing.T) {
			c := valid()
			c.AccessKeyID, c.SecretAccessKey = "key", "secret"
			tc.change(&c)
			key := "k"
			r, err := s3.NewPresignClient(newClient(t, c), s3.WithPresignClientFromClientOptions(func(o *s3.Options) {
				o.APIOptions = nil // they change a request that is sent
			})).PresignGetObject(t.Context(), &s3.GetObjectInput{Bucket: &c.Bucket, Key: &key})
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(r.URL, tc.want), r.URL)
		})
	}
}

func TestNewNamesABrokenEnvironment(t *testing.T) {
	isolate(t)
	t.Setenv("AWS_CA_BUNDLE", filepath.Join(t.TempDir(), "missing.pem"))
	_, err := New(t.Context(), valid())
	require.ErrorContains(t, err, "load the SDK's configuration: ")
}
