package lake

import (
	"encoding/json"
	"errors"
	"fmt"
	"syscall"
)

// The names are versitygw's, so that either reads what the other wrote.
const (
	attrETag        = "user.etag"
	attrContentType = "user.content-type"
	attrMetadata    = "user.metadata"
)

// writeAttributes stores a beside the file at path. A file system without user
// attributes is no error: what it holds then has no metadata.
func writeAttributes(path string, a attributes) error {
	metadata, err := json.Marshal(a.metadata)
	if err != nil {
		return err
	}
	for _, x := range []struct {
		name  string
		value []byte
	}{{attrETag, []byte(a.etag)}, {attrContentType, []byte(a.contentType)}, {attrMetadata, metadata}} {
		err := syscall.Setxattr(path, x.name, x.value, 0)
		if errors.Is(err, syscall.ENOTSUP) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("set attribute %s: %w", x.name, err)
		}
	}
	return nil
}

// readAttributes returns what stands beside the file at path; what is missing
// or unreadable is empty.
func readAttributes(path string) attributes {
	var a attributes
	a.etag = string(readAttribute(path, attrETag))
	a.contentType = string(readAttribute(path, attrContentType))
	if json.Unmarshal(readAttribute(path, attrMetadata), &a.metadata) != nil {
		a.metadata = nil
	}
	return a
}

func readAttribute(path, name string) []byte {
	value := make([]byte, 64<<10) // the most that Linux keeps in one
	n, err := syscall.Getxattr(path, name, value)
	if err != nil {
		return nil
	}
	return value[:n]
}

func isNotDirectory(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
