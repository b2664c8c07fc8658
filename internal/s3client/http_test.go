package s3client

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const still = 30 * time.Second

// pipe returns a watched connection and its other end.
func pipe(t *testing.T) (*watchedConn, net.Conn) {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { near.Close(); far.Close() })
	return &watchedConn{Conn: near, timeout: still}, far
}

func TestSilentConnectionEnds(t *testing.T) {
	for name, use := range map[string]func(c *watchedConn) error{
		"read":  func(c *watchedConn) error { _, err := c.Read(make([]byte, 1)); return err },
		"write": func(c *watchedConn) error { _, err := c.Write(make([]byte, 1)); return err },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := pipe(t)
				start := time.Now()
				require.ErrorIs(t, use(c), os.ErrDeadlineExceeded)
				require.Equal(t, still, time.Since(start))
			})
		})
	}
}

// The wait for an answer lasts as long as the upload moves, and then its own
// time.
func TestMovingConnectionLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, far := pipe(t)
		start := time.Now()
		ended := make(chan error)
		go func() {
			_, err := c.Read(make([]byte, 1))
			ended <- err
		}()
		upload := make([]byte, 10*64<<10)
		go func() { // the server takes a piece every 20 s
			for range 10 {
				time.Sleep(20 * time.Second)
				if _, err := io.ReadFull(far, make([]byte, 64<<10)); err != nil {
					t.Error(err)
				}
			}
		}()
		n, err := c.Write(upload)
		require.NoError(t, err)
		require.Equal(t, len(upload), n)
		require.Equal(t, 200*time.Second, time.Since(start))
		require.ErrorIs(t, <-ended, os.ErrDeadlineExceeded)
		require.Equal(t, 180*time.Second+still, time.Since(start), "counted from the last piece that was begun")
	})
}

func TestWriteSaysHowMuchWentOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, far := pipe(t)
		go func() { _, _ = io.ReadFull(far, make([]byte, 100<<10)) }()
		n, err := c.Write(make([]byte, 300<<10))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, 100<<10, n)
	})
}

// A store that takes requests and never answers: each try ends in its time.
func TestDeadStoreEndsARequest(t *testing.T) {
	isolate(t)
	end := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-end
	}))
	defer s.Close()
	defer close(end)
	c := valid()
	c.Endpoint, c.PathStyle, c.AccessKeyID, c.SecretAccessKey, c.Timeout = s.URL, true, "k", "s", 50*time.Millisecond
	err := put(t, newClient(t, c), c)
	var timeout net.Error
	require.ErrorAs(t, err, &timeout)
	require.True(t, timeout.Timeout())
}
