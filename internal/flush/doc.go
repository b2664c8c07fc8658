// Package flush decides which open windows to seal, when, and why.
//
// The decision is a pure function of what the policy was told: no I/O, no
// clock, no goroutine. Time is the WAL's safe time, the stamp below which no
// record can still arrive, so that a backlog that is replayed forms the windows
// that it would have formed.
//
// A window is cut only between stamps. Callers tell the policy of a stamp's
// records only when they have all of them, and seal what it names before they
// add a record of a later stamp.
package flush
