package bench

import (
	"fmt"
	"math"
	"slices"
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
	Settings   string  `json:"settings"` // as flags
	Text       string  `json:"text"`
}

const (
	// worthSetting is how much faster a number of workers must be than the
	// engine's own choice to be worth setting by hand: rounds of the same case lie
	// that far apart.
	worthSetting = 1.10
	// alike is how close to the best a smaller number of workers is as good.
	alike = 1.05
	// gentleCost is how much longer a run may take for the sake of others before a
	// profile is advised against: they lose less than they are spared.
	gentleCost = 1.5
	// unmeasurable is a cost below which rounds differ by themselves.
	unmeasurable = 2.0
)

// advise is a pure function of the medians.
func advise(cases []Case) Advice {
	auto, ok := find(cases, Full, "full", 0)
	if !ok || len(auto.Times) == 0 {
		return Advice{}
	}
	a := Advice{Verify: "full", Workers: workersFor(cases, auto)}
	chosen, _ := find(cases, Full, "full", a.Workers)
	var pace float64
	a.Profile, pace = profileFor(cases, auto)
	if hashed, ok := find(cases, Source, "full", a.Workers); ok {
		a.VerifyCost = 100 * (ratio(chosen, hashed) - 1)
	}
	for _, c := range cases {
		if r := ratio(chosen, c); c.Group == Tools && c.Failed == "" && r > a.PeerRatio {
			a.Peer, a.PeerRatio = c.Name, r
		}
	}
	a.Settings = fmt.Sprintf("--profile %s --workers %d --verify %s", a.Profile, a.Workers, a.Verify)
	a.Text = "Use " + a.Settings + ": " + a.why(pace, ratio(auto, chosen)) + " " + a.proof()
	return a
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

// ratio is how many times as long a takes as b: the geometric mean over the
// trees, so that each counts alike. 0 where they share none.
func ratio(a, b Case) float64 {
	sum, n := 0.0, 0
	for _, t := range a.Times {
		if other, ok := b.on(t.Work); ok && t.Median > 0 && other.Median > 0 {
			sum += math.Log(t.Median / other.Median)
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return math.Exp(sum / float64(n))
}

// workersFor is the engine's own choice unless a fixed number is clearly faster;
// then the smallest that is as good as the best.
func workersFor(cases []Case, auto Case) int {
	best := 0.0 // how many times as fast as auto
	for _, n := range workerCounts[1:] {
		if c, ok := find(cases, Full, "full", n); ok {
			best = max(best, ratio(auto, c))
		}
	}
	if best < worthSetting {
		return 0
	}
	for _, n := range workerCounts[1:] {
		if c, ok := find(cases, Full, "full", n); ok && ratio(auto, c)*alike >= best {
			return n
		}
	}
	return 0
}

// profileFor is the gentlest profile that does not cost much, and how many times
// as long it takes as the profile full; 0 where that is not known, because it
// gave way to programs that worked meanwhile, as it should.
func profileFor(cases []Case, auto Case) (string, float64) {
	for _, p := range []string{"gentle", "normal"} {
		c, ok := find(cases, Full, p, 0)
		if !ok {
			continue
		}
		pace := ratio(c, auto)
		if pace > 0 && pace <= gentleCost {
			return p, pace
		}
		if c.Yielded {
			return p, 0
		}
	}
	return "full", 1
}

// why is the first sentence's reason. pace is how many times as long as the
// profile full the chosen one takes, gain how much faster the chosen number of
// workers is than the engine's own choice.
func (a Advice) why(pace, gain float64) string {
	text := "the number of files at once that Hourhand finds by itself is as good as any here"
	if a.Workers > 0 {
		text = fmt.Sprintf("%d at once takes %.2f of the time of what Hourhand finds by itself", a.Workers, 1/gain)
	}
	cost := "no time that could be measured"
	if percent := 100 * (pace - 1); percent >= unmeasurable {
		cost = fmt.Sprintf("%.0f %% of time", percent)
	}
	switch {
	case pace == 0:
		return fmt.Sprintf("%s; profile %s gave way to programs that used the drive meanwhile, so its cost is not known.", text, a.Profile)
	case a.Profile == "full":
		return text + ", but the profiles that give way to others take more than half as long again."
	}
	return fmt.Sprintf("%s, and giving way to others (%s) costs %s while nobody else works.", text, a.Profile, cost)
}

// proof is the second sentence: what verification costs.
func (a Advice) proof() string {
	text := "Reading every file back costs no time that could be measured"
	if a.VerifyCost >= unmeasurable {
		text = fmt.Sprintf("Reading every file back costs %.0f %% of time", a.VerifyCost)
	}
	if a.Peer == "" {
		return text + "."
	}
	return text + fmt.Sprintf("; the verified copy takes %.2f of the time of the fastest tool found (%s), which proves nothing.", a.PeerRatio, a.Peer)
}
