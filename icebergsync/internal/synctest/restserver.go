package synctest

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/s3window/s3window/internal/s3client"
	"github.com/s3window/s3window/testbed/s3test"
)

// startTimeout is for a Java process on a busy machine.
const startTimeout = 2 * time.Minute

// REST is the Java project's REST catalog over SQLite, with its tables' metadata
// in a bucket of an S3 server. It ends with the test.
type REST struct {
	URI       string
	Warehouse string // s3://bucket
	Bucket    string
}

// StartREST runs a catalog on a free port of the loopback interface, with a new
// bucket of the server as its warehouse.
func StartREST(t testing.TB, s *s3test.Server) *REST {
	t.Helper()
	dir := filepath.Join(filepath.Dir(filepath.Dir(s3test.Binary(t, "versitygw"))), "iceberg-rest")
	classpath, err := os.ReadFile(filepath.Join(dir, "classpath"))
	require.NoError(t, err, "run make iceberg-rest")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	require.NoError(t, l.Close())
	r := &REST{URI: fmt.Sprintf("http://127.0.0.1:%d", port), Bucket: s.NewBucket(t)}
	r.Warehouse = "s3://" + r.Bucket

	log := &bytes.Buffer{}
	cmd := exec.Command("java", "-Xmx512m", "-cp", filepath.Join(dir, "classes")+":"+strings.TrimSpace(string(classpath)),
		"org.apache.iceberg.rest.Loopback", fmt.Sprint(port),
		"uri=jdbc:sqlite:"+filepath.Join(t.TempDir(), "catalog.sqlite"), "warehouse="+r.Warehouse,
		"io-impl=org.apache.iceberg.aws.s3.S3FileIO", "s3.endpoint="+s.Endpoint, "s3.path-style-access=true",
		"s3.access-key-id="+s.AccessKey, "s3.secret-access-key="+s.SecretKey, "client.region="+s.Region)
	cmd.Env = append(os.Environ(), "AWS_REGION="+s.Region, "AWS_ACCESS_KEY_ID="+s.AccessKey, "AWS_SECRET_ACCESS_KEY="+s.SecretKey)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-exited })
	for end := time.Now().Add(startTimeout); ; time.Sleep(50 * time.Millisecond) {
		answer, err := http.Get(r.URI + "/v1/config")
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return r
			}
		}
		select {
		case <-exited:
			require.FailNow(t, "the REST catalog ended", "%s", log)
		default:
		}
		require.True(t, time.Now().Before(end), "the REST catalog does not answer")
	}
}

// S3 returns settings for a bucket of the server.
func S3(s *s3test.Server, bucket string) s3client.Config {
	c := s3client.Default()
	c.Bucket, c.Endpoint, c.Region, c.PathStyle = bucket, s.Endpoint, s.Region, true
	c.AccessKeyID, c.SecretAccessKey = s.AccessKey, configopaque.String(s.SecretKey)
	return c
}
