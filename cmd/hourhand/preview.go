package main

import (
	"context"
	"fmt"

	"github.com/hourhand/hourhand/engine"
)

// preview prints what a run would do, each step with its bytes and its reason,
// then the totals. With several targets each has its own list.
func (a *app) preview(ctx context.Context, m engine.Mirror, asJSON bool) error {
	dests := m.Dests
	total := codeDone
	for _, d := range dests {
		m.Dests = []engine.Dest{d}
		target := ""
		if len(dests) > 1 {
			target = d.Target
		}
		c, err := a.previewOne(ctx, m, target, asJSON)
		if err != nil {
			return err
		}
		total = worst(total, c)
	}
	return ended(total)
}

type itemLine struct {
	Type   string `json:"type"` // "item"
	Target string `json:"target,omitempty"`
	engine.Item
}

type planLine struct {
	Type   string `json:"type"` // "plan"
	Target string `json:"target,omitempty"`
	engine.Plan
}

func (a *app) previewOne(ctx context.Context, m engine.Mirror, target string, asJSON bool) (code, error) {
	if target != "" && !asJSON {
		a.printf("%s:", clean(target))
	}
	each := func(i engine.Item) { a.printf("%s", itemText(i)) }
	if asJSON {
		each = func(i engine.Item) { _ = printJSON(a.out, itemLine{"item", target, i}) }
	}
	plan, err := engine.Preview(ctx, m, each)
	if err != nil {
		return codeDone, err
	}
	if asJSON {
		plan.Sample = nil // every item has been printed
		return planCode(plan), printJSON(a.out, planLine{"plan", target, plan})
	}
	a.printf("would add %s, replace %s, remove %s", amount(plan.Add), amount(plan.Replace), amount(plan.Remove))
	if plan.Reason != "" {
		a.printf("a run would be held: %s", clean(plan.Reason))
	}
	return planCode(plan), nil
}

// planCode is what a run of this plan would end with, as far as it is known.
func planCode(p engine.Plan) code {
	switch {
	case p.Reason != "":
		return codeHeld
	case p.Problems > 0:
		return codeProblems
	default:
		return codeDone
	}
}

func itemText(i engine.Item) string {
	return fmt.Sprintf("%-8s %s (%s): %s", i.Op, clean(i.Path), size(i.Bytes), clean(i.Reason))
}
