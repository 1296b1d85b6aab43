package web

import (
	"strings"

	"github.com/hourhand/hourhand/store"
)

// settingsOf lists what a job does in the words of its form.
func settingsOf(j store.Job) []numberView {
	list := []numberView{
		{"When", scheduleWord(j)},
		{"Mode", modeWord(j)},
		{"Proof", verifyWord(j.Verify)},
		{"Pace", profileWord(j.Profile)},
	}
	if j.Limit > 0 {
		list = append(list, numberView{"At most", speed(float64(j.Limit))})
	}
	if len(j.Excludes) > 0 {
		list = append(list, numberView{"Left out", visible(strings.Join(j.Excludes, ", "))})
	}
	return list
}

func scheduleWord(j store.Job) string {
	switch {
	case j.Disabled:
		return "switched off"
	case j.Schedule == "":
		return "only by hand"
	case j.Schedule == everyHour:
		return "every hour"
	}
	return "by the schedule " + visible(j.Schedule)
}

func modeWord(j store.Job) string {
	if j.Mode == "changes" {
		return "only what is new or changed, kept for " + keepWord(j.Keep)
	}
	return "an exact copy in each hour"
}

func keepWord(keep string) string {
	if keep == "" || keep == "2d" {
		return "2 days"
	}
	return visible(keep)
}

func verifyWord(verify string) string {
	switch verify {
	case "source":
		return "checksums while copying, nothing read back"
	case "none":
		return "none"
	}
	return "every copied file is read back"
}

func profileWord(profile string) string {
	switch profile {
	case "gentle":
		return "gentle"
	case "full":
		return "full speed"
	case "normal":
		return "normal"
	}
	return "by itself: gentle when the schedule starts it, normal when you do"
}
