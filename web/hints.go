package web

import (
	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/store"
)

// hint explains a cause to a person: what it means, what is still safe, what to
// do. The exact error stands beside it, from the run.
type hint struct {
	Title   string
	Short   string // two or three words for the middle of the ring
	Text    string
	Actions []actionKind
}

// actionKind is what a hint offers; see actionsFor.
type actionKind int

const (
	actRetry    actionKind = iota // run the job again now
	actProblems                   // the list of files
	actEdit                       // the job's form
	actApprove
	actVerify
	actResume
	actRepair // heal the hour that the last run, a verification, found damaged
)

// hintFor never comes back empty: an unknown cause is "other".
func hintFor(cause string) hint {
	if h, ok := hints[cause]; ok {
		return h
	}
	return hints["other"]
}

// hintIn is the hint of a cause in a run. What a verification finds concerns a
// copy that was right once; the same word while copying concerns the source.
func hintIn(r store.Run, cause string) hint {
	if h, ok := found[cause]; ok && r.Trigger == triggerVerify {
		return h
	}
	return hintFor(cause)
}

// hintOf is the hint of why a job is as it is.
func hintOf(j agent.JobStatus) hint {
	if j.Last != nil && j.Last.Cause == j.Cause {
		return hintIn(*j.Last, j.Cause)
	}
	return hintFor(j.Cause)
}

// damaged tells whether a run is a verification that found damage.
func damaged(r store.Run) bool {
	return r.Trigger == triggerVerify && r.Cause == agent.CauseMismatch
}

// found explains what only means the same while copying.
var found = map[string]hint{
	"mismatch": {
		Title:   "Files of a copy are damaged or gone",
		Short:   "damaged copy",
		Text:    "They were right when the hour was sealed. Repair heals damaged files from the source or from another hour, as does hourhand verify --repair; files that are gone come back with the hour's next run. The drive may be failing: keep an eye on it.",
		Actions: []actionKind{actRepair},
	},
	"rot": {
		Title:   "The bytes changed although nobody wrote",
		Short:   "silent damage",
		Text:    "Size and times of the file are as they were when the hour was sealed, its contents are not. That is how a failing drive looks. Repair heals it from the source or from another hour that holds the right bytes.",
		Actions: []actionKind{actRepair},
	},
}

// hints is the table of causes: those of single files (engine.Cause*, and
// engine.Finding* of verifications) and those of whole runs (agent.Cause*).
var hints = map[string]hint{
	"permission": {
		Title:   "No right to read or write",
		Short:   "no permission",
		Text:    "Hourhand runs as you and may touch only what you may. Allow it (the file's properties, or chmod and chown), or leave the file out in the job's settings. The older copy of the file is kept.",
		Actions: []actionKind{actRetry, actEdit},
	},
	"changed": {
		Title:   "Changed while it was copied",
		Short:   "file in use",
		Text:    "A program wrote to the file during three tries. The older copy is kept, and the next hour takes the file. Databases and virtual disks that never rest should be exported by their own program.",
		Actions: []actionKind{actRetry},
	},
	"read": {
		Title:   "The source could not be read",
		Short:   "cannot be read",
		Text:    "The drive that holds your files reported an error for this file. If it happens again, the drive may be failing: check it, and make sure that an older hour holds the file. The older copy is kept.",
		Actions: []actionKind{actRetry},
	},
	"write": {
		Title:   "The copy could not be written",
		Short:   "cannot be written",
		Text:    "The target drive reported an error. Check its cable and its health. The older copy of the file is kept.",
		Actions: []actionKind{actRetry},
	},
	"name": {
		Title:   "The drive cannot hold this name",
		Short:   "name not allowed",
		Text:    "The target's file system forbids a character of the name (such as : or ?), takes two names for the same (A.txt and a.txt), or the name is too long. Rename the file, or use a drive with another file system.",
		Actions: []actionKind{actRetry, actEdit},
	},
	"too-large": {
		Title:   "Too large for the drive's file system",
		Short:   "file too large",
		Text:    "FAT32 holds no file of 4 GB or more. Format the drive with another file system (exFAT, NTFS, ext4), choose another drive, or leave the file out.",
		Actions: []actionKind{actEdit},
	},
	"mismatch": {
		Title:   "Read back other bytes than were written",
		Short:   "bytes differ",
		Text:    "What came back from the drive is not what was sent to it. Check the cable, the port and the drive. Such a file is not taken in; the older copy is kept.",
		Actions: []actionKind{actVerify},
	},
	"rot": {
		Title:   "The bytes changed although nobody wrote",
		Short:   "silent damage",
		Text:    "Size and times of the source's file are as before, its contents are not. That is how a failing drive looks. The good copy was not overwritten: compare both, and save the file anew to accept what it holds now.",
		Actions: []actionKind{actVerify},
	},
	"listing": {
		Title:   "A folder could not be listed",
		Short:   "folder not listed",
		Text:    "What is in it is not known, so nothing below it was removed from the copy. Allow reading the folder, or leave it out in the job's settings.",
		Actions: []actionKind{actRetry, actEdit},
	},
	"other": {
		Title:   "Something went wrong",
		Short:   "see the details",
		Text:    "The details below say what happened. Copies that are verified stay as they are.",
		Actions: []actionKind{actRetry},
	},

	"target-missing": {
		Title:   "The drive is not connected",
		Short:   "not connected",
		Text:    "Connect it: Hourhand goes on by itself. The copies on it are safe. If it is connected, its folder was renamed or moved.",
		Actions: []actionKind{actEdit},
	},
	"source-missing": {
		Title:   "The folder to be kept safe is not there",
		Short:   "source missing",
		Text:    "It is missing or cannot be opened. Nothing was removed from any copy. Connect its drive, or check its name in the job's settings.",
		Actions: []actionKind{actRetry, actEdit},
	},
	"foreign": {
		Title:   "The target belongs to something else",
		Short:   "not ours",
		Text:    "The folder holds files that this job did not put there, or it is marked by another job or another computer. Nothing in it was touched. Choose an empty folder, or take it over with hourhand mirror --adopt.",
		Actions: []actionKind{actEdit},
	},
	"overlap": {
		Title:   "Source and target lie inside each other",
		Short:   "overlap",
		Text:    "A copy must not lie in the folder that it copies, nor the other way round. Nothing was done. Choose another target, best on another drive.",
		Actions: []actionKind{actEdit},
	},
	"volume": {
		Title:   "There is another drive than before",
		Short:   "another drive",
		Text:    "At the same place another drive is mounted now. Nothing was removed. If that is as it should be, approve it; else connect the right drive.",
		Actions: []actionKind{actApprove, actRetry},
	},
	"held": {
		Title:   "It waits for you",
		Short:   "waits for you",
		Text:    "So many files would be removed or replaced that it could be a mistake, or malware. Everything new is copied, nothing was removed. Look at the list; approve it if that is what you did.",
		Actions: []actionKind{actApprove, actRetry},
	},
	"full": {
		Title:   "The drive is full",
		Short:   "drive is full",
		Text:    "The hour keeps its previous files. Free some space on the drive, leave large folders out, or choose a larger drive.",
		Actions: []actionKind{actRetry, actEdit},
	},
	"locked": {
		Title:   "Another run works on the same target",
		Short:   "in use",
		Text:    "Perhaps a hourhand mirror or verify that was started by hand, or another computer. It will be tried again at the next hour.",
		Actions: []actionKind{actRetry},
	},
	"target-lost": {
		Title:   "The drive was lost during the run",
		Short:   "drive lost",
		Text:    "It was unplugged, became read-only or reported an error when it was asked to keep what was written: it may be failing. The hour does not count as a copy until it has run again; the other hours are as they were.",
		Actions: []actionKind{actRetry, actVerify},
	},
	"paused": {
		Title:   "Skipped by a pause",
		Short:   "paused",
		Text:    "Nothing runs while Hourhand is paused. When you resume, the newest hour that was skipped runs at once.",
		Actions: []actionKind{actResume},
	},
	"files": {
		Title:   "Some files had problems",
		Short:   "some files",
		Text:    "All other files are in the copy. The older copies of these files are kept.",
		Actions: []actionKind{actProblems, actRetry},
	},
	"edited": {
		Title:   "Files of the copy were changed",
		Short:   "copy was changed",
		Text:    "Somebody or some program changed, added or removed files in the hour's folder after Hourhand had sealed it. The next run for this hour puts it right; files that are not ours are moved to .hourhand/found.",
		Actions: []actionKind{actProblems, actRetry},
	},
	"missing": {
		Title:   "Gone from the copy",
		Short:   "files are gone",
		Text:    "The file was in the hour when it was sealed, and is not there any more. The next run for this hour brings it back.",
		Actions: []actionKind{actRetry},
	},
	"extra": {
		Title:   "Not put there by Hourhand",
		Short:   "strange files",
		Text:    "The file came into the hour's folder after it was sealed. The next run for this hour moves it to .hourhand/found, where it is kept for 30 days.",
		Actions: []actionKind{actRetry},
	},
	"healed": {
		Title: "Healed",
		Short: "healed",
		Text:  "The file was damaged and has its right bytes again. A drive that damages files may be failing: keep an eye on it.",
	},
	"interrupted": {
		Title:   "Of an interrupted run",
		Short:   "interrupted",
		Text:    "The run that wrote this hour ended half-way. The file is neither what it was nor what it was to become; the next run for this hour puts it right.",
		Actions: []actionKind{actRetry},
	},
	"unreadable": {
		Title:   "The copy could not be read",
		Short:   "cannot be read",
		Text:    "The target drive reported an error for this file. It may be failing: check it. The file is in other hours too.",
		Actions: []actionKind{actVerify},
	},
	"usage": {
		Title:   "The job's settings do not fit together",
		Short:   "check settings",
		Text:    "Nothing was done. Open the settings of the job: what is wrong stands beside its field.",
		Actions: []actionKind{actEdit},
	},
	"cancelled": {
		Title:   "Stopped by hand",
		Short:   "stopped",
		Text:    "What was copied until then is whole, file by file. The next run goes on from there.",
		Actions: []actionKind{actRetry},
	},
	"stopped": {
		Title:   "Ended with Hourhand or the computer",
		Short:   "interrupted",
		Text:    "Hourhand or the computer stopped during the run. Each file is whole: as it was, or as it became. The next run goes on from there.",
		Actions: []actionKind{actRetry},
	},
	"asleep": {
		Title: "Missed",
		Short: "missed",
		Text:  "The computer slept or was switched off at that time. The newest missed hour runs by itself.",
	},
	"replaced": {
		Title: "Missed",
		Short: "missed",
		Text:  "An older run was still at work at that time, and then a newer hour was due.",
	},
}
