package main

func ofFlush() []mutant {
	const dir = "internal/flush/"
	return []mutant{
		one("a window is cut inside a stamp", dir+"rules.go", "	if next.Time == w.Last && next.Writer == w.Writer {\n		return \"\", false // a window is cut only between stamps\n	}\n", ""),
		one("a window has two writers", dir+"rules.go", "case next.Writer != w.Writer, next.Time", "case next.Time"),
		one("a window crosses its hour", dir+"rules.go", ", next.Time >= w.Until, next.Sealed:", ", next.Sealed:"),
		one("a window takes records of a sealed one", dir+"rules.go", ", next.Time >= w.Until, next.Sealed:", ", next.Time >= w.Until:"),
		one("a rebuilt window ends at its target size", dir+"rules.go", "return w.Rebuilt == nil && w.Expected", "return w.Expected"),
		one("a rebuilt window takes what lies behind its end", dir+"rules.go", " && next.Time < b.End", ""),
		one("a rebuilt window is due before its end", dir+"rules.go", "c.Safe.Time >= w.Rebuilt.End", "c.Safe.Time >= w.Rebuilt.Start"),
		one("age seals while the reader is behind", dir+"rules.go", "!w.Waits && !c.behind(w.Limits.MaxAge)", "!w.Waits"),
		one("nothing is due by its age", dir+"policy.go", "case ok && reason == Age:", "case ok && reason == Memory:"),
		one("a boundary is due with the next record only", dir+"policy.go", "	p.end(c)\n	p.age(c)\n", "	p.age(c)\n"),
		one("the memory seals what is rebuilt", dir+"policy.go", "	if w.Rebuilt == nil {\n		p.first", "	if true {\n		p.first"),
		one("a shutdown leaves what is worth a commit", dir+"rules.go", "w.Raw >= worthBytes || now", "now"),
	}
}
