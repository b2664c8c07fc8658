package commit

import "context"

// Ends says how far a partition and its writers were committed when it was
// read. It is a snapshot and a lower bound: what it calls committed stays so.
type Ends struct{ state State }

// K is the newest committed window; 0 means none.
func (e Ends) K() uint64 { return e.state.K }

// End is where writer is committed up to: records below it are in committed
// windows, no others are. known is false where the state does not name the
// writer; then Resolve tells.
func (e Ends) End(writer string) (end int64, known bool) {
	w, known := e.state.Writer(writer)
	return w.End, known
}

// Writers returns every writer the state names and its end. The map is the
// caller's own.
func (e Ends) Writers() map[string]int64 {
	ends := make(map[string]int64, len(e.state.writers))
	for _, w := range e.state.writers {
		ends[w.Name()] = w.End
	}
	return ends
}

// Read returns how far the partition is committed, before anything of it is
// sealed or uploaded. It writes nothing.
//
// The first call reads the head, proves that it is of the log in the bucket,
// and looks for manifests behind it. A head that is missing or is not of this
// log is rebuilt from the manifests. Later calls look for manifests behind
// those that this process knows.
//
// *Blocked says that the log goes on with a manifest that cannot be committed.
// After any error nothing new is known and the caller reads again.
func (l *Log) Read(ctx context.Context) (Ends, error) {
	if err := l.enter(ctx); err != nil {
		return Ends{}, err
	}
	defer l.leave()
	first := !l.known
	if err := l.load(ctx); err != nil {
		return Ends{}, err
	}
	if !first {
		if err := l.ahead(ctx); err != nil {
			return Ends{}, err
		}
	}
	return Ends{l.state.clone()}, nil
}

// Resolve returns where writer, of the caller's own WAL, is committed up to, by
// what this process knows, which it reads if it knows nothing yet; oldest is the
// stamp of the oldest entry of writer in the WAL.
//
// A writer that the head does not name, with entries older than what was
// pruned, may have been committed: then the manifests are read.
func (l *Log) Resolve(ctx context.Context, writer string, oldest int64) (int64, error) {
	if err := l.enter(ctx); err != nil {
		return 0, err
	}
	defer l.leave()
	if err := l.load(ctx); err != nil {
		return 0, err
	}
	return l.resolve(ctx, writer, 0, oldest)
}
