package main

func ofLease() []mutant {
	const dir = "extension/leaseextension/lease/"
	tests := []suite{{pkg: "extension/leaseextension/lease"}, {pkg: "extension/leaseextension/lease/memory"}}
	list := []mutant{
		one("a deadline counts from the answer of a renewal", dir+"held.go", "			h.confirm(next, revision, sentAt)\n", "			_ = sentAt\n			h.confirm(next, revision, time.Now())\n"),
		one("a deadline counts from the answer of an acquisition", dir+"acquire.go", "	return p.newHeld(n, r, revision, sentAt), nil\n", "	_ = sentAt\n	return p.newHeld(n, r, revision, time.Now()), nil\n"),
		one("a lease is good for its whole TTL", dir+"participant.go", "return p.ttl - p.ttl/10 }", "return p.ttl }"),
		one("a lease is taken over early", dir+"acquire.go", "		found.age >= lease.ttl\n", "		found.age >= lease.ttl/2\n"),
		one("a predecessor's name is believed later too", dir+"acquire.go", "		found.first && o.predecessor(lease.holder) ||\n", "		o.predecessor(lease.holder) ||\n"),
		one("a take-over drops the state", dir+"acquire.go", "		state: found.record.state,\n", ""),
		one("an epoch repeats", dir+"name.go", "max(n.epoch+1, uint64(", "max(n.epoch, uint64("),
		one("an epoch begins at one for a record that is gone", dir+"name.go", "	return max(n.epoch+1, uint64(max(0, time.Now().UnixMicro())))\n", "	return n.epoch + 1\n"),
		one("an unknown outcome is taken for a refusal", dir+"swap.go", "		case lookErr == nil && found.record.write == r.write:\n			return found.version.revision, nil\n", ""),
		one("a late write of its own ends a lease", dir+"held.go", "		if _, own := h.sent[lost.found.write]; !own {\n", "		if true {\n"),
		one("a lease that is given back writes on", dir+"held.go", "	if h.over || (h.leaving && why != release) {\n", "	if h.over {\n"),
		one("an expired lease is not told of", dir+"held.go", "	h.cancel(ErrExpired)\n	h.leave()\n", "	h.leave()\n"),
		one("a record that is unreadable is replaced", dir+"acquire.go", "		if errors.Is(err, ErrUnreadable) {\n			return nil, false, err\n		}\n		missing := errors.Is(err, ErrNotFound)\n", "		missing := errors.Is(err, ErrNotFound) || errors.Is(err, ErrUnreadable)\n"),
		one("a turn that came at the end is kept", dir+"name.go", "	if i < 0 { // the turn came at the same moment: pass it on\n		n.leave()\n	}\n", "	_ = i\n"),
	}
	for i := range list {
		list[i] = list[i].by(tests...)
	}
	return list
}
