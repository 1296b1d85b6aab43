package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Advice is what the measurements suggest. The zero value is that of a bench
// that measured too little.
type Advice struct {
	Profile    string  `json:"profile"`             // for scheduled runs
	Workers    int     `json:"workers"`             // 0: by itself
	Verify     string  `json:"verify"`              // always "full"
	VerifyCost float64 `json:"verify_cost_percent"` // of time, over the same settings with every file only hashed
	Peer       string  `json:"peer,omitempty"`      // the fastest tool that proves nothing
	PeerRatio  float64 `json:"peer_ratio,omitempty"`
	Settings   string  `json:"settings"`          // as flags
	Warning    string  `json:"warning,omitempty"` // why the times are to be doubted; a sentence
	Why        string  `json:"why"`               // sentences
	Text       string  `json:"text"`              // all of it
}

const (
	// worthSetting is how much faster a number of workers must be than the
	// engine's own choice to be worth setting by hand.
	worthSetting = 1.10
	// alike is how close to the best a smaller number of workers is as good.
	alike = 1.05
	// gentleCost is how much longer a run may take for the sake of others before a
	// profile is advised against: they lose less than they are spared.
	gentleCost = 1.5
	// unmeasurable is a cost in per cent below which rounds differ by themselves,
	// and unmeasurableOnce that below which single rounds do.
	unmeasurable, unmeasurableOnce = 2.0, 15.0
)

const othersWorked = "Other programs used the drive meanwhile, and the profiles gentle or normal gave way to them: measure again when nobody else works."

// advise is a pure function of the times.
func advise(cases []Case) Advice {
	auto, ok := find(cases, Full, "full", 0)
	if !ok || len(auto.Times) == 0 {
		return Advice{}
	}
	a := Advice{Verify: "full", Workers: workersFor(cases, auto)}
	if slices.ContainsFunc(cases, func(c Case) bool { return c.Yielded }) {
		a.Warning = othersWorked
	}
	chosen, _ := find(cases, Full, "full", a.Workers)
	var pace float64
	a.Profile, pace = profileFor(cases, auto, a.Warning != "")
	if hashed, ok := find(cases, Source, "full", a.Workers); ok {
		a.VerifyCost = 100 * (ratio(chosen, hashed) - 1)
	}
	for _, c := range cases {
		if r := ratio(chosen, c); c.Group == Tools && c.Failed == "" && r > a.PeerRatio {
			a.Peer, a.PeerRatio = c.Name, r
		}
	}
	a.Settings = fmt.Sprintf("--profile %s --workers %d --verify %s", a.Profile, a.Workers, a.Verify)
	once := auto.once()
	a.Why = strings.Join([]string{a.whyWorkers(once, ratio(auto, chosen)), a.whyProfile(once, pace), a.proof(once, chosen)}, " ")
	a.Text = strings.TrimPrefix(a.Warning+" ", " ") + "Use " + a.Settings + ": " + a.Why
	return a
}

// once tells that no more than one round was timed: nothing tells then how far
// rounds differ.
func (c Case) once() bool {
	return !slices.ContainsFunc(c.Times, func(t Time) bool { return len(t.Seconds) > 1 })
}

func find(cases []Case, group, profile string, workers int) (Case, bool) {
	i := slices.IndexFunc(cases, func(c Case) bool {
		return c.Group == group && c.Profile == profile && c.Workers == workers && c.Failed == ""
	})
	if i < 0 {
		return Case{}, false
	}
	return cases[i], true
}

// ratio is how many times as long a takes as b by their medians: the geometric
// mean over the trees, so that each counts alike. 0 where they share none.
func ratio(a, b Case) float64 {
	middle := func(t Time) float64 { return t.Median }
	return ratioOf(a, middle, b, middle)
}

// clearlyFaster tells that the slowest rounds of a are faster than the best of b,
// over all trees.
func clearlyFaster(a, b Case) bool {
	slowest := func(t Time) float64 { return slices.Max(t.Seconds) }
	best := func(t Time) float64 { return t.Best }
	r := ratioOf(a, slowest, b, best)
	return r > 0 && r < 1
}

func ratioOf(a Case, timeA func(Time) float64, b Case, timeB func(Time) float64) float64 {
	sum, n := 0.0, 0
	for _, t := range a.Times {
		if other, ok := b.on(t.Work); ok && timeA(t) > 0 && timeB(other) > 0 {
			sum += math.Log(timeA(t) / timeB(other))
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return math.Exp(sum / float64(n))
}

// workersFor is the engine's own choice unless fixed numbers are faster by more
// than rounds differ, which one round cannot tell; then the smallest of those that
// is as good as the best.
func workersFor(cases []Case, auto Case) int {
	if auto.once() {
		return 0
	}
	var faster []Case
	best := 0.0 // how many times as fast as auto
	for _, n := range workerCounts[1:] {
		if c, ok := find(cases, Full, "full", n); ok && clearlyFaster(c, auto) && ratio(auto, c) >= worthSetting {
			faster, best = append(faster, c), max(best, ratio(auto, c))
		}
	}
	for _, c := range faster {
		if ratio(auto, c)*alike >= best {
			return c.Workers
		}
	}
	return 0
}

// profileFor is the gentlest profile that does not cost much, and how many times
// as long it takes as the profile full. With others at work that is 0, not known,
// and the gentlest is right: they are who it is for.
func profileFor(cases []Case, auto Case, others bool) (string, float64) {
	for _, p := range []string{"gentle", "normal"} {
		c, ok := find(cases, Full, p, 0)
		if !ok {
			continue
		}
		if others {
			return p, 0
		}
		if pace := ratio(c, auto); pace > 0 && pace <= gentleCost {
			return p, pace
		}
	}
	return "full", 1
}

// whyWorkers tells why this number. gain is how much faster it is than the
// engine's own choice.
func (a Advice) whyWorkers(once bool, gain float64) string {
	switch {
	case once:
		return "One round only gives an impression, so no number of files at once is advised: Hourhand finds it by itself."
	case a.Workers > 0:
		return fmt.Sprintf("With %d files at once it takes %.2f of the time of what Hourhand finds by itself.", a.Workers, 1/gain)
	}
	return "No number of files at once is clearly faster than what Hourhand finds by itself."
}

// whyProfile tells what giving way to others is for and what it costs. pace is how
// many times as long as the profile full the chosen one takes.
func (a Advice) whyProfile(once bool, pace float64) string {
	if a.Profile == "full" {
		return "The profiles that give way to others take more than half as long again here."
	}
	cost := "is not known"
	if pace > 0 {
		cost = "is " + costs(once, 100*(pace-1)) + " while nobody else works"
	}
	spares := "feel next to nothing of them"
	if a.Profile == "normal" {
		spares = "lose a quarter of their speed at most"
	}
	return fmt.Sprintf("Profile %s is for the hourly runs, so that other programs %s; its cost %s. Runs that you start by hand use normal.",
		a.Profile, spares, cost)
}

// costs is a cost in words.
func costs(once bool, percent float64) string {
	switch {
	case once && percent < unmeasurableOnce:
		return "less than one round can tell"
	case percent < unmeasurable:
		return "no time that could be measured"
	}
	return fmt.Sprintf("%.0f %% of time", percent)
}

// proof is what verification costs, and how to find the numbers in the table.
func (a Advice) proof(once bool, chosen Case) string {
	text := "Reading every file back costs " + costs(once, a.VerifyCost)
	if a.Peer != "" {
		text += fmt.Sprintf("; the verified copy takes %.2f of the time of %s, the fastest tool found, which proves nothing", a.PeerRatio, a.Peer)
	}
	row := "profile full"
	if a.Workers > 0 {
		row = chosen.Name
	}
	return text + fmt.Sprintf(" (the row %q, its times divided by those of the other row, geometric mean over the trees).", row)
}
