// Package replay sends the committed windows of a lake to an OTLP receiver.
//
// What is committed say the manifests alone. The windows of a partition are
// sent in the order of k, one after the other; an object is sent only if it is
// what its manifest says. A state file remembers for every partition the last
// window of which all requests were acknowledged. A run that ends in the middle
// of a window sends that window again: every record arrives at least once, and
// twice only if it is of a window that was under way.
//
// A request that the receiver refuses for good, because of what is in it, is
// halved until the records that it refuses are found. All others are sent. What
// is refused ends the replay, or is written down and passed over.
package replay
