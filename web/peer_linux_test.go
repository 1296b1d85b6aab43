package web

import (
	"errors"
	"net"
	"os"
	"strings"
	"testing"
)

func TestPeerUID(t *testing.T) {
	ln, err := net.Listen("tcp4", loopback+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	for _, network := range []string{"tcp4", "tcp"} {
		client, err := net.Dial(network, ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		c, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if uid, err := peerUID(c); err != nil || uid != os.Getuid() {
			t.Errorf("got uid %d, %v, want %d", uid, err, os.Getuid())
		}
	}
}

// TestNoPeerIsMissed while sockets come and go.
func TestNoPeerIsMissed(t *testing.T) {
	ln, err := net.Listen("tcp4", loopback+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() { // ends with the listener
		for {
			c, err := net.Dial("tcp4", ln.Addr().String())
			if err != nil {
				return
			}
			defer c.Close()
		}
	}()
	for range 100 {
		c, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := peerUID(c); err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
}

// TestFindSocket reads tables as the kernel writes them: 127.0.0.1:54321, of
// uid 1000, is connected to 127.0.0.1:25000.
func TestFindSocket(t *testing.T) {
	const tcp = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:61A8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 0100007F:61A8 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 2 1 0 20 4 30 10 -1
   2: 0100007F:D431 0100007F:61A8 01 00000000:00000000 00:00000000 00000000  1000        0 3 1 0 20 4 30 10 -1
`
	const tcp6 = `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0000000000000000FFFF00000100007F:D431 0000000000000000FFFF00000100007F:61A8 01 00000000:00000000 00:00000000 00000000  1001        0 3 1 0 20 4 30 10 -1
`
	client := endpoint(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 54321})
	server := endpoint(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 25000})
	for table, want := range map[string]int{tcp: 1000, tcp6: 1001} {
		if uid, err := findSocket(strings.NewReader(table), client, server); err != nil || uid != want {
			t.Errorf("got uid %d, %v, want %d", uid, err, want)
		}
	}
	if _, err := findSocket(strings.NewReader(tcp), server, server); !errors.Is(err, errNoPeer) {
		t.Errorf("got %v, want errNoPeer", err)
	}
}
