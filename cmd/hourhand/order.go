package main

import (
	"time"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// mirrorOf is the engine's order for a one-shot mirror with the settings of a
// job that no agent knows. A mistake in them is one in the flags.
func mirrorOf(j store.Job) (engine.Mirror, error) {
	m := engine.Mirror{
		Checksum: j.Checksum, TrustIndex: j.TrustIndex,
		Excludes: j.Excludes, NoDefaults: j.NoDefaultExcludes, DeleteExcluded: j.DeleteExcluded,
		Workers: j.Workers, Retries: j.Retries, Gate: new(engine.Gate),
	}
	if j.Retries == 0 {
		m.Retries = -1 // the engine's zero value is its default
	}
	m.Gate.SetLimit(j.Limit)
	var ok bool
	if m.Verify, ok = proofs[j.Verify]; !ok {
		return m, usagef("--verify %q is unknown; say full, source or none", j.Verify)
	}
	if m.Profile, ok = profiles[j.Profile]; !ok {
		return m, usagef("--profile %q is unknown; say gentle, normal or full", j.Profile)
	}
	var err error
	if m.MaxDelete, err = agent.ParseMaxDelete(j.MaxDelete); err != nil {
		return m, usagef("--max-delete: %v", err)
	}
	if j.RetryWait != "" {
		if m.RetryWait, err = time.ParseDuration(j.RetryWait); err != nil {
			return m, usagef("--retry-wait: %v", err)
		}
	}
	return m, nil
}

var proofs = map[string]engine.Proof{
	"full": engine.VerifyFull, "source": engine.VerifySource, "none": engine.VerifyNone,
}

var profiles = map[string]engine.Profile{
	"": engine.ProfileNormal, "gentle": engine.ProfileGentle, "normal": engine.ProfileNormal, "full": engine.ProfileFull,
}
