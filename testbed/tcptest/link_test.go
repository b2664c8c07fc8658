package tcptest_test

import (
	"bufio"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/s3window/s3window/testbed/tcptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server answers every line with itself, and keeps what came.
type server struct {
	mu  sync.Mutex
	got string
}

func (s *server) heard() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got
}

func serve(t *testing.T) (*server, *tcptest.Link) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &server{}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			work.Go(func() { s.echo(c) })
		}
	})
	t.Cleanup(func() { listener.Close(); work.Wait() })
	return s, tcptest.Start(t, listener.Addr().String())
}

func (s *server) echo(c net.Conn) {
	defer c.Close()
	buffer := make([]byte, 1<<10)
	for {
		n, err := c.Read(buffer)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.got += string(buffer[:n])
		s.mu.Unlock()
		if _, err := c.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// client is one connection through the link.
type client struct {
	net.Conn
	t     *testing.T
	lines *bufio.Reader
}

func dial(t *testing.T, l *tcptest.Link) *client {
	c, err := net.Dial("tcp", l.Address)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(10*time.Second)))
	return &client{Conn: c, t: t, lines: bufio.NewReader(c)}
}

// say sends a line and returns the answer.
func (c *client) say(line string) (string, error) {
	_, err := c.Write([]byte(line + "\n"))
	require.NoError(c.t, err)
	return c.lines.ReadString('\n')
}

func TestPassAndDelay(t *testing.T) {
	_, l := serve(t)
	c := dial(t, l)
	answer, err := c.say("a")
	require.NoError(t, err)
	require.Equal(t, "a\n", answer)
	l.Break(tcptest.Rule{Delay: 50 * time.Millisecond})
	began := time.Now()
	_, err = c.say("b")
	require.NoError(t, err)
	require.GreaterOrEqual(t, time.Since(began), 100*time.Millisecond, "there and back")
}

func TestCutRequest(t *testing.T) {
	s, l := serve(t)
	l.Break(tcptest.Rule{Do: tcptest.CutRequest, Mark: "put", Every: 2})
	c := dial(t, l)
	for _, line := range []string{"get", "put 1"} {
		_, err := c.say(line)
		require.NoError(t, err, line)
	}
	_, err := c.say("put 2")
	require.Error(t, err)
	require.Equal(t, 1, l.Broken())
	require.Eventually(t, func() bool { return s.heard() == "get\nput 1\nput" }, 10*time.Second, time.Millisecond)
	_, err = dial(t, l).say("again")
	require.NoError(t, err, "a new connection works")
}

func TestLoseAnswer(t *testing.T) {
	s, l := serve(t)
	l.Break(tcptest.Rule{Do: tcptest.LoseAnswer, Mark: "put"})
	answer, err := dial(t, l).say("put 1")
	require.Error(t, err)
	require.Empty(t, answer)
	require.Equal(t, "put 1\n", s.heard(), "it took effect")
	require.Equal(t, 1, l.Broken())
}

func TestHoldLetsThroughLate(t *testing.T) {
	s, l := serve(t)
	c := dial(t, l)
	l.Break(tcptest.Rule{Do: tcptest.Hold})
	_, err := c.Write([]byte("a\n"))
	require.NoError(t, err)
	require.NoError(t, c.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	_, err = c.lines.ReadString('\n')
	require.Error(t, err)
	require.Empty(t, s.heard())
	l.Heal()
	require.NoError(t, c.SetReadDeadline(time.Now().Add(10*time.Second)))
	answer, err := c.lines.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "a\n", answer)
}

func TestRefuse(t *testing.T) {
	_, l := serve(t)
	c := dial(t, l)
	_, err := c.say("a")
	require.NoError(t, err)
	l.Break(tcptest.Rule{Do: tcptest.Refuse})
	_, err = c.lines.ReadString('\n')
	require.Error(t, err, "what was open is broken")
	if other, err := net.Dial("tcp", l.Address); err == nil {
		defer other.Close()
		require.NoError(t, other.SetDeadline(time.Now().Add(10*time.Second)))
		_, err = other.Read(make([]byte, 1))
		require.Error(t, err)
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "and so is what is new")
	}
	l.Heal()
	_, err = dial(t, l).say("a")
	require.NoError(t, err)
}
