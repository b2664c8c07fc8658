package encode

import "github.com/s3window/s3window/internal/encode/schema"

// DefaultColumns returns the columns that are promoted where nothing else is
// configured; each has its key as name, with _ for the dots.
func DefaultColumns() (out []Column) {
	for _, p := range schema.Defaults() {
		c := Column{As: p.Name(), Type: string(p.Type)}
		if p.Resource {
			c.ResourceAttribute = p.Key
		} else {
			c.Attribute = p.Key
		}
		out = append(out, c)
	}
	return out
}
