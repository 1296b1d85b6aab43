package governor

import (
	"math"
	"time"
)

// window is what was measured over one stretch of time.
type window struct {
	took    time.Duration
	known   bool          // counters were there; else the next four mean nothing
	reads   int64         // bytes that others read
	count   int64         // I/Os of others, in a rest: in work nobody tells them from ours
	waits   bool          // a read of others was in flight at the end of a rest
	writing time.Duration // sum over the writes of others, in a rest
	stalled time.Duration // in which some task waited for memory
	mine    work
	files   int // most files in work
}

// work is what our own steps did.
type work struct {
	bytes, steps int64
	time         time.Duration // sum over the steps
}

// cycle is a time of work and the rest after it, if there was one.
type cycle struct {
	work, rest window
	missed     bool // steps in flight took too long for the look that was asked for
}

// move is what is done next: let so much into flight, work, rest.
type move struct {
	work, rest    time.Duration
	look          bool // the rest is only a look at others, given up if steps in flight take too long
	flying, files int
}

const (
	// tick is how long work goes on between two looks at the counters.
	tick = 100 * time.Millisecond
	// lookEvery and lookRest: with the wait for the last step they cost 2 % of
	// speed. Who writes is seen by looks alone, and is to be seen within a second.
	lookEvery = 600 * time.Millisecond
	lookRest  = 10 * time.Millisecond
	// doubtful is after how many ticks in which others read work yields without a
	// look, because its own steps, a sync for example, take too long for one.
	doubtful = 5
	// manyPerSecond I/Os and muchPerSecond bytes are a neighbour; fewer are the
	// murmur of any system, and each of them is late by one step of ours at most.
	manyPerSecond = 125
	muchPerSecond = 1e6
	// silence is how long others must do nothing until work goes on at full speed.
	silence = 150 * time.Millisecond

	// quantum is the time of theirs that one slice of work may cost others, in
	// seconds: a cycle takes 43 ms for gentle beside a neighbour who loses 60 %.
	quantum = 0.002
	// Shorter rests measure nothing; longer ones are not owed, whatever a sync cost.
	shortestRest = 5 * time.Millisecond
	longestRest  = 2 * time.Second
	longestWork  = 50 * time.Millisecond
	// span is over which time the rates of others are measured.
	span = 500 * time.Millisecond
)

// law decides from what was seen how much may be in flight and when to rest. It
// is pure: it knows no clock and no drive.
//
// While others are active, work and rest alternate, and what they get in both is
// compared. A second of work costs them harm = 1 - work/rest seconds of theirs;
// they may lose the share yield of all time. Both are kept in one account, so that
// a long sync is paid back too.
type law struct {
	yield   float64
	blind   bool // some drive has no counters
	tune    tuner
	slow    slowness
	pressed pressure
	active  bool          // others are at work on our drives
	quiet   time.Duration // for which they did nothing
	unseen  time.Duration // since the last rest
	doubts  int           // windows of work since then in which others seemed to read; the first after a refuted doubt do not count
	rates   rates
	credit  float64       // seconds that others may still lose
	flying  int           // steps in flight while yielding
	unhurt  time.Duration // for which others hardly lost anything
	share   float64       // of time in which steps may go
}

func newLaw(o Options) law {
	l := law{yield: o.Yield, tune: newTuner(o), flying: 1, share: 1}
	for _, d := range o.Drives {
		l.blind = l.blind || len(d.Disks) == 0
	}
	return l
}

// first is a look at others before anything is in flight.
func (l *law) first() move {
	if l.yield == 0 {
		return l.free(tick, 0)
	}
	return l.free(0, lookRest)
}

func (l *law) yielding() bool { return l.active || l.pressed.high || l.slow.suffering }

// next is what to do after c.
func (l *law) next(c cycle) move {
	if l.yield == 0 {
		l.tune.next(c.work)
		return l.free(tick, 0)
	}
	l.pressed.see(c)
	if l.blind || !c.work.known {
		l.slow.see(c)
	}
	if c.work.known {
		l.notice(c)
	}
	switch {
	case l.active:
		return l.pay(c)
	case l.pressed.high || l.slow.suffering:
		return l.halve()
	}
	l.share, l.flying = 1, 1
	l.tune.next(c.work)
	if !c.work.known {
		return l.free(tick, 0)
	}
	return l.watchful()
}

// notice decides whether others are active.
func (l *law) notice(c cycle) {
	switch {
	case c.rest.took == 0:
		l.doubt(c)
	case theirs(c.rest):
		l.begin()
	default:
		l.refute()
		if l.quiet += c.work.took + c.rest.took; l.quiet >= silence {
			l.active = false
		}
	}
}

// doubt goes by the sum of reads alone, until there is a rest.
func (l *law) doubt(c cycle) {
	l.unseen += c.work.took
	if c.missed {
		l.unseen = lookEvery / 2
	}
	if float64(c.work.reads) > muchPerSecond*c.work.took.Seconds() {
		l.doubts++
		l.quiet = 0
	} else if l.quiet += c.work.took; l.quiet >= longestRest {
		l.active = false
	}
	if l.doubts >= doubtful {
		l.begin()
	}
}

// refute is for a look that saw nobody. What seemed to be others may be reads that
// the system makes for us; then the next doubts are not worth a look.
func (l *law) refute() {
	l.unseen = 0
	if l.doubts > 0 {
		l.doubts = -doubtful
	}
}

// begin is called again as long as others are active.
func (l *law) begin() {
	l.quiet, l.unseen, l.doubts = 0, 0, 0
	if l.active {
		return
	}
	l.active, l.credit, l.unhurt = true, 0, 0
	l.rates = rates{}
	l.tune.interrupt()
}

// theirs tells whether what happened in a rest is more than a murmur.
func theirs(rest window) bool {
	t := rest.took.Seconds()
	return rest.waits || float64(rest.count) >= 1+manyPerSecond*t ||
		rest.count > 0 && float64(rest.reads) >= 65536+muchPerSecond*t
}

// watchful is work at full speed, with a look at others now and then, and at once
// where they seem to read.
func (l *law) watchful() move {
	if l.unseen >= lookEvery || l.doubts > 0 && l.unseen >= lookEvery/4 {
		return l.free(0, lookRest)
	}
	return l.free(tick, 0)
}

func (l *law) free(work, rest time.Duration) move {
	m := move{work: work, rest: rest, look: true, flying: unbounded, files: l.tune.level}
	if l.yield > 0 && l.blind && l.slow.unlearned() {
		m.flying = 1 // so that it is known what one step takes when nobody suffers
	}
	return m
}

// pay balances the account and plans the next slice of work and the rest after it.
func (l *law) pay(c cycle) move {
	l.rates.add(c)
	harm := l.rates.harm()
	workTime, total := c.work.took.Seconds(), (c.work.took + c.rest.took).Seconds()
	l.credit += l.yield*total - harm*workTime
	l.credit = min(max(l.credit, -l.yield*longestRest.Seconds()), quantum)
	l.ease(harm, c.work.took+c.rest.took)

	work := min(quantum/harm, longestWork.Seconds())
	rest := (harm*work-l.credit)/l.yield - work
	rest = min(max(rest, shortestRest.Seconds()), longestRest.Seconds())
	if total > 0 {
		l.share += (workTime/total - l.share) * decay(c.work.took+c.rest.took, 300*time.Millisecond)
	}
	return move{work: seconds(work), rest: seconds(rest), flying: l.flying, files: l.tune.level}
}

// ease lets more into flight while others are hardly hurt, less when they are.
func (l *law) ease(harm float64, took time.Duration) {
	switch {
	case harm > l.yield:
		l.flying = max(1, l.flying/2)
		l.unhurt = 0
	case harm < l.yield/2:
		l.unhurt += took
	}
	if l.unhurt >= 300*time.Millisecond && l.flying < l.tune.most {
		l.flying *= 2
		l.unhurt = 0
	}
}

// halve is for reasons that no rest can measure: one step at a time, in half of
// the time for normal, in a quarter for gentle.
func (l *law) halve() move {
	const work = 30 * time.Millisecond
	idle := min(max(0.15/l.yield, 1), 3)
	l.flying, l.share = 1, 1/(1+idle)
	return move{work: work, rest: seconds(work.Seconds() * idle), flying: 1, files: l.tune.level}
}

// rates are what others got in work and in rests, the last span of time most.
type rates struct {
	workReads, workTime float64
	restReads, restTime float64
	writing             float64 // seconds that their writes took in rests
}

func (r *rates) add(c cycle) {
	keep := 1 - decay(c.work.took+c.rest.took, span)
	r.workReads = r.workReads*keep + float64(c.work.reads)
	r.workTime = r.workTime*keep + c.work.took.Seconds()
	r.restReads = r.restReads*keep + float64(c.rest.reads)
	r.restTime = r.restTime*keep + c.rest.took.Seconds()
	r.writing = r.writing*keep + c.rest.writing.Seconds()
}

// harm is the share of their work that others lose while we work, at least 0.01.
// Until much is measured they are thought to lose 70 %: so they did beside eight
// workers on the drive this was made on. What writers lose is not seen (writes
// are charged to nobody in the end), so it is taken to be four times the time
// their writes take alone.
func (r *rates) harm() float64 {
	harm := 0.7
	if r.restReads > 0 {
		rest := r.restReads / r.restTime
		const assumed = 0.005 // seconds of work with 70 % lost
		work := (r.workReads + 0.3*assumed*rest) / (r.workTime + assumed)
		harm = 1 - work/rest
	} else if r.restTime > 0 {
		harm = 0
	}
	if r.restTime > 0 {
		harm = max(harm, min(4*r.writing/r.restTime, 0.8))
	}
	return max(harm, 0.01)
}

// pressure follows the share of time in which somebody waited for memory.
type pressure struct {
	share float64
	high  bool
}

// Above 10 % of time others feel it; the copy's own buffers are small and fixed.
func (p *pressure) see(c cycle) {
	took := c.work.took + c.rest.took
	if took == 0 {
		return
	}
	now := (c.work.stalled + c.rest.stalled).Seconds() / took.Seconds()
	p.share += (now - p.share) * decay(took, time.Second)
	p.high = p.share > 0.1 || p.high && p.share > 0.03
}

// decay is how much of an old value is gone after took.
func decay(took, constant time.Duration) float64 {
	return 1 - math.Exp(-took.Seconds()/constant.Seconds())
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
