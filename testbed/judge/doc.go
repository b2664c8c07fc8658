// Package judge decides from a bucket and a journal alone whether every
// acknowledged record is where it was promised to be.
//
// It shares no code with the exporter: it reads manifests and objects by the
// documented format (docs/format.md) and the load generator's journal. What
// it holds the lake to:
//
//   - the manifests of every partition are 1, 2, 3 …, each naming the SHA-256
//     of the one before;
//   - every object that a manifest names has the size, hash and number of
//     records that the manifest says;
//   - every acknowledged record is in exactly one row of the committed windows
//     of its own tenant;
//   - every other record that was sent is in one row at most, and the records
//     of one request and tenant are all there or none of them is;
//   - no row is of unknown origin.
package judge
