package leasetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/testbed/servers"
	"github.com/s3window/s3window/testbed/tcptest"
)

// Server is a backend whose registers are in a server that a test can kill, wipe
// and cut off.
type Server struct {
	// Start starts a server, which ends with the test.
	Start func(t testing.TB) *servers.Server

	// Registers returns what connects one more process to a set of registers that
	// is fresh and empty, in the server at address. What it opens ends with the
	// test.
	Registers func(t testing.TB, address string) func(t testing.TB) lease.Store

	// Lose takes everything from the server. nil: it is killed, wiped and started
	// again.
	Lose func(t testing.TB, server *servers.Server)

	// Mark is in what a client sends for a write of a lease, and in nothing else:
	// MarkOfRecord, in the protocol's encoding. Unset: no connection breaks.
	Mark string
	// Every says that one write of so many breaks; 0: of five.
	Every int
	// TTL of leases over connections that break; unset: 6 s.
	TTL time.Duration
}

// MarkOfRecord is in every record.
const MarkOfRecord = `"epoch":`

// Run runs the whole suite: against one server; against one of its own that is
// started again, or that loses everything; and over connections that break.
func (s Server) Run(t *testing.T) {
	t.Run("suite", func(t *testing.T) {
		server := s.Start(t)
		Run(t, RealTime, func(t testing.TB) Backend { return Backend{Open: s.Registers(t, server.Address)} })
	})
	t.Run("restart", func(t *testing.T) {
		server := s.Start(t)
		RunOnly(t, RealTime, "lease/survives a restart of the store", func(t testing.TB) Backend {
			return Backend{
				Open:    s.Registers(t, server.Address),
				Restart: func(testing.TB) { server.Kill(); server.Restart() },
			}
		})
	})
	t.Run("loss", func(t *testing.T) {
		server := s.Start(t)
		RunOnly(t, RealTime, "lease/begins again", func(t testing.TB) Backend {
			return Backend{Open: s.Registers(t, server.Address), Lose: func(t testing.TB) { s.lose(t, server) }}
		})
	})
	if s.Mark == "" {
		return
	}
	server := s.Start(t)
	t.Run("writes that break in their middle", func(t *testing.T) { s.breaks(t, server, tcptest.CutRequest) })
	t.Run("writes that break before the answer", func(t *testing.T) { s.breaks(t, server, tcptest.LoseAnswer) })
}

func (s Server) lose(t testing.TB, server *servers.Server) {
	if s.Lose != nil {
		s.Lose(t, server)
		return
	}
	server.Kill()
	server.Wipe()
	server.Restart()
}

// breaks counts under leases while writes break in the clients' connections.
func (s Server) breaks(t *testing.T, server *servers.Server, action tcptest.Action) {
	rule := tcptest.Rule{Do: action, Mark: s.Mark, Every: s.Every}
	if rule.Every == 0 {
		rule.Every = 5
	}
	link := tcptest.Start(t, server.Address)
	link.Break(rule)
	t.Cleanup(func() { require.GreaterOrEqual(t, link.Broken(), 2, "what should break did not") })
	RunOnly(t, RealTime, "fault/random", func(t testing.TB) Backend {
		ttl := s.TTL
		if ttl == 0 {
			ttl = 6 * time.Second
		}
		return Backend{TTL: ttl, Open: s.Registers(t, link.Address)}
	})
}

// BenchmarkPut is BenchmarkPut on a server of its own.
func (s Server) BenchmarkPut(b *testing.B) {
	BenchmarkPut(b, s.Registers(b, s.Start(b).Address)(b))
}
