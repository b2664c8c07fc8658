// Package labtest is a laboratory for tests with real processes: a lake on a
// real S3 server, replicas of the real collector that write to it, load with a
// journal, and the judges that read the bucket.
//
// It starts what `make build test-tools` builds.
package labtest
