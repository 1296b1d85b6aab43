package record

import (
	"encoding/binary"
	"testing"
)

func TestReaderTakesWhatWasAppended(t *testing.T) {
	b := AppendString(nil, "a\x00b")
	b = binary.AppendVarint(binary.AppendUvarint(append(b, 7), 1<<63), -5)
	r := Reader{Rest: b}
	if s, c, u, i := r.String(), r.Byte(), r.Uvarint(), r.Varint(); s != "a\x00b" || c != 7 || u != 1<<63 || i != -5 || r.Err != nil || len(r.Rest) != 0 {
		t.Errorf("got %q %d %d %d, error %v, %d left", s, c, u, i, r.Err, len(r.Rest))
	}
}

func TestDamagedRecordIsToldOnce(t *testing.T) {
	for _, b := range [][]byte{nil, {0xff}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, {200, 'x'}} {
		r := Reader{Rest: b}
		if s := r.String(); s != "" || r.Err != ErrShort {
			t.Errorf("%v: got %q, error %v; want ErrShort", b, s, r.Err)
		}
		if r.Byte() != 0 || r.Varint() != 0 || r.Uvarint() != 0 {
			t.Errorf("%v: values after the damage are not zero", b)
		}
	}
}
