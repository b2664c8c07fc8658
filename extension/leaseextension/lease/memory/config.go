package memory

// Config is the backend's block of the configuration. It has no keys.
type Config struct{}
