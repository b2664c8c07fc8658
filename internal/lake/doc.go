// Package lake is the bucket: it puts objects, reads them back, and keeps the
// manifests that make windows real.
//
// Three things stand here. Bucket is the seam to an object store, with the
// implementations S3 and Dir; the package laketest holds the acceptance suite
// that each of them passes, and a bucket in memory with scripted faults. Lake
// puts objects and manifests over a Bucket. Manifest is the format of one entry
// of a partition's commit log.
//
// Everything the bucket holds is created with a condition and never changed:
// an object and a manifest exist whole or not at all, and whoever comes second
// is told so. The one exception is an object whose content does not match its
// own metadata. It is torn, no reader may rely on it, and its own writer
// replaces it.
//
// DESIGN.md documents the formats and the reasons.
package lake
