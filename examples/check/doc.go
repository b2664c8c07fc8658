// Package check holds the examples to what they are examples of: the collector
// that is built here takes each configuration, and Kubernetes' own types take
// each manifest, with no field that they do not know.
package check
