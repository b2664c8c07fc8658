package main

func ofExporter() []mutant {
	const dir = "exporter/s3windowexporter/"
	return []mutant{
		one("the parts of a request are appended one by one", dir+"consume.go",
			"	err := c.queue.Append(ctx, records(req.signal, parts)...)\n",
			"	var err error\n	for _, one := range records(req.signal, parts) {\n		if err = c.queue.Append(ctx, one); err != nil {\n			break\n		}\n	}\n"),
		one("block_on_overflow has no effect", dir+"core.go", "BlockOnOverflow: cfg.BlockOnOverflow,", "BlockOnOverflow: false,"),
		one("the queue has no limit", dir+"core.go", "Client: client, Limit: limit,", "Client: client, Limit: limit - limit,"),
		one("the queue's sizer has no effect", dir+"core.go", "Sizer: sizer(cfg.Sizer),", "Sizer: wal.Bytes,"),
		one("leases of predecessors are waited for", dir+"lakes.go", "Predecessors: l.predecessor,", "Predecessors: nil,"),
		one("every holder is taken for a predecessor", dir+"lakes.go", "	return l.dead[holder", "	return true || l.dead[holder"),
		one("writer_retention has no effect", dir+"lakes.go", "Retention: l.cfg.WriterRetention,", "Retention: 0,"),
		one("a shutdown does not end with its context", dir+"core.go", "	stop := context.AfterFunc(ctx, c.cancel)\n", "	stop := context.AfterFunc(ctx, func() {})\n"),
		one("a shutdown has no grace", dir+"core.go", "Grace:    c.cfg.Flush.ShutdownGrace,", "Grace:    0,"),
		one("the queue is closed with a context that has ended", dir+"core.go", "		ctx = late\n", "		_ = late\n"),
		one("damage of the queue is not named", dir+"core.go", "	c.damage.Add(d)\n", ""),
		one("the origins of a writer are not kept", dir+"core.go", "WriterInfo: info,", "WriterInfo: info[:0],"),
		one("what an earlier process left is of unknown tenants", dir+"core.go", "		c.door.splitter.Remember([]string{left.Tenant})\n", "		_ = left\n"),
		one("a memory queue is treated as one that survives", dir+"core.go", "Volatile: q.StorageID == nil,", "Volatile: false,"),
		one("records go to a bucket that is not proven", dir+"lakes.go", "	if err := l.pass(tenant, settings); err != nil {\n		return nil, err\n	}\n", ""),
		one("a request that is too large is a passing error", dir+"consume.go", "	if errors.Is(err, wal.ErrTooLarge) || errors.Is(err, wal.ErrInvalid) {\n", "	if false {\n"),
		one("a tenant's own lake has no effect", dir+"core.go", "Target:   c.tenants.target,", "Target:   func(_ string, s partition.Signal) window.Target { return c.tenants.target(\"\", s) },"),
		one("the last signal's shutdown is the first's", dir+"shared.go", "	if c.members > 0 {\n		return false\n	}\n", ""),
		one("twins in one collector are not refused", dir+"shared.go", "		if in, ok := c.tenants.shares(other.tenants); ok {", "		if in, ok := c.tenants.shares(other.tenants); ok && in == \"\" {"),
	}
}
