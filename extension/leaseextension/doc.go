// Package leaseextension gives leases that carry state.
package leaseextension
