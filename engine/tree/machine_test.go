package tree

import "testing"

func TestMachineIsStable(t *testing.T) {
	a, b := Machine(), Machine()
	if a != b || len(a) != 32 {
		t.Errorf("got %q and %q", a, b)
	}
}
