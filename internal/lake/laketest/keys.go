package laketest

import "github.com/s3window/s3window/internal/partition"

// ObjectKey returns the key of an object of partition id that is filed under the
// hour in which its window starts.
func ObjectKey(prefix string, id partition.ID, n partition.ObjectName) string {
	return partition.PlacedKey(prefix, id, partition.Place{Time: n.Start, Align: partition.AlignHour}, n)
}
