// Package otlp walks OTLP requests as protobuf bytes, without building
// objects: it locates resources, scopes and records, and turns values into
// text.
//
// Fields may stand in any order (SDKs write them ascending, the collector
// descending). Of a scalar met twice the last counts, a message met twice is
// merged, unknown fields are stepped over. Every bound is checked. Groups and
// known fields with a wrong wire type are refused.
//
// Results are slices of the input. Nothing here allocates, but for messages
// that have to be merged.
package otlp
