package labtest

import (
	"fmt"
	"time"

	"github.com/s3window/s3window/testbed/s3test"
)

// LeaseTTL is short, so that tests can outwait it.
const LeaseTTL = 2 * time.Second

// S3Lease is configuration for Replica: leases of LeaseTTL in a bucket, on
// server, reached at endpoint. It may be the lake's bucket, or a lease store of
// its own.
func S3Lease(server *s3test.Server, endpoint, bucket string) string {
	return lease(fmt.Sprintf(`
    backend: s3
    s3:
      bucket: %s
      endpoint: %s
      region: us-east-1
      path_style: true
      access_key_id: %s
      secret_access_key: %s
      timeout: 2s`, bucket, endpoint, server.AccessKey, server.SecretKey))
}

// EtcdLease is configuration for Replica: leases of LeaseTTL in etcd at an
// address.
func EtcdLease(address string) string {
	return lease(fmt.Sprintf(`
    backend: etcd
    etcd:
      endpoints: ["http://%s"]`, address))
}

// NATSLease is configuration for Replica: leases of LeaseTTL in NATS at an
// address.
func NATSLease(address string) string {
	return lease(fmt.Sprintf(`
    backend: nats
    nats:
      endpoints: ["nats://%s"]`, address))
}

func lease(backend string) string {
	return fmt.Sprintf(`yaml:
extensions:
  lease:
    ttl: %v%s
exporters:
  s3window:
    lease: lease
service:
  extensions: [file_storage/wal, healthcheckv2, lease]
`, LeaseTTL, backend)
}
