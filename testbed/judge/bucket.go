package judge

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// manifest is what the judge needs of one.
type manifest struct {
	Version        int
	Sink, Tenant   string
	K              uint64
	Records, Bytes int64
	Objects        []struct {
		Key            string
		Bytes, Records int64
		SHA256         string
	}
	Prev *struct {
		K      uint64
		SHA256 string
	}
}

// commitLogs lists the manifests of every partition: directory -> names in
// order.
func commitLogs(bucket fs.FS, prefix string) (map[string][]string, error) {
	out := map[string][]string{}
	root := path.Join(prefix, "_s3window")
	err := fs.WalkDir(bucket, root, func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && p == root {
			return fs.SkipAll // nothing was ever committed
		}
		if err != nil || d.IsDir() {
			return err
		}
		if dir := path.Dir(p); path.Base(dir) == "windows" && strings.HasPrefix(p, root+"/sink=") {
			out[dir] = append(out[dir], path.Base(p))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list manifests below %q: %w", root, err)
	}
	return out, nil
}

// readManifest reads one, and the hash of its bytes.
func readManifest(bucket fs.FS, key string) (manifest, string, error) {
	data, err := fs.ReadFile(bucket, key)
	if err != nil {
		return manifest{}, "", err
	}
	var m manifest
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&m); err != nil {
		return manifest{}, "", fmt.Errorf("not a manifest: %w", err)
	}
	if m.Version != 2 {
		return manifest{}, "", fmt.Errorf("manifest version %d is not 2", m.Version)
	}
	return m, hash(data), nil
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
