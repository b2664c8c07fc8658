// Package flush has the rules by which windows are sealed: when, and why.
//
// Each rule is a pure function of an open window, the next record, and what
// the caller says of time and memory: no I/O, no clock, no goroutine.
//
//	reason     before a record joins               the window is full      by the clock                         on demand
//	size       expected size reached the target    the same
//	age        it is MaxAge behind the first one                           the safe time is MaxAge behind it
//	boundary   it lies in another hour, has                                the safe time left the hour
//	           another writer, or belongs to a
//	           window that was sealed before
//	rotation   its segment is a later one                                  the segment of the first one ended
//	memory                                                                                                      Largest
//	shutdown                                                                                                    AtShutdown
//
// Time is the queue's safe time: the stamp below which no record can still
// arrive. It is the time of the backlog while a backlog is read. Age does not
// seal while the reader is behind by more than MaxAge: the records are late
// already, and small windows would only make them later. Nor does it while the
// windows before it are on their way, or the pool has as many as it takes:
// windows that wait may as well grow.
//
// A window that an earlier process sealed is rebuilt within the bounds it was
// sealed with. No rule but these bounds ends it.
//
// A window is cut only between stamps. Callers ask Full only when they have all
// records of a stamp, and seal what a rule names before they add a record of a
// later stamp.
package flush
