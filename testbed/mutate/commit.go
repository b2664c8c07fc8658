package main

// model are the model test's seeds of a world, which is all of them if it is
// empty.
func model(world string) suite {
	s := suite{pkg: "internal/commit", run: "^TestModel$", env: []string{"COMMIT_MODEL_SEEDS=400"}}
	if world != "" {
		s.env = []string{"COMMIT_MODEL_SEEDS=150", "COMMIT_MODEL_WORLD=" + world}
	}
	return s
}

// fast are the other tests of package commit, which take seconds.
func fastCommit() suite {
	return suite{pkg: "internal/commit", run: "^Test([^M]|M[^o])"}
}

func ofCommit() []mutant {
	const dir = "internal/commit/"
	in := func(world string, m mutant) mutant { return m.by(fastCommit(), model(world)) }
	return []mutant{
		in("", mutant{name: "a log is not looked ahead of its head", edits: []edit{
			{dir + "load.go", "	return l.ahead(ctx)\n", "	return nil\n"},
		}}),
		in("", one("what cannot be put brings no doubt", dir+"load.go", "if !l.doubted.Swap(false) {", "if true {")),
		in("", one("a head behind the state is adopted", dir+"turn.go", "if s.K <= t.log.state.K {", "if false {")),
		in("", one("a put with an unknown outcome counts", dir+"commit.go", "		case err == nil:\n", "		case err == nil || !errors.Is(err, lake.ErrExists):\n")),
		in("bucket set back", mutant{name: "a head is not held to its manifest", edits: []edit{
			{dir + "load.go", "	return sha == s.ManifestSHA256, err\n", "	return len(sha) > 0, nil\n"},
			{dir + "load.go", "		return false, nil\n", "		return true, nil\n"},
		}}),
		in("bucket set back", one("a head that does not fit is adopted at a turn", dir+"turn.go", "if t.log.unfit {", "if false {")),
		in("", one("a window that does not follow is committed", dir+"commit.go", "if w.After != end {", "if false {")),
		in("", one("a window that is committed is committed again", dir+"commit.go", "if w.End <= end {", "if false {")),
		in("", one("a number that is refused is passed by", dir+"fold.go",
			"	l.state.fold(m, sha)\n	l.bound()\n	return nil", "	l.state.K, l.state.ManifestSHA256 = m.K, sha\n	l.bound()\n	return nil")),
		in("", one("a leap forgets the writers between", dir+"state.go", "for name, r := range m.Writers {", "for name, r := range map[string]lake.Reach{} {")),
		in("", one("a manifest names the writers of one window less", dir+"state.go", "s.K+1-w.K < span {", "s.K+2-w.K < span {")),
		in("", one("a leap is one too far", dir+"fold.go", "min(at+span, n)", "min(at+span+1, n)")),
		in("pruned", one("a writer's end is remembered as of a later window", dir+"ends.go", "asOf: l.state.K}", "asOf: l.state.K + 1}")),
		in("pruned", one("the end of an own writer is forgotten", dir+"ends.go", "return l.own[writer].end, nil", "return 0, nil")),
		in("pruned", one("a stamp below the pruned ones is not looked for", dir+"state.go", " || 0 < after && after <= s.Pruned", "")),
		in("pruned", one("a start below the pruned ones is not looked for", dir+"state.go", "start < s.Pruned || ", "")),
		in("pruned", one("a window of a pruned writer blocks the log", dir+"valid.go", " || m.After == 0 && m.Start >= end", "")),
		in("pruned", one("writers of the newest windows are pruned", dir+"state.go", "s.K-w.K < p.span || ", "")),
		in("pruned", one("what is pruned is not noted", dir+"state.go", "		s.Pruned = max(s.Pruned, w.End)\n", "")),
		in("", one("a survey calls all logs absent", dir+"survey.go", "	return !found\n", "	return !found || true\n")),
		in("copied WAL", one("a sweep goes beyond its writer's end", dir+"sweep.go",
			"s.first <= name.Start && name.Start < s.end &&", "s.first <= name.Start &&")),
		in("", one("a sweep deletes what a manifest names", dir+"sweep.go", " && !named[i.Key]", "")),
		in("", one("a manifest of another chain is accepted", dir+"valid.go", "	if *m.Prev != want {", "	if false {")),
		in("", one("a log with a gap is rebuilt", dir+"load.go", "			if k != last+1 {", "			if false {")),
		in("", one("a turn is not given back after an error", dir+"turn.go", "		t.write(ctx, nil)\n		return nil, err\n", "		return nil, err\n")),
		in("", one("a foreseen manifest is not checked", dir+"fold.go",
			"case err == nil && l.gap == 1:\n		return l.accept(ctx, m, sha)", "case err == nil && l.gap == 1:\n		return l.leap(m, sha)")).
			known("a leap holds the manifest to all that a program of ours can get wrong; what accept asks beyond that only a forged manifest fails"),
		in("", one("a leap does not ask whether the writers agree", dir+"fold.go",
			"	if why := disagrees(&l.state, l.opts.scale.span, m); why != \"\" {\n		return l.blocked(m.K, why, nil)\n	}\n	l.state.leap", "	l.state.leap")),
		in("", one("an end is looked for in all manifests", dir+"ends.go", "l.scan(ctx, writer, l.own[writer].asOf)", "l.scan(ctx, writer, 0)")).
			known("it finds the same end; it only reads more"),
	}
}
