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

// Watch says which tests and lines an observer watches. Tests are functions of a package and of its external tests,
// each as `file#name`. Lines are given by the path of their file below the root.
type Watch struct {
	Package string
	Tests   []string
	Lines   map[string][]int
}

// sight is what the observer saw of a test: how often it was entered and left, and whether it failed or was skipped.
type sight struct {
	Entered int
	Left    int
	Failed  bool
}

// observer runs a test binary under ptrace(2), and stops it where tests begin, end and fail. A process cannot prevent
// that by writing to its memory, except to its code. Therefore the code is compared with the file of the binary.
type observer struct {
	image   *image
	process int
	memory  *os.File
	threads map[int]bool
	traps   map[uint64]*trap
	sights  map[string]*sight
	places  map[uint64]*sight // by where the code of the test begins
	running map[uint64]*sight // by the address of the T, F or example with which it was called
	callers map[uint64]*sight // by the goroutine that called it
	reached map[string]map[int]bool
	altered bool
	ended   *syscall.WaitStatus
}

// trap is a breakpoint in the code. If it stays, it is set again after a thread has passed it; otherwise it is removed
// when it is hit.
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

// observe starts a command under an observer, with all traps set, and returns the observer without waiting for the end.
// If the binary or this processor cannot be observed, it starts the command without one and returns nil.
func observe(command *exec.Cmd, order *Order) (*observer, error) {
	made, err := readImage(command.Path)
	if err != nil || !canObserve {
		return nil, command.Start()
	}
	// Only the thread that started to trace a process can trace it.
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
		callers: map[uint64]*sight{},
		reached: map[string]map[int]bool{},
	}
	seen.begin(order.Watch)
	seen.watchLines(order.Root, order.Watch.Lines)
	check(syscall.PtraceCont(seen.process, 0))
	return seen, nil
}

// begin sets the traps for tests in a process that has just been started.
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
			seen.trap(place, true, func(at *registers) { seen.enter(one, at, name) })
		}
	}
	for _, name := range []string{reports, reportsF} {
		seen.trap(seen.image.places[name], true, seen.leave)
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

// watchLines sets a trap at each address where the code of a wanted line begins; it is removed when it is hit.
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

// enter notes that a test was called. It may be called twice for one call, which counts once: a function that needs
// more stack, or that is preempted before it has its frame, begins again. An argument that it does not use is lost then,
// so that the goroutine tells that it is the same call.
func (seen *observer) enter(one *sight, at *registers, name string) {
	address := at.first()
	if strings.HasPrefix(name, "Example") {
		address = 0 // it has no argument
	}
	if seen.running[address] != one && seen.callers[at.goroutine()] != one {
		seen.running[address] = one
		seen.callers[at.goroutine()] = one
		one.Entered++
	}
}

// leave notes that the test with this T or F ended, and whether the code of the process was altered.
func (seen *observer) leave(at *registers) {
	if one := seen.running[at.first()]; one != nil {
		delete(seen.running, at.first())
		delete(seen.callers, at.goroutine())
		one.Left++
		seen.altered = seen.altered || !seen.isWhole()
	}
}

// afterName is the offset of an example's function in InternalExample, behind its name.
const afterName = 16

// conclude sets a trap where processRunResult returns, which says whether the output of an example was right. There the
// example counts as left, and as failed unless the function returns true.
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

// wait handles the stops of all threads until the process has ended, and returns how it ended.
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

// pass calls the function of the trap that stopped a thread, and lets the thread pass it. It returns the signal that
// the thread must still get: SIGTRAP if no trap stopped it, one that arrived meanwhile, or 0.
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

// step executes one instruction of a thread, and returns a signal that arrived meanwhile, to be sent later; 0 for none.
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
	// An error means that the process has ended.
	_, _ = seen.memory.WriteAt(code, int64(place))
	one.isSet = isSet
}

// isWhole returns whether the code of the process is that of the file, except for the observer's traps.
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

// tell reports what the observer saw, with a key that the test process does not know.
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

// goOn returns whether an error says that a thread has ended, as it may at any time. Any other error ends this program.
func goOn(err error) bool {
	if err == syscall.ESRCH {
		return true
	}
	check(err)
	return false
}
