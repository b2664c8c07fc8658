package lake

import (
	"encoding/hex"
	"strconv"
)

// The keys of the metadata that stands with every object. Together they are
// enough to write a manifest for bytes that another version encoded. The
// format is documented in DESIGN.md.
const (
	metaSHA256  = "s3window-sha256"
	metaBytes   = "s3window-bytes"
	metaRecords = "s3window-records"
	metaMinTime = "s3window-min-time"
	metaMaxTime = "s3window-max-time"
	metaEncoder = "s3window-encoder"
)

// metadata is what stands with body in the bucket.
func (m ObjectMeta) metadata(body Body) map[string]string {
	return map[string]string{
		metaSHA256:  hex.EncodeToString(body.SHA256[:]),
		metaBytes:   strconv.FormatInt(body.Size, 10),
		metaRecords: strconv.FormatInt(m.Records, 10),
		metaMinTime: strconv.FormatInt(m.MinTime, 10),
		metaMaxTime: strconv.FormatInt(m.MaxTime, 10),
		metaEncoder: m.Encoder,
	}
}

// verified returns the object that the metadata describes, if the content is
// what the metadata says and the metadata is complete.
func (c content) verified() (Object, bool) {
	md := c.info.Metadata
	o := Object{Key: c.info.Key, SHA256: md[metaSHA256], Encoder: md[metaEncoder]}
	if o.SHA256 != hex.EncodeToString(c.sum[:]) || o.Encoder == "" {
		return Object{}, false
	}
	for key, field := range map[string]*int64{
		metaBytes: &o.Bytes, metaRecords: &o.Records, metaMinTime: &o.MinTime, metaMaxTime: &o.MaxTime,
	} {
		n, err := strconv.ParseInt(md[key], 10, 64)
		if err != nil {
			return Object{}, false
		}
		*field = n
	}
	return o, o.Bytes == c.size && o.Records >= 0
}
