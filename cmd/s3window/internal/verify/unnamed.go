package verify

import "github.com/s3window/s3window/internal/partition"

// unnamed is an object that no manifest names.
type unnamed struct {
	prefix, key string
	size        int64
	doubtful    bool // a commit log that may have named it is damaged
}

// judge says what the object is, where each writer is committed up to its end.
//
// An orphan begins below its writer's end: every record of it that counts below
// that is in a committed window, and the writer will never commit it. Anything
// else may be on its way, or the only copy of its records.
func (u unnamed) judge(ends map[string]int64) Finding {
	_, name, err := partition.ParseObjectKey(u.prefix, u.key)
	end := ends[name.Writer]
	switch {
	case err != nil:
		return found(Stray, u.key, "is no key of a data object (%v)", err)
	case u.doubtful:
		return found(Uncommitted, u.key,
			"%d bytes; no manifest names it, but the commit log is damaged: it may be of a window that is missing or was changed, and the only copy of its records", u.size)
	case name.Start >= end:
		return found(Uncommitted, u.key,
			"%d bytes; no manifest names it yet: on its way, or what a lost WAL left behind; it may be the only copy of its records", u.size)
	case name.End > end:
		f := found(Leftover, u.key,
			"%d bytes; no manifest names it, and its writer has committed to %d, into it: its records below that are in other windows, the others will be or are in the WAL", u.size, end)
		f.reaches = true
		return f
	}
	return found(Leftover, u.key, "%d bytes; no manifest names it, and its writer has committed past it: its records are in other windows", u.size)
}
