package verify

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/s3window/s3window/internal/lake"
)

// Repair is what an operator can do about one finding.
type Repair struct {
	Kind  Kind     `json:"kind"`
	Key   string   `json:"key"`
	Steps []string `json:"steps"` // in order; commands are for the operator to judge, nothing runs them
}

// Plan says what can be done about each finding of r, whose lake is at ref.
func Plan(r *Report, ref lake.Ref) []Repair {
	p := planner{ref: ref, damaged: len(r.Damage) > 0}
	out := []Repair{}
	for _, findings := range [][]Finding{r.Damage, r.Notes} {
		for _, f := range findings {
			out = append(out, Repair{Kind: f.Kind, Key: f.Key, Steps: p.steps(f)})
		}
	}
	return out
}

// planner writes commands for one lake: in a bucket, or in a directory that
// holds one.
type planner struct {
	ref     lake.Ref
	damaged bool
}

func (p planner) steps(f Finding) []string {
	switch {
	case f.Kind == CutOff || f.Kind == WrongHead:
		return p.ofHead(f)
	case f.Kind.ofLog():
		return p.ofLog(f)
	case f.Kind == Uncommitted, f.Kind == Leftover, f.Kind == Stray, f.Kind == Lost, f.Kind == Duplicate:
		return p.ofNote(f)
	}
	return p.ofObject(f)
}

const again = "Run verify again."

func (p planner) ofHead(f Finding) []string {
	if f.Kind == WrongHead {
		return []string{
			"Stop every collector that writes this partition.",
			"Repair what else is damaged in its commit log first: the head is rebuilt from the manifests.",
			"Remove the head's record: " + p.removeHead(f.Key) + ". The next start folds it anew from the bucket.",
			again,
		}
	}
	return []string{
		"Stop every collector that writes this partition: the next commit would leave the gap behind it.",
		"Put back the manifests up to and with " + f.Key + ": " + p.findVersions(f.Key) + ". Their objects may be among the uncommitted ones: delete none.",
		"If the bucket was emptied or restored from an older copy, and the missing windows are gone for good: start the collectors. " +
			"A start does not believe a head that the bucket does not bear out: it folds the log as it is, and commits what is still in the queues. " +
			"To have verify say no more of it before that, remove the head's record: " + p.removeHead(f.Also) + ".",
		again,
	}
}

func (p planner) ofLog(f Finding) []string {
	keep := "Delete no object of this partition until its log is whole: what the log does not name may be a window's only copy."
	restore := "Put back the manifest as it was written: " + p.findVersions(f.Key)
	switch f.Kind {
	case Gap:
		return []string{
			keep, restore + ". It is the right one if its sha256 is the one that prev names in " + f.Also + ".",
			"If there is no copy, the number stays empty: a manifest made by hand cannot have that sha256. The window's objects are listed as uncommitted; read them by their keys.",
			again,
		}
	case BrokenChain:
		return []string{
			keep, "Find out which of the two was changed, " + f.Key + " or " + f.Also + ": the version whose sha256 the other one names is the right one.",
			restore, "The same for the other: " + p.findVersions(f.Also) + ".", again,
		}
	case BadManifest, Misplaced:
		return []string{
			keep, restore + ". It is the right one if its sha256 is the one that prev names in the manifest behind it.",
			"If it says another version, a newer release wrote it: verify with that.", again,
		}
	case WrongWriters:
		return []string{
			keep, "Find out which of the two was changed, " + f.Key + " or " + f.Also + ". " + restore + ".",
			"If neither was, the exporter wrote it so: stop every collector that writes this partition, keep the lake as it is, and report it.", again,
		}
	case Overlap:
		return []string{
			keep, "Run verify -duplicates: it says whether records are there twice, and in which objects.",
			"Committed windows are never taken back: leave the objects out, or the doubled rows, where you read. Keep the lake as it is and report this: the exporter does not do it.",
		}
	}
	return []string{ // OutOfOrder
		keep, "Look for a gap, and for uncommitted objects of this writer between the two stamps: they are what is missing.",
		"Windows of a writer commit in order: a manifest was changed. " + restore + ".", again,
	}
}

func (p planner) ofObject(f Finding) []string {
	restore := "Put back the object as it was written: " + p.findVersions(f.Key) + ". It is the right one if it has the sha256 that " + f.Also + " says."
	switch f.Kind {
	case ObjectMissing:
		return []string{
			"Find out what deletes from the lake (a lifecycle rule, a clean-up job) and stop it.", restore,
			"If there is no copy, its records are lost: " + f.Also + " says how many, and from min_time to max_time. Have them sent again if their source still has them.",
			again,
		}
	case WrongSize, WrongHash:
		return []string{"Copy what is there now: " + p.copyAway(f.Key) + ".", restore, again}
	case NamedTwice:
		return []string{
			"Read each key once, however many manifests name it.",
			"Two manifests, one of them " + f.Also + ", name it: look for an overlap or a changed manifest, and repair that.", again,
		}
	case BadTimes:
		return []string{"The records are sound; do not skip this window by its min_time and max_time.", "Look at the chain: if it holds, the manifest was written so. Report it."}
	case ForeignKey, ForeignContent:
		return []string{
			"Treat it as another tenant's data until you know better: see who may read " + p.address(f.Key) + ".",
			"Look at the chain: if " + f.Also + " was changed, put it back: " + p.findVersions(f.Also) + ".", restore, again,
		}
	}
	return []string{ // its hash is right, its content is not what the manifest says
		"The object is what was uploaded, so an older version will not help. Copy it and its manifest: " + p.copyAway(f.Key) + "; " + p.copyAway(f.Also) + ".",
		"Look at the chain: if " + f.Also + " was changed, put it back: " + p.findVersions(f.Also) + ".",
		"If the chain holds, the exporter wrote it so. Keep both and report it.",
	}
}

func (p planner) ofNote(f Finding) []string {
	switch f.Kind {
	case Leftover:
		if f.reaches {
			return []string{"Its collector deletes it once the rest of its records is committed. Leave it until then: " +
				"its end is behind what its writer has committed."}
		}
		first := ""
		if p.damaged {
			first = "Repair the damage first, and verify again. "
		}
		return []string{"Its collector deletes it when it sweeps.", first + "If that collector's queue is gone, delete it: " + p.remove(f.Key) + "."}
	case Uncommitted:
		return []string{
			"Wait for longer than a window is open, and verify again: it may be on its way.",
			"If it stays, start a collector with the queue (the storage directory) that its writer, the last part of its name, belongs to: it commits it.",
			"If that queue is gone, this is the only copy of its records. Read it by its key; keep it, or copy it away: " + p.copyAway(f.Key) + ".",
			"Do not delete it before its records are known to be elsewhere.",
		}
	case Lost:
		if f.Also == "" {
			return []string{"The entry could not be read, and nothing of it was kept. Check the disk of that collector's queue; have the records sent again if their source still has them."}
		}
		return []string{"Its raw bytes are kept: " + p.copyAway(f.Also) + ". They are a queue entry, or OTLP as it was received: see docs/format.md."}
	case Duplicate:
		return []string{
			"Where no windows overlap, these were received twice: a client sent them again after it missed the answer.",
			"Leave them out where you read: rows that are equal but for received_at are one record. Nothing needs to be changed in the lake.",
		}
	}
	return []string{"Nothing of the lake needs it. Look at it: " + p.copyAway(f.Key) + ". Move it elsewhere if readers would meet it."}
}

func (p planner) directory() bool { return filepath.IsAbs(p.ref.Bucket) }

func (p planner) address(key string) string {
	if p.directory() {
		return quote(filepath.Join(p.ref.Bucket, filepath.FromSlash(key)))
	}
	return quote("s3://" + p.ref.Bucket + "/" + key)
}

// aws is the command line with what the lake's store needs.
func (p planner) aws(command string) string {
	if p.ref.Endpoint != "" {
		return "aws --endpoint-url " + quote(p.ref.Endpoint) + " " + command
	}
	return "aws " + command
}

func (p planner) remove(key string) string {
	if p.directory() {
		return "rm " + p.address(key)
	}
	return p.aws("s3 rm " + p.address(key))
}

func (p planner) copyAway(key string) string {
	if p.directory() {
		return "cp " + p.address(key) + " ."
	}
	return p.aws("s3 cp " + p.address(key) + " .")
}

func (p planner) findVersions(key string) string {
	if p.directory() {
		return "from a backup of " + p.address(key)
	}
	return fmt.Sprintf("%s lists what a versioned bucket still has (get-object --version-id …, then put-object); else from a replica or a backup",
		p.aws("s3api list-object-versions --bucket "+quote(p.ref.Bucket)+" --prefix "+quote(key)))
}

// removeHead is the command for a head in the bucket, or words for one that is
// elsewhere.
func (p planner) removeHead(where string) string {
	if strings.Contains(where, "_s3window/leases/") {
		return p.remove(where)
	}
	return "delete the register " + quote(where) + " from the lease store (behind the prefix that its keys have), for example with etcdctl del"
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
