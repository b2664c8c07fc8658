// Package sealed takes a window from its seal to the trim of the queue.
//
// How far a window is, is its type, so that no step can be forgotten:
//
//	Window     its bounds are decided; nothing is written
//	Durable    its seal is in the queue's storage: the next process rebuilds this window and no other
//	Uploaded   its objects are in the bucket
//	Committed  its manifest is in the bucket
//
// Only a Durable is uploaded, only an Uploaded committed, only a Committed
// trimmed. Each step may be repeated, also by another process: a repeated one
// finds what the earlier one left.
//
// A window belongs to one goroutine at a time: the loop of package window, or
// the one that does a step for it.
package sealed
