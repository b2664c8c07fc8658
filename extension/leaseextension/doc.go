// Package leaseextension is the extension that components of a fleet of collectors
// ask for leases: a lease.Leases over the backend of its configuration. What a lease
// promises, and what it does not, is in package lease.
//
// # Backends
//
// A backend is a lease.Store: four methods over one register per key. It is a
// package under internal/ that passes leasetest against its real server, a block in
// Config, and a row in backends.go. One that is used without the extension is under
// lease/ instead. One whose client is too heavy for every collector with leases is a
// module of its own: see NewBackendFactory.
package leaseextension
