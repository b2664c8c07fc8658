package main

// ofWindow breaks what moves records from the queue to committed windows.
func ofWindow() []mutant {
	const dir = "internal/window/"
	tests := []suite{{pkg: "internal/window/sealed"}, {pkg: "internal/window"}}
	list := []mutant{
		one("a seal's format gives way to the configuration's", dir+"open.go", "Target{Lake: q.Lake, Align: q.Align, Spec: q.Spec}", "Target{Lake: q.Lake, Align: q.Align, Spec: r.target(p).Spec}"),
		one("a seal's lake gives way to the configuration's", dir+"open.go", "w.to = p.dests[origin{q.Sink, q.Lake}]", "w.to = p.dests[origin{r.opt.Sink, r.target(p).Lake}]"),
		one("a seal is written anew for a window that has one", dir+"open.go", "		f.durable = sealed.Rebuilt(s, w.pin.id)\n", ""),
		one("a rebuilt window gets new bounds", dir+"open.go", "		w.Rebuilt = &flush.Bounds{Start: q.Start, End: q.End, Reason: q.Reason}\n", ""),
		one("the lakes of earlier writers are not asked", dir+"recover.go", "		if at := w.origins.of(p.tenant); at.ref.Bucket != \"\" {", "		if at := w.origins.of(p.tenant); false && at.ref.Bucket != \"\" {"),
		one("the lakes of seals are not asked", dir+"recover.go", "		origins[origin{q.Sink, q.Lake}] = struct{}{}\n", "		_ = q\n"),
		one("earlier writers are not asked for", dir+"open.go", "		ids[w.id] = struct{}{}\n	}\n	for _, q", "		_ = w\n	}\n	for _, q"),
		one("an entry that is committed is put into another window", dir+"open.go", "	if e.Stamp < p.committed(e.Writer) {", "	if false {"),
		one("a seal of which something is committed is kept", dir+"recover.go", "		if q.Start >= p.committed(q.Writer) {\n			return false", "		if true {\n			return false"),
		one("an empty window drops the damage it should name", dir+"sealed/window.go", " && len(u.Lost) == 0 && len(u.Damaged) == 0", " && len(u.Lost) == 0"),
		one("an empty window drops the entries it should name", dir+"sealed/window.go", " && len(u.Lost) == 0 && len(u.Damaged) == 0", " && len(u.Damaged) == 0"),
		one("after is not chained within a turn", dir+"sealed/commit.go", "			after = w.End\n", ""),
		one("a turn begins at nothing", dir+"settle.go", "	after := p.queue[0].to.ends[ws[0].Writer]\n", "	after := int64(0)\n"),
		one("windows of two writers share a turn", dir+"settle.go", " || f.window.Writer != p.queue[0].window.Writer", ""),
		one("windows of two logs share a turn", dir+"settle.go", " || f.to != p.queue[0].to", ""),
		one("a window is committed before those before it", dir+"settle.go",
			"		if len(ws) == maxTurn || f.uploaded == nil || f.to", "		if f.uploaded == nil {\n			continue\n		}\n		if len(ws) == maxTurn || f.to"),
		one("a window is trimmed though it is not committed", dir+"sealed/commit.go", "			if n == 0 {\n				break\n			}\n			n--\n", "			n--\n"),
		one("a seal goes before its entries", dir+"sealed/commit.go",
			"	if err := f.Persist(ctx, Trim, func() error { return f.Queue.Trim(ctx, c.seqs()) }); err != nil {\n		return err\n	}\n	return f.Persist(ctx, DeleteSeal, func() error { return f.Queue.DeleteSeal(ctx, c.SealID) })\n",
			"	if err := f.Persist(ctx, DeleteSeal, func() error { return f.Queue.DeleteSeal(ctx, c.SealID) }); err != nil {\n		return err\n	}\n	return f.Persist(ctx, Trim, func() error { return f.Queue.Trim(ctx, c.seqs()) })\n"),
		one("the seal of a committed window stays", dir+"sealed/commit.go",
			"	return f.Persist(ctx, DeleteSeal, func() error { return f.Queue.DeleteSeal(ctx, c.SealID) })\n", "	return nil\n"),
		one("a committed end is not noted", dir+"settle.go", "		to.ends[c.Writer] = max(to.ends[c.Writer], c.End)\n", ""),
		one("damage not yet named is lost when a partition restarts", dir+"restart.go", "			r.opt.Damage.put(p.key, f.uploaded.Damaged...)\n", ""),
		one("entries that are missing are not named", dir+"pool.go", "		r.opt.Damage.put(p.key, f.uploaded.Missing...)\n", ""),
		one("damage is named twice", dir+"damage.go", "	delete(d.found, k)\n", ""),
		one("committed entries stay after one storage error", dir+"loop.go",
			"		_ = r.flusher.Persist(ctx, sealed.Trim, func() error { return r.opt.Queue.Trim(ctx, seqs) })\n", "		_ = r.opt.Queue.Trim(ctx, seqs)\n"),
		one("a seal that must go stays after one storage error", dir+"recover.go",
			"			err = r.flusher.Persist(ctx, sealed.DeleteSeal, func() error { return r.deleteSeals(ctx, drop) })\n", "			_ = r.deleteSeals(ctx, drop)\n"),
		one("the seals of a restart are forgotten", dir+"restart.go", "			p.pins = append(p.pins, &pin{f.durable.SealID, f.window.Seal})\n", ""),
		one("a void window keeps its seal at a restart", dir+"restart.go", "			p.drop = append(p.drop, f.durable.SealID)\n", "			p.pins = append(p.pins, &pin{f.durable.SealID, f.window.Seal})\n"),
		one("a restart reads on from the newest entry", dir+"restart.go", "		p.cursor = first\n		r.lag(p)\n	}\n	r.forgetWindows(p)", "		p.cursor = r.next()\n		_ = first\n		r.lag(p)\n	}\n	r.forgetWindows(p)"),
		one("a twin of a seal is kept", dir+"recover.go", "		if twin || q.Start < p.want.DropBefore {", "		if q.Start < p.want.DropBefore || twin && false {"),
		one("a group on its way counts as read", dir+"reader.go", "	if len(r.transit.at) > 0 {\n		return r.transit.at[0]\n	}\n", ""),
		one("what a scan brings comes before what waits", dir+"relieve.go", "	p.scan = nil // what it brings would come before what is left here\n", ""),
		one("a scan gives entries twice", dir+"scan.go", "		case p.scan != s || e.Seq < p.cursor.Seq:\n", "		case p.scan != s:\n"),
		one("an object of other records stands for a window's", dir+"sealed/objects.go", "	if !p.fits(put, o) {", "	if false {"),
		one("a directory's part may have other bytes", dir+"sealed/objects.go", "	case p.refiled || ours.Part > 0:\n", "	case p.refiled:\n"),
		one("an object with fewer records stands for a window's", dir+"sealed/objects.go", "there.Records >= ours.Records", "there.Records >= 0"),
		one("what does not decode is not kept", dir+"sealed/quarantine.go", "			r.Lost = append(r.Lost, lost)\n", "			_ = lost\n"),
		one("a unit that was cooled is taken for an empty one", dir+"sealed/unit.go", "u.rows == nil && u.payloads == nil }", "false }"),
		one("a payload is held beyond the limit of the memory", dir+"sealed/unit.go", "	u.data.Resize(held, 0)\n", "	_ = held\n"),
		one("a window is read back without a turn", dir+"sealed/encode.go", "		for _, u := range w.Units {\n			u.drop()\n		}\n		select {", "		select {"),
		one("a shutdown gives up at once", dir+"loop.go", "			expired = time.After(r.opt.Grace)\n", "			expired = time.After(0)\n"),
	}
	for i := range list {
		list[i] = list[i].by(tests...)
	}
	return list
}
