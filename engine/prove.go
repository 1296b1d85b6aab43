package engine

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/zeebo/xxh3"

	"github.com/hourhand/hourhand/engine/index"
	"github.com/hourhand/hourhand/engine/tree"
)

// publishDest reads a batch back and renames it, several files at once. Small
// files are read together.
func (r *run) publishDest(ctx context.Context, d *dest, ps []part) {
	groups := r.grouped(ps)
	r.parallel(len(groups), func(i int) {
		if ctx.Err() != nil || !d.alive() {
			return
		}
		for at, proof := range r.prove(ctx, d, groups[i]) {
			p := groups[i][at]
			err := proof.err
			if err == nil {
				err = r.publishFile(ctx, d, p, proof.how)
			}
			if err != nil && ctx.Err() == nil {
				p.file.discard()
				r.failed(p.s.t.only(p.file.o.dest), err)
			}
		}
	})
}

// grouped divides a batch, in the order of its writing, into what is read back at
// once: one large file, or small ones as many as fit.
func (r *run) grouped(ps []part) (groups [][]part) {
	var room int64
	for i, p := range ps {
		need := p.s.info.Size + tree.Block
		if i == 0 || !p.file.d.vol.PastCache || need > room || len(groups[len(groups)-1]) == tree.Together {
			groups = append(groups, nil)
			if room = tree.PieceSize; p.s.info.Size >= tree.Small {
				room = need // alone
			}
		}
		room -= need
		groups[len(groups)-1] = append(groups[len(groups)-1], p)
	}
	return groups
}

// proof is what reading one file back has shown.
type proof struct {
	how index.How
	err error
}

// prove reads staged files back and compares them with what was hashed in flight.
func (r *run) prove(ctx context.Context, d *dest, ps []part) []proof {
	proofs := make([]proof, len(ps))
	var together proving
	defer together.group.Free()
	for i, p := range ps {
		x := &proofs[i]
		switch {
		case p.file.f == nil, r.m.Verify == VerifyNone:
			x.how = index.Unproved
		case r.m.Verify == VerifySource:
			x.how = index.Source
		default:
			if x.err = writeErr(r.m.step("read back", p.s.t.path)); x.err == nil && !together.take(d, p, x) {
				r.proveLarge(ctx, d, p, x)
			}
		}
	}
	together.read(d, r.around(ctx))
	return proofs
}

func (r *run) proveLarge(ctx context.Context, d *dest, p part, x *proof) {
	hash, past, err := d.readBack(p.file.f, r.around(ctx))
	x.judge(d, past, hash == p.s.hash, err)
}

// readBack hashes a synced file of the copy past the cache, as far as that goes.
func (t *target) readBack(f *os.File, step tree.Step) (sum [16]byte, past bool, err error) {
	h := xxh3.New()
	past, err = tree.ReadBack(f, t.vol, t.caps, step, func(p []byte) error {
		_, err := h.Write(p)
		return err
	})
	return h.Sum128().Bytes(), past, err
}

// proved is how bytes are proved that were read back; past: all past the cache.
func (t *target) proved(past bool) index.How {
	switch {
	case t.vol.Network:
		return index.Server
	case past:
		return index.Device
	}
	return index.Cache
}

// judge settles a proof by what was read.
func (x *proof) judge(d *dest, past, same bool, err error) {
	switch {
	case errors.Is(err, tree.ErrResized), errors.Is(err, io.ErrUnexpectedEOF), err == nil && !same:
		x.err = fileErr(CauseMismatch, "read back other bytes than were written (%w); the old copy stays. Check cable and drive", ErrMismatch)
	case err != nil:
		x.err = writeErr(err)
	default:
		x.how = d.proved(past)
	}
}

// proving is the small files of a batch that are read back together.
type proving struct {
	group  tree.Group
	parts  []part
	proofs []*proof
	past   []bool
}

// take adds a file if it is small and there is room.
func (g *proving) take(d *dest, p part, x *proof) bool {
	if !g.group.Add(p.file.f, p.s.info.Size) {
		return false
	}
	past, err := tree.GoPast(p.file.f, p.s.info.Size, d.vol, d.caps)
	x.err = writeErr(err)
	g.parts, g.proofs, g.past = append(g.parts, p), append(g.proofs, x), append(g.past, past)
	return true
}

func (g *proving) read(d *dest, step tree.Step) {
	if len(g.parts) == 0 {
		return
	}
	err := g.group.Read(step)
	for i, p := range g.parts {
		x := g.proofs[i]
		if x.err != nil {
			continue
		}
		if x.err = err; err != nil {
			continue
		}
		b, err := g.group.Bytes(i)
		x.judge(d, g.past[i], xxh3.Hash128(b).Bytes() == p.s.hash, err)
	}
}
