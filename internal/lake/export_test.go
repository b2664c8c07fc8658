package lake

// WithReaders says how many manifests are read at once.
func WithReaders(n int) Option { return func(l *Lake) { l.readers = n } }
