// Package source reads committed windows from a lake: which commit logs there
// are, their manifests, and what data objects say of themselves.
package source
