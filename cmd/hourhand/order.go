package main

import (
	"errors"
	"strings"

	"github.com/hourhand/hourhand/agent"
	"github.com/hourhand/hourhand/engine"
	"github.com/hourhand/hourhand/store"
)

// mirrorOf is the engine's order for a one-shot mirror with the settings of a
// job that no agent knows. A mistake in them is one in the flags.
func mirrorOf(j store.Job) (engine.Mirror, error) {
	m, err := agent.Settings(j)
	if e, ok := errors.AsType[*agent.FieldError](err); ok {
		return m, usagef("--%s: %s", flagOf(e.Field), e.Text)
	}
	m.Source, m.Owner = "", engine.Owner{}
	if j.Profile == "" {
		m.Profile = engine.ProfileNormal // a person waits for it
	}
	m.Gate = new(engine.Gate)
	m.Gate.SetLimit(j.Limit)
	return m, err
}

// flagOf is the flag that sets a job's field.
func flagOf(field string) string {
	if field == "excludes" {
		return "exclude"
	}
	return strings.ReplaceAll(field, "_", "-")
}
