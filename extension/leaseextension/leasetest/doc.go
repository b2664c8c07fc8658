// Package leasetest is the conformance suite that every lease backend passes,
// against its real server, and the decorators that break a store for it.
//
// A backend's test is
//
//	func TestConformance(t *testing.T) {
//		leasetest.Run(t, leasetest.RealTime, func(t testing.TB) leasetest.Backend { … })
//	}
//
// and that of a backend with a server that can be killed, wiped and cut off is a
// Server and its Run. RunForged is for servers over HTTP in whose place something
// else answers.
//
// Participants are the processes of a test: each has its own store over the same
// registers, and its own Faulty in front of it. Stores that live in the test's
// process run in a synctest bubble, where hours pass at once.
package leasetest
