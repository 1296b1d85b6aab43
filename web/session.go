package web

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"github.com/hourhand/hourhand/store"
)

// A dashboard is opened by a code (from the tray or `hourhand open`) that is
// good for one use within codeLife; it becomes a session that ends sessionLife
// after it began or sessionIdle after its last use. People expect to stay logged
// in (syncthing#9151, #10745).
const (
	codeLife    = 30 * time.Second
	sessionLife = 30 * 24 * time.Hour
	sessionIdle = 7 * 24 * time.Hour
	useGrain    = time.Hour // how exactly the last use is remembered on disk
)

const settingSessions = "web.sessions"

// session is an open dashboard. Of its secret only the hash is kept.
type session struct {
	Hash    string    `json:"hash"`
	Browser string    `json:"browser"` // the User-Agent that it was opened with: hostile text
	Began   time.Time `json:"began"`
	Used    time.Time `json:"used"`
}

func (s session) over(now time.Time) bool {
	return now.Sub(s.Began) > sessionLife || now.Sub(s.Used) > sessionIdle
}

type sessions struct {
	store *store.Store
	now   func() time.Time

	saving sync.Mutex // held while open is written, so that the newest is written last

	mu    sync.Mutex // guards the fields below
	open  map[string]session
	codes map[string]time.Time // hash of a code -> when it ends
}

func loadSessions(st *store.Store, now func() time.Time) (*sessions, error) {
	var list []session
	if _, err := st.Setting(settingSessions, &list); err != nil {
		return nil, err
	}
	s := &sessions{store: st, now: now, open: map[string]session{}, codes: map[string]time.Time{}}
	for _, one := range list {
		s.open[one.Hash] = one
	}
	return s, nil
}

// newCode makes a single-use entry code.
func (s *sessions) newCode() string {
	code := newSecret()
	s.mu.Lock()
	defer s.mu.Unlock()
	for hash, end := range s.codes {
		if s.now().After(end) {
			delete(s.codes, hash)
		}
	}
	s.codes[hashOf(code)] = s.now().Add(codeLife)
	return code
}

// enter takes a code and opens a session for it. ok is false for a code that
// was used, is too old or never was.
func (s *sessions) enter(code, browser string) (secret string, ok bool, err error) {
	secret = newSecret()
	if !s.take(code, session{Hash: hashOf(secret), Browser: browser, Began: s.now(), Used: s.now()}) {
		return "", false, nil
	}
	return secret, true, s.save()
}

func (s *sessions) take(code string, fresh session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	end, ok := s.codes[hashOf(code)]
	delete(s.codes, hashOf(code))
	if !ok || s.now().After(end) {
		return false
	}
	s.open[fresh.Hash] = fresh
	return true
}

// valid tells whether a cookie's secret belongs to an open session, and notes
// its use. Looking up the hash leaks nothing about the secret by its timing.
func (s *sessions) valid(secret string) bool {
	s.mu.Lock()
	one, ok := s.open[hashOf(secret)]
	ok = ok && !one.over(s.now())
	stale := ok && s.now().Sub(one.Used) > useGrain
	if stale {
		one.Used = s.now()
		s.open[one.Hash] = one
	}
	s.mu.Unlock()
	if stale {
		// A use that is not remembered shortens a session, which is safe.
		_ = s.save()
	}
	return ok
}

// revokeAll closes every dashboard and makes waiting codes void.
func (s *sessions) revokeAll() error {
	s.mu.Lock()
	clear(s.open)
	clear(s.codes)
	s.mu.Unlock()
	return s.save()
}

// list returns the open sessions, the one used last first.
func (s *sessions) list() []session {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []session
	for _, one := range s.open {
		if !one.over(s.now()) {
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b session) int {
		return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.Hash, b.Hash))
	})
	return list
}

func (s *sessions) save() error {
	s.saving.Lock()
	defer s.saving.Unlock()
	return s.store.SetSetting(settingSessions, s.list())
}

// newSecret returns 32 random bytes as text for addresses and cookies.
func newSecret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails, crypto/rand says
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
