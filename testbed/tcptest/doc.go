// Package tcptest puts a network that breaks on command between clients and a
// server of any protocol over TCP. What breaks in the middle of something is
// found by a mark in the client's bytes, so clients must not encrypt.
package tcptest
