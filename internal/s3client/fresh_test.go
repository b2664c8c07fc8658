package s3client

import (
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rotate writes another key into the credentials file.
func rotate(t *testing.T, file, key string) {
	t.Helper()
	text := fmt.Sprintf("[default]\naws_access_key_id = %s\naws_secret_access_key = s\n", key)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
}

// TestCredentialsFileThatIsRotated has the store refuse a key, as it does when
// its token has expired. The file is read again; nothing has to restart.
func TestCredentialsFileThatIsRotated(t *testing.T) {
	for _, code := range []string{"ExpiredToken", "InvalidAccessKeyId", "InvalidToken"} {
		t.Run(code, func(t *testing.T) {
			isolate(t)
			file := filepath.Join(t.TempDir(), "credentials")
			t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
			good := "first"
			s := newStore(t, httptest.NewServer, func(_ int, w http.ResponseWriter, r *http.Request) {
				if !strings.Contains(r.Header.Get("Authorization"), "Credential="+good+"/") {
					w.WriteHeader(http.StatusBadRequest)
					fmt.Fprintf(w, "<Error><Code>%s</Code><Message>words</Message></Error>", code)
				}
			})
			c := s.config()
			c.AccessKeyID, c.SecretAccessKey = "", ""
			rotate(t, file, "first")
			client := newClient(t, c)
			require.NoError(t, put(t, client, c))
			s.mu.Lock()
			good = "second"
			s.mu.Unlock()
			require.ErrorContains(t, put(t, client, c), code, "it is not there yet")
			rotate(t, file, "second")
			require.NoError(t, put(t, client, c))
			require.NoError(t, put(t, client, c))
		})
	}
}

// TestRewrittenAcceptEncoding has a proxy change the header: it is not signed.
func TestRewrittenAcceptEncoding(t *testing.T) {
	isolate(t)
	s := newStore(t, httptest.NewServer, nil)
	c := s.config()
	for _, c.Checksum = range []string{ChecksumCRC32C, ChecksumCRC64NVME, ChecksumSHA256, ChecksumNone} {
		require.NoError(t, put(t, newClient(t, c), c))
		r := s.seen[len(s.seen)-1]
		require.Equal(t, "identity", r.Header.Get("Accept-Encoding"), "it is sent: nobody is to compress")
		require.NotContains(t, r.Header.Get("Authorization"), "accept-encoding")
		require.Contains(t, r.Header.Get("Authorization"), "SignedHeaders=")
	}
}

func TestTLSSettings(t *testing.T) {
	isolate(t)
	s := newStore(t, httptest.NewTLSServer, nil)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
	for name, tc := range map[string]struct {
		tls TLS
		err string
	}{
		"nobody knows it":          {err: "certificate"},
		"its authority":            {tls: TLS{CAFile: ca}},
		"unchecked":                {tls: TLS{InsecureSkipVerify: true}},
		"another name":             {tls: TLS{CAFile: ca, ServerName: "example.com"}},
		"a name it has not":        {tls: TLS{CAFile: ca, ServerName: "s3.elsewhere"}, err: "certificate is valid for"},
		"a version it has":         {tls: TLS{CAFile: ca, MinVersion: "1.3"}},
		"a file that is not there": {tls: TLS{CAFile: ca + ".none"}, err: "load `tls`"},
	} {
		t.Run(name, func(t *testing.T) {
			c := s.config()
			c.TLS = tc.tls
			client, err := New(t.Context(), c)
			if err == nil {
				err = put(t, client, c)
				CloseIdle(client)
			}
			if tc.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.err)
		})
	}
	s.TLS.MaxVersion = tls.VersionTLS12
	c := s.config()
	c.TLS = TLS{CAFile: ca, MinVersion: "1.3"}
	require.ErrorContains(t, put(t, newClient(t, c), c), "protocol version")
	for want, wrong := range map[string]TLS{
		"TLS version":         {MinVersion: "0.9"},
		"certificate and key": {CertFile: "c"},
		"CA file or the PEM":  {CAFile: ca, CAPem: "x"},
	} {
		c.TLS = wrong
		require.ErrorContains(t, c.Validate(), want)
	}
}

func TestOverriddenEnvironment(t *testing.T) {
	isolate(t)
	c := valid()
	require.Empty(t, c.Overridden())
	t.Setenv("AWS_REQUEST_CHECKSUM_CALCULATION", "when_required")
	require.Contains(t, c.Overridden(), "`checksum: none`")
	c.Checksum = ChecksumNone
	require.Empty(t, c.Overridden())
}
