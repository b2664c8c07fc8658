package main

func ofWAL() []mutant {
	const dir = "internal/wal/"
	list := []mutant{
		one("room: who comes later goes first", dir+"room.go", "case len(r.waiters) == 0 && r.fitsLocked(n):", "case r.fitsLocked(n):"),
		one("room: whoever fits is served, in any order", dir+"room.go",
			"	for len(r.waiters) > 0 && r.fitsLocked(r.waiters[0].need) {\n		r.used += r.waiters[0].need\n		r.waiters[0].ready <- nil\n		r.waiters = r.waiters[1:]\n	}\n",
			"	for i := 0; i < len(r.waiters); {\n		w := r.waiters[i]\n		if !r.fitsLocked(w.need) {\n			i++\n			continue\n		}\n		r.used += w.need\n		w.ready <- nil\n		r.waiters = slices.Delete(r.waiters, i, i+1)\n	}\n"),
		one("room: one is served where several fit", dir+"room.go", "	for len(r.waiters) > 0 && r.fitsLocked(", "	if len(r.waiters) > 0 && r.fitsLocked("),
		one("room: nobody is woken when there is room", dir+"room.go", "	r.used -= n\n	r.grantLocked()\n", "	r.used -= n\n"),
		one("room: those behind one that leaves are not woken", dir+"room.go", "		r.grantLocked()\n		r.mu.Unlock()\n		return ctx.Err()\n", "		r.mu.Unlock()\n		return ctx.Err()\n"),
		one("room: what is granted to one that leaves leaks", dir+"room.go", "	r.give(w.need)\n	return ctx.Err()\n", "	return ctx.Err()\n"),
		one("room: one that left stays in the line", dir+"room.go", "		r.waiters = slices.Delete(r.waiters, i, i+1)\n		r.grantLocked()\n", "		r.grantLocked()\n"),
		one("room: waiters are not told of the close", dir+"room.go", "		w.ready <- ErrClosed\n", "		_ = w\n"),
		one("room: a closed one still admits", dir+"room.go", "	case r.closed:\n		r.mu.Unlock()\n		return ErrClosed\n", ""),
		one("room: replayed entries take none", dir+"recover.go", "	w.room.force(w.opts.Sizer.of(w.index.weights))\n", ""),
		one("room: an append that is withdrawn leaks", dir+"append.go", "	if w.withdraw(req) {\n		w.release(req)\n", "	if w.withdraw(req) {\n"),
		one("room: an append that fails leaks", dir+"settle.go", "		w.release(r)\n		r.done <- err\n", "		r.done <- err\n"),
		{name: "close drops pending appends", edits: []edit{
			{dir + "commit.go", "		case !idle:\n", "		case !idle && !closed:\n"},
			{dir + "commit.go", "		case closed:\n", "		case closed:\n			w.failPending()\n"},
		}},
		one("close leaves appends waiting when its time is over", dir+"wal.go", "		w.cancel()\n		w.failPending()\n", "		w.cancel()\n"),
		one("an append is acknowledged when the storage refused it", dir+"settle.go", "		w.release(r)\n		r.done <- err\n", "		w.release(r)\n		r.done <- nil\n"),
		one("an append that failed is not removed", dir+"settle.go", "		w.discardLocked(g.first, g.last)\n", ""),
		one("discards are forgotten before they are written", dir+"settle.go", "w.discards[s.discards:]", "nil"),
		one("the mark counts past what is under way", dir+"commit.go", "		low = w.inflight.first\n", "		low = w.inflight.last + 1\n"),
		one("the mark forgets discards", dir+"commit.go", "	if len(w.discards) > 0 {\n		low = min(low, w.discards[0].first)\n	}\n", ""),
		one("sequence numbers begin at the mark alone", dir+"recover.go", "max(m.seqs.next, r.maxSeq+1, 1)", "max(m.seqs.next, 1)"),
		one("stamps begin at the mark alone", dir+"recover.go", "newClock(max(r.mark.stamp, r.stamp))", "newClock(r.mark.stamp)").known(
			"a writer's stamps are compared with its own only, and each open has a writer of its own"),
		one("stamps are given up though entries are owed", dir+"recover.go", "case w.index.entries > 0 || len(w.seals.records) > 0:", "case false:"),
		one("a stamp repeats after a restart", dir+"clock.go", "max(now.UnixMicro(), last+1)", "now.UnixMicro()"),
		one("the clock steps back with the wall clock", dir+"clock.go", "	return max(c.at, c.last+1)\n", "	return c.at\n"),
		one("an entry is deleted before its spacers", dir+"trim.go",
			"			for slot := range entrySlot {\n				keys = append(keys, trimKey{seq, slot})\n			}\n		}\n		keys = append(keys, trimKey{seq, entrySlot})\n",
			"			keys = append(keys, trimKey{seq, entrySlot})\n			for slot := range entrySlot {\n				keys = append(keys, trimKey{seq, slot})\n			}\n			continue\n		}\n		keys = append(keys, trimKey{seq, entrySlot})\n"),
		one("a trim is done with its first piece", dir+"trim.go", "		if len(first.keys) == 0 {\n			complete", "		if len(first.keys) >= 0 {\n			complete"),
		one("a seal that is tried again gets a twin", dir+"seal.go", "if put.id == 0 {", "if true {"),
		one("a trimmed entry is read", dir+"read.go", "		if w.index.block(e.Seq) != nil {\n			left", "		if true {\n			left"),
		one("the reader passes over what a failed read had", dir+"read.go",
			"	entries, err := w.load(ctx, seqs, nil, nil)\n	if err != nil {\n		return err\n	}\n", "	entries, err := w.load(ctx, seqs, nil, nil)\n	if err != nil {\n		w.reader.cursor = end\n		return err\n	}\n"),
		one("damage in a payload is not noticed", dir+"aside.go", "	if e.Payload, err = h.payload(raw); err != nil {", "	if e.Payload, _ = h.payload(raw); err != nil {"),
		one("a damaged entry is not set aside", dir+"aside.go", "		_ = w.send(c) // closed: the next open finds it\n", ""),
		one("a storage that keeps nothing is accepted", dir+"wal.go", "	if len(got) != markSize {", "	if false {"),
	}
	for i := range list { // the tests of the room take no time
		list[i] = list[i].by(suite{pkg: "internal/wal", run: "^TestRoom"}, suite{pkg: "internal/wal"})
	}
	return list
}
