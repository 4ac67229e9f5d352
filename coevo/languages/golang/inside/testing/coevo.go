// Package testing is the standard library's; this file is put beside its own.
package testing

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Where the process above listens; see run.go.
const coevoReading, coevoWriting = 198, 199

// Where the tree of the code lies.
const coevoTree = "/w/src/"

var coevo struct {
	mu     sync.Mutex
	secret string
	failed map[string][]string
	cpu    map[string]int64
}

func init() {
	var stat syscall.Stat_t
	if syscall.Fstat(coevoReading, &stat) != nil || stat.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return
	}
	syscall.CloseOnExec(coevoWriting)
	var text []byte
	block := make([]byte, 64)
	for {
		n, err := syscall.Read(coevoReading, block)
		if err == syscall.EINTR {
			continue
		}
		if n <= 0 {
			break
		}
		text = append(text, block[:n]...)
	}
	syscall.Close(coevoReading)
	coevo.secret = strings.TrimSpace(string(text))
	coevo.failed, coevo.cpu = map[string][]string{}, map[string]int64{}
}

func coevoSay(event, name string, pairs ...string) {
	line := []byte("\n" + coevo.secret + "\t{\"e\":" + coevoQuoted(event) + ",\"test\":" + coevoQuoted(name))
	for i := 0; i < len(pairs); i += 2 {
		line = append(line, ","+coevoQuoted(pairs[i])+":"+pairs[i+1]...)
	}
	line = append(line, "}\n"...)
	for len(line) > 0 {
		n, err := syscall.Write(coevoWriting, line)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return
		}
		line = line[n:]
	}
}

// coevoQuoted is a text as JSON has it.
func coevoQuoted(text string) string {
	var quoted strings.Builder
	quoted.WriteByte('"')
	for _, char := range text {
		switch {
		case char == '"' || char == '\\':
			quoted.WriteByte('\\')
			quoted.WriteRune(char)
		case char < 0x20 || char > 0x7e && char < 0xa0:
			quoted.WriteByte(' ')
		default:
			quoted.WriteRune(char)
		}
	}
	quoted.WriteByte('"')
	return quoted.String()
}

func coevoUsed() int64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return usage.Utime.Nano()/1e6 + usage.Stime.Nano()/1e6
}

// coevoBegin is called where a test, seed corpus or example begins.
func coevoBegin(name string) {
	if coevo.secret == "" || name == "" || strings.Contains(name, "/") {
		return
	}
	coevo.mu.Lock()
	defer coevo.mu.Unlock()
	coevo.cpu[name] = coevoUsed()
	coevoSay("begin", name)
}

// coevoEnd is called where the standard library says what a test came to; output is its own, if it has failed.
func coevoEnd(name string, failed, skipped bool, output []byte) {
	if coevo.secret == "" || name == "" {
		return
	}
	coevo.mu.Lock()
	defer coevo.mu.Unlock()
	top := name
	if at := strings.IndexByte(name, '/'); at >= 0 {
		top = name[:at]
	}
	if failed {
		coevo.failed[top] = append(coevo.failed[top], name)
	}
	if top != name {
		return
	}
	outcome := "pass"
	switch {
	case failed:
		outcome = "fail"
	case skipped:
		outcome = "skipped"
	}
	if len(output) > 4096 {
		output = output[:4096]
	}
	coevoSay("end", name, "outcome", coevoQuoted(outcome), "frame", coevoQuoted(coevoDeepest(top)),
		"message", coevoQuoted(string(output)), "cpu_ms", strconv.FormatInt(coevoUsed()-coevo.cpu[name], 10))
	delete(coevo.failed, top)
}

// coevoReport is called where a test, or the seed corpus of a fuzz test, is reported.
func coevoReport(c *common) {
	if coevo.secret == "" {
		return
	}
	failed, skipped := c.Failed(), c.Skipped()
	c.mu.RLock()
	output := string(c.output)
	c.mu.RUnlock()
	coevoEnd(c.name, failed, skipped, []byte(output))
}

// coevoExample is called where an example has been compared with what it should have written.
func coevoExample(name string, passed, finished bool, recovered any) {
	switch {
	case recovered != nil:
		coevoPanic(name, recovered)
	case finished:
		coevoEnd(name, !passed, false, nil)
	}
}

// coevoDeepest is the first, in the order of names, of the tests that failed and have none below them that did.
func coevoDeepest(top string) string {
	names := coevo.failed[top]
	sort.Strings(names)
	for i, name := range names {
		if i+1 == len(names) || !strings.HasPrefix(names[i+1], name+"/") {
			return name
		}
	}
	return top
}

// coevoPanic is called where the standard library found a panic that nobody else had recovered from.
func coevoPanic(name string, err any) {
	if coevo.secret == "" {
		return
	}
	kind := "Goexit"
	if err != errNilPanicOrGoexit {
		kind = fmt.Sprintf("%T", err)
	}
	frames := coevoFrames()
	coevo.mu.Lock()
	defer coevo.mu.Unlock()
	if at := strings.IndexByte(name, '/'); at >= 0 {
		name = name[:at]
	}
	message := ""
	func() {
		defer func() { _ = recover() }()
		message = fmt.Sprint(err)
	}()
	if len(message) > 4096 {
		message = message[:4096]
	}
	coevoSay("panic", name, "kind", coevoQuoted(kind), "frame", coevoQuoted(frames), "message", coevoQuoted(message))
}

// coevoFrames is the first function of the tree that the panic went through.
func coevoFrames() string {
	pcs := make([]uintptr, 512)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	panicked := false
	for {
		frame, more := frames.Next()
		if frame.Function == "runtime.gopanic" || frame.Function == "runtime.Goexit" {
			panicked = true
		} else if panicked && strings.HasPrefix(frame.File, coevoTree) {
			return frame.Function
		}
		if !more {
			return ""
		}
	}
}

var _ = os.Args
