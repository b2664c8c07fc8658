package lake

// attributes is what stands beside a Dir's file.
type attributes struct {
	etag        string
	contentType string
	metadata    map[string]string
}
