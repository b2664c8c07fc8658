package main

func ofEncode() []mutant {
	const dir = "internal/encode/"
	return []mutant{
		one("what was carried loses when it was received", dir+"filing.go", "Entry{Payload: b[:size:size], ReceivedAt: received}", "Entry{Payload: b[:size:size], ReceivedAt: received - received}"),
		one("a refused entry costs all of its call", dir+"encoder.go", "	if refused(err) {\n", "	if false {\n"),
		one("a panic of the encoder goes on", dir+"attempt.go", "		if p := recover(); p != nil {\n", "		if p := any(nil); p != nil {\n"),
		one("the first record's time is lost", dir+"filing.go", "	out.MinTime, out.MaxTime = min(out.MinTime, s.MinTime), max(out.MaxTime, s.MaxTime)\n", "	out.MinTime, out.MaxTime = s.MinTime, s.MaxTime\n"),
		one("an entry that cannot be dealt out is passed over", dir+"filing.go", "	d, err := f.router.Split(entries)\n	if err != nil {\n", "	d, err := f.router.Split(entries)\n	if false {\n"),
		one("an encoder keeps memory without bound", dir+"parquetformat.go", "if s.held() <= ScratchBytes {", "if s.held() >= 0 {").
			known("it costs memory, and no test measures how much an idle encoder keeps"),
	}
}
