// Package encodetest makes realistic OTLP requests for tests and benchmarks,
// the same for the same seed.
//
// Logs have about 621 bytes a record: 20 services with some 110 instances, 200
// message templates of 90 to 300 bytes, 8 to 12 attributes and 6 to 10 resource
// attributes, trace ids on half of the records. Half of the requests are those
// of an SDK (one resource, some 550 records), half those of a gateway (3 to 30
// resources, 1,000 to 8,192 records).
package encodetest
