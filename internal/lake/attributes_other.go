//go:build !linux

package lake

func writeAttributes(string, attributes) error { return nil }

func readAttributes(string) attributes { return attributes{} }

func isNotDirectory(error) bool { return false }
