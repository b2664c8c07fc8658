package s3client

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

const (
	maxDial      = 10 * time.Second
	maxIdleConns = 64 // per host; a flush uses a handful
)

// newHTTPClient makes the SDK's own kind of client, which is what the loading
// of AWS_CA_BUNDLE can work on. It speaks HTTP/1.1 only: over HTTP/2 many
// requests share a connection, and a dead one among them would not be seen.
func newHTTPClient(timeout time.Duration, secure *tls.Config) *awshttp.BuildableClient {
	dialer := &net.Dialer{Timeout: min(maxDial, timeout)}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &watchedConn{Conn: conn, timeout: timeout}, nil
	}
	return awshttp.NewBuildableClient().WithReadTimeout(0).WithTransportOptions(func(t *http.Transport) {
		t.DialContext = dial
		if secure != nil {
			t.TLSClientConfig = secure.Clone()
		}
		t.TLSHandshakeTimeout = min(maxDial, timeout)
		t.ResponseHeaderTimeout = 0 // watchedConn sees a missing answer
		t.MaxIdleConnsPerHost = maxIdleConns
		t.IdleConnTimeout = timeout / 2 // before watchedConn ends it
		t.ForceAttemptHTTP2 = false
		t.Protocols = new(http.Protocols)
		t.Protocols.SetHTTP1(true)
	})
}

// singleUse has every request of c open a connection of its own: for a client
// that is made anew for a request or two.
func singleUse(c *awshttp.BuildableClient) *awshttp.BuildableClient {
	return c.WithTransportOptions(func(t *http.Transport) { t.DisableKeepAlives = true })
}

// finishHTTPClient freezes what the SDK made of newHTTPClient's client into
// one whose connections can be closed.
func finishHTTPClient(c aws.HTTPClient) (aws.HTTPClient, error) {
	b, ok := c.(*awshttp.BuildableClient)
	if !ok {
		return nil, fmt.Errorf("make HTTP client: the SDK replaced it with a %T", c)
	}
	return &http.Client{
		Transport:     b.GetTransport(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// watchedConn is a connection that ends when no byte moves in either direction
// for timeout. A long upload keeps the wait for its answer alive, and a slow
// transfer may take as long as it needs.
type watchedConn struct {
	net.Conn
	timeout time.Duration
}

func (c *watchedConn) Read(p []byte) (int, error) {
	c.alive()
	return c.Conn.Read(p)
}

// Write writes in pieces, each with its own time.
func (c *watchedConn) Write(p []byte) (int, error) {
	const piece = 64 << 10
	written := 0
	for {
		c.alive()
		n, err := c.Conn.Write(p[written:min(len(p), written+piece)])
		written += n
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// alive puts the end of the connection off. An error means that it is closed,
// which the next call says.
func (c *watchedConn) alive() { _ = c.Conn.SetDeadline(time.Now().Add(c.timeout)) }
