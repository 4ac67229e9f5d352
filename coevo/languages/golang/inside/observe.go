package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"syscall"
)

// Watch is which tests are watched while they run, each as `file#name`: functions of a package and of its external
// tests; and which lines of files, by their paths below the root.
type Watch struct {
	Package string
	Tests   []string
	Lines   map[string][]int
}

// sight is what was seen of a test: how often it was entered and left, and whether it was told to fail.
type sight struct {
	Entered int
	Left    int
	Failed  bool
}

// observer runs a test binary under ptrace(2), and stops it where tests begin, end and fail. What a process writes
// into its own memory changes none of these, but for the code itself, which is held against the file.
type observer struct {
	image   *image
	process int
	memory  *os.File
	threads map[int]bool
	traps   map[uint64]*trap
	sights  map[string]*sight
	places  map[uint64]*sight // by where the code of the test begins
	running map[uint64]*sight // by the address of the T, F or example with which it was called
	reached map[string]map[int]bool
	altered bool
	ended   *syscall.WaitStatus
}

// trap is a place in the code; what stays is put back once it was passed.
type trap struct {
	stays bool
	isSet bool
	hit   func(registers *registers)
}

const (
	reports   = "testing.(*T).report"
	reportsF  = "testing.(*F).report"
	fails     = "testing.(*common).Fail"
	skips     = "testing.(*common).SkipNow"
	concludes = "testing.(*InternalExample).processRunResult"
)

const exitKill = 1 << 20 // PTRACE_O_EXITKILL

// observe starts a command, waits for its end and says how it ended, with what was seen; nil where nobody can watch it.
func observe(command *exec.Cmd, order *Order) (*observer, error) {
	made, err := readImage(command.Path)
	if err != nil || !canObserve {
		return nil, command.Start()
	}
	// A process is traced by a thread.
	runtime.LockOSThread()
	command.SysProcAttr.Ptrace = true
	if err := command.Start(); err != nil {
		return nil, err
	}
	seen := &observer{
		image:   made,
		process: command.Process.Pid,
		threads: map[int]bool{command.Process.Pid: true},
		traps:   map[uint64]*trap{},
		sights:  map[string]*sight{},
		places:  map[uint64]*sight{},
		running: map[uint64]*sight{},
		reached: map[string]map[int]bool{},
	}
	seen.begin(order.Watch)
	seen.watchLines(order.Root, order.Watch.Lines)
	check(syscall.PtraceCont(seen.process, 0))
	return seen, nil
}

// begin sets the traps in a process that has just been started.
func (seen *observer) begin(watch *Watch) {
	var status syscall.WaitStatus
	_, err := syscall.Wait4(seen.process, &status, syscall.WALL, nil)
	check(err)
	check(syscall.PtraceSetOptions(seen.process, syscall.PTRACE_O_TRACECLONE|exitKill))
	seen.memory, err = os.OpenFile("/proc/"+strconv.Itoa(seen.process)+"/mem", os.O_RDWR, 0)
	check(err)
	for _, key := range watch.Tests {
		one := &sight{}
		seen.sights[key] = one
		file, name, _ := strings.Cut(key, "#")
		for _, place := range seen.image.functions(watch.Package, file, name) {
			seen.places[place] = one
			seen.trap(place, true, func(at *registers) { seen.enter(one, at.first(), name) })
		}
	}
	for _, name := range []string{reports, reportsF} {
		seen.trap(seen.image.places[name], true, func(at *registers) { seen.leave(at.first()) })
	}
	for _, name := range []string{fails, skips} {
		seen.trap(seen.image.places[name], true, func(at *registers) {
			if one := seen.running[at.first()]; one != nil {
				one.Failed = true
			}
		})
	}
	seen.trap(seen.image.places[concludes], true, seen.conclude)
}

// watchLines sets a trap at each place where a line begins, until it is reached there.
func (seen *observer) watchLines(root string, lines map[string][]int) {
	wanted, paths := map[string]map[int]bool{}, map[string]string{}
	for path, numbers := range lines {
		file := filepath.Join(root, path)
		wanted[file], paths[file], seen.reached[path] = map[int]bool{}, path, map[int]bool{}
		for _, line := range numbers {
			wanted[file][line] = true
		}
	}
	seen.image.lines(wanted, func(file string, line int, place uint64) {
		reached := seen.reached[paths[file]]
		if known := seen.traps[place]; known != nil {
			hit := known.hit
			known.hit = func(at *registers) { hit(at); reached[line] = true }
			return
		}
		seen.trap(place, false, func(*registers) { reached[line] = true })
	})
}

// enter may be asked twice for one call: a function that needs more stack begins anew.
func (seen *observer) enter(one *sight, address uint64, name string) {
	if strings.HasPrefix(name, "Example") {
		address = 0 // it has no argument
	}
	if seen.running[address] != one {
		seen.running[address] = one
		one.Entered++
	}
}

func (seen *observer) leave(address uint64) {
	if one := seen.running[address]; one != nil {
		delete(seen.running, address)
		one.Left++
		seen.altered = seen.altered || !seen.isWhole()
	}
}

// afterName is how far the function of an example lies behind its name.
const afterName = 16

// conclude notes what is said of an example once its output is known: a function returns it.
func (seen *observer) conclude(at *registers) {
	one := seen.places[seen.word(seen.word(at.first()+afterName))]
	if one == nil {
		return
	}
	seen.trap(seen.word(at.stack()), false, func(at *registers) {
		one.Left++
		one.Failed = one.Failed || !at.isTrue()
		seen.altered = seen.altered || !seen.isWhole()
	})
}

// wait goes on until the process has ended.
func (seen *observer) wait() syscall.WaitStatus {
	for seen.ended == nil {
		var status syscall.WaitStatus
		thread, err := syscall.Wait4(-1, &status, syscall.WALL, nil)
		if err == syscall.EINTR {
			continue
		}
		check(err)
		seen.hear(thread, status)
	}
	runtime.UnlockOSThread()
	seen.memory.Close()
	return *seen.ended
}

func (seen *observer) hear(thread int, status syscall.WaitStatus) {
	if !status.Stopped() {
		if thread == seen.process {
			seen.ended = &status
		}
		return
	}
	signal := int(status.StopSignal())
	switch {
	case status.TrapCause() > 0:
		signal = 0
	case status.StopSignal() == syscall.SIGSTOP && !seen.threads[thread]:
		seen.threads[thread] = true
		signal = 0
	case status.StopSignal() == syscall.SIGTRAP:
		signal = seen.pass(thread)
	}
	goOn(syscall.PtraceCont(thread, signal))
}

// pass lets a thread pass the trap at which it stands. What it is to be sent: what came meanwhile, or what stopped it
// where it stands at none.
func (seen *observer) pass(thread int) int {
	at, err := registersOf(thread)
	if err != nil {
		return int(syscall.SIGTRAP)
	}
	place := at.trapped()
	one := seen.traps[place]
	if one == nil {
		return int(syscall.SIGTRAP)
	}
	at.goTo(place)
	goOn(at.write(thread))
	if !one.isSet {
		return 0 // another thread has removed it in the meantime
	}
	one.hit(at)
	seen.set(place, one, false)
	if !one.stays {
		return 0
	}
	later := seen.step(thread)
	seen.set(place, one, true)
	return later
}

// step executes one instruction; what was sent to the thread meanwhile is for later.
func (seen *observer) step(thread int) int {
	later := 0
	for {
		if goOn(syscall.PtraceSingleStep(thread)) {
			return later
		}
		var status syscall.WaitStatus
		_, err := syscall.Wait4(thread, &status, syscall.WALL, nil)
		check(err)
		switch {
		case !status.Stopped():
			seen.hear(thread, status)
			return 0
		case status.StopSignal() != syscall.SIGTRAP:
			later = int(status.StopSignal())
		case status.TrapCause() <= 0:
			return later
		}
	}
}

func (seen *observer) trap(place uint64, stays bool, hit func(*registers)) {
	if place == 0 {
		return
	}
	one := &trap{stays: stays, hit: hit}
	seen.traps[place] = one
	seen.set(place, one, true)
}

func (seen *observer) set(place uint64, one *trap, isSet bool) {
	code := seen.image.code(place)
	if isSet {
		code = breakpoint
	}
	// Where the process is gone there is nothing to be written.
	_, _ = seen.memory.WriteAt(code, int64(place))
	one.isSet = isSet
}

// isWhole says whether the code is what the file has, but for our traps.
func (seen *observer) isWhole() bool {
	there := make([]byte, len(seen.image.text))
	if _, err := seen.memory.ReadAt(there, int64(seen.image.start)); err != nil && err != io.EOF {
		return false
	}
	for place, one := range seen.traps {
		if !one.isSet {
			continue
		}
		at := there[place-seen.image.start:]
		if !bytes.HasPrefix(at, breakpoint) {
			return false
		}
		copy(at, seen.image.code(place))
	}
	return bytes.Equal(there, seen.image.text)
}

func (seen *observer) word(address uint64) uint64 {
	var found [8]byte
	_, _ = seen.memory.ReadAt(found[:], int64(address))
	return endian.Uint64(found[:])
}

// tell says what was seen under a key that the test process does not know.
func (seen *observer) tell(order *Order) {
	reached := map[string][]int{}
	for path, lines := range seen.reached {
		reached[path] = []int{}
		for line := range lines {
			reached[path] = append(reached[path], line)
		}
		sort.Ints(reached[path])
	}
	said, err := json.Marshal(map[string]any{
		"e": "observed", "key": order.Key, "altered": seen.altered, "tests": seen.sights, "reached": reached,
	})
	check(err)
	say(order.Nonce, string(said))
}

// goOn says whether a thread is gone, as one may be at any time.
func goOn(err error) bool {
	if err == syscall.ESRCH {
		return true
	}
	check(err)
	return false
}
