package run

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/s3window/s3window/icebergsync/internal/syncer"
	"github.com/s3window/s3window/icebergsync/internal/table"
)

const maxTenantName = 100

// tableOf returns the name of a log's table.
func (c *Config) tableOf(log syncer.Log) table.Name {
	parts := strings.Split(c.Table, ".")
	for i, p := range parts {
		parts[i] = fill(p, log)
	}
	return parts
}

// labelOf names a log's table in metrics: without the tenant, of which there can
// be very many.
func (c *Config) labelOf(log syncer.Log) string {
	return strings.ReplaceAll(c.Table, "{signal}", string(log.Signal))
}

func fill(template string, log syncer.Log) string {
	return strings.NewReplacer("{signal}", string(log.Signal), "{tenant}", nameOf(log.Tenant)).Replace(template)
}

// nameOf turns a tenant into a part of a table's name. Catalogs and engines agree
// on lower-case letters, digits and _ only; a tenant of anything else gets a hash,
// so that different tenants have different tables.
func nameOf(tenant string) string {
	var b strings.Builder
	for _, r := range tenant {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_':
			b.WriteRune(r)
		case r >= 'A' && r <= 'Z':
			b.WriteRune(r + 'a' - 'A')
		default:
			b.WriteByte('_')
		}
	}
	name := b.String()
	if name == tenant && name != "" && len(name) <= maxTenantName {
		return name
	}
	sum := sha256.Sum256([]byte(tenant))
	return name[:min(len(name), maxTenantName)] + "_" + hex.EncodeToString(sum[:4])
}

// LeaseName names the lease of the configuration's tables: whoever keeps the same
// tables in the same catalog asks for the same one.
func (c *Config) LeaseName() string {
	sum := sha256.Sum256([]byte(c.Catalog.URI + "\n" + c.Catalog.Warehouse + "\n" + c.Table))
	return "iceberg/" + c.S3.Bucket + "/" + hex.EncodeToString(sum[:8])
}
