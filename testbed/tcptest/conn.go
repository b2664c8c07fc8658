package tcptest

import (
	"net"
	"sync/atomic"
)

// conn is one connection through a link.
type conn struct {
	client, server net.Conn
	mute           atomic.Bool // what the server says is lost
}

// cut breaks both sides by a reset.
func (c *conn) cut() {
	for _, side := range []net.Conn{c.client, c.server} {
		if tcp, ok := side.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = side.Close()
	}
}

// accept takes connections until the link is closed.
func (l *Link) accept() {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.work.Go(func() { l.connect(client) })
	}
}

// connect reaches the server, or breaks the client's connection.
func (l *Link) connect(client net.Conn) {
	c := &conn{client: client, server: client}
	rule, ok := l.await()
	if !ok || rule.Do == Refuse {
		c.cut()
		return
	}
	server, err := new(net.Dialer).DialContext(l.closed, "tcp", l.target)
	if err != nil {
		c.cut()
		return
	}
	c.server = server
	l.mu.Lock()
	l.conns[c] = struct{}{}
	late := l.closed.Err() != nil || l.rule.Do == Refuse
	l.mu.Unlock()
	if late {
		c.cut()
	}
	l.work.Go(func() { pump(client, func(piece []byte) bool { return l.ask(c, piece) }); c.cut() })
	pump(server, func(piece []byte) bool { return l.answer(c, piece) })
	c.cut()
	l.mu.Lock()
	delete(l.conns, c)
	l.mu.Unlock()
}

// pump hands on what arrives until the connection ends or pass says so.
func pump(from net.Conn, pass func(piece []byte) bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !pass(buffer[:n]) || err != nil {
			return
		}
	}
}

// ask takes a piece to the server; false ends the connection.
func (l *Link) ask(c *conn, piece []byte) bool {
	rule, ok := l.await()
	if !ok {
		return false
	}
	broken := l.breaks(rule, piece)
	if broken && rule.Do == CutRequest {
		piece = piece[:len(piece)/2]
	}
	if broken && rule.Do == LoseAnswer {
		c.mute.Store(true)
	}
	if _, err := c.server.Write(piece); err != nil {
		return false
	}
	if broken && rule.Do == LoseAnswer {
		l.sleep(untilApplied)
	}
	return !broken
}

// answer takes a piece to the client; false ends the connection.
func (l *Link) answer(c *conn, piece []byte) bool {
	if _, ok := l.await(); !ok {
		return false
	}
	if c.mute.Load() {
		return true
	}
	_, err := c.client.Write(piece)
	return err == nil
}
