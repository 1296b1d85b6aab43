//go:build !linux

package tree

func readTogether(reads []*togetherRead) {
	for _, r := range reads {
		r.n, r.err = readPiece(r.f, r.buf, 0, r.size)
	}
}
