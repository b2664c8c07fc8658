// Package partition says which tenant and partition a record belongs to, and
// names every key in the bucket.
//
// A partition is one tenant's records of one signal under one sink. It is the
// unit of buffering, of windows and of commits. The package is pure: no I/O,
// no clock of its own, no goroutine.
//
// Keys are a public format (docs/format.md):
//
//	<prefix>/tenant=<t>/signal=<s>/dt=YYYY-MM-DD/hour=HH/w-<start>-<end>-<writer>[-<part>].<ext>
//	<prefix>/_s3window/sink=<sink>/tenant=<t>/signal=<s>/windows/<k:010>.json
//	<prefix>/_s3window/sink=<sink>/layout.json
//	<prefix>/_s3window/leases/…
//	<prefix>/_s3window/quarantine/…
//
// Tenant, sink and attribute values are percent-encoded outside
// A-Z a-z 0-9 . _ - , so that no value can leave its prefix or collide with
// another one's.
//
// A Splitter takes a request apart by tenant. It deals out the bytes of the
// marshalled request and leaves the request itself alone, because the request
// may be shared with other exporters and is sent again when it is refused. The
// price is one copy of the bytes where a request has several tenants.
package partition
