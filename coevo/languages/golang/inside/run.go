package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// The file descriptors from which a test binary reads its secret and its tests, and to which it writes its events. No
// program passes such high numbers on by accident. testing/coevo.go has the same numbers.
const reading, writing = 198, 199

// lastWords is how long the channel is still read after the process has ended.
const lastWords = 10 * time.Second

const prSetDumpable = 4

// profile is the file to which a test binary writes its coverage profile.
const profile = "/tmp/coevo-profile"

// hide keeps other processes from reading the memory of this one, which alone knows nonces (prctl(2), PR_SET_DUMPABLE).
func hide() {
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetDumpable, 0, 0)
}

// run carries out one order: it lays out a tree, and runs one test binary in it.
func run(order *Order) {
	hide()
	layOut(order)
	follow(order)
}

// layOut writes the tree, the folder in which tests run if the tree lacks it, and a cache for tests that run the go
// command.
func layOut(order *Order) {
	borrowed = map[string]bool{}
	if len(order.Caches) > 0 {
		linkCaches(order.Caches)
	}
	archive, err := os.Open(order.Tree)
	check(err)
	defer archive.Close()
	unpack(archive, order.Root, asTold)
	missing = layStandIns(order)
	folder := filepath.Join(order.Root, order.Folder)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		check(os.MkdirAll(folder, 0o755))
	}
}

// follow starts a test binary and waits for its end. On standard output, under the nonce, it reports the events of the
// binary, what an observer saw, the executed code if requested, and how the process ended.
func follow(order *Order) {
	secret := random()
	theirs, ours := pipe()
	listening, telling := pipe()
	check(syscall.Dup3(int(theirs.Fd()), reading, 0))
	check(syscall.Dup3(int(telling.Fd()), writing, 0))
	folder := filepath.Join(order.Root, order.Folder)
	arguments := order.Arguments
	if order.Profile {
		arguments = append(arguments, "-test.coverprofile="+profile)
	}
	command := exec.Command(order.Binary, arguments...)
	command.Dir = folder
	command.Env = append(os.Environ(), "PWD="+folder)
	for name, value := range order.Variables {
		command.Env = append(command.Env, name+"="+value)
	}
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	seen := start(command, order)
	say(order.Nonce, `{"e":"started"}`)
	theirs.Close()
	telling.Close()
	check(syscall.Close(reading))
	check(syscall.Close(writing))
	fmt.Fprintf(ours, "%s\n%s\n", secret, strings.Join(order.Tests, "\n"))
	ours.Close()
	closed := make(chan bool)
	go func() {
		relay(listening, secret, order.Nonce)
		close(closed)
	}()
	status := end(command, seen)
	select {
	case <-closed:
	case <-time.After(lastWords):
	}
	listening.Close()
	if seen != nil {
		seen.tell(order)
	}
	if order.Profile {
		tellExecuted(order, profile)
	}
	said, err := json.Marshal(map[string]any{"e": "status", "status": status, "unread": missing.unread()})
	check(err)
	say(order.Nonce, string(said))
}

func pipe() (*os.File, *os.File) {
	one, other, err := os.Pipe()
	check(err)
	return one, other
}

func random() string {
	file, err := os.Open("/dev/urandom")
	check(err)
	defer file.Close()
	bytes := make([]byte, 16)
	_, err = file.Read(bytes)
	check(err)
	return fmt.Sprintf("%x", bytes)
}

// relay repeats under the nonce each line that the test process writes under its secret; it skips all other lines.
func relay(from *os.File, secret, nonce string) {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 1<<16), 1<<20)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), secret+"\t"); ok {
			say(nonce, text)
		}
	}
}

// start starts the command and returns its observer; nil if none is ordered or possible.
func start(command *exec.Cmd, order *Order) *observer {
	if order.Watch == nil {
		check(command.Start())
		return nil
	}
	seen, err := observe(command, order)
	check(err)
	return seen
}

func end(command *exec.Cmd, seen *observer) string {
	var state syscall.WaitStatus
	if seen != nil {
		state = seen.wait()
	} else {
		_ = command.Wait()
		state = command.ProcessState.Sys().(syscall.WaitStatus)
	}
	if state.Signaled() {
		return fmt.Sprintf("exit:-%d", int(state.Signal()))
	}
	return fmt.Sprintf("exit:%d", state.ExitStatus())
}

func say(nonce, text string) {
	_, err := os.Stdout.WriteString(nonce + "\t" + text + "\n")
	check(err)
}
