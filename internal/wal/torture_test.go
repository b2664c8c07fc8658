package wal

func childMain() bool { return false }
