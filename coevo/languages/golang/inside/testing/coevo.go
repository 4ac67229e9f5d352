// Package testing is that of the standard library; this file is added to it.
package testing

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// The file descriptors of the channel to the process above; see run.go.
const coevoReading, coevoWriting = 198, 199

// The folder in which the tree of the cell is laid out.
const coevoTree = "/w/src/"

// The state of the reporting. Two tests of one name may be in one binary, in a package and in its external tests, so
// the key of a test is `file#name`.
//
//	secret   precedes each event; "" if nothing is to be reported
//	wanted   the keys of the tests that are to run; others of the same names are skipped
//	keys     the key of each running test, by the standard library's record of it
//	failed   by the key of a test, the names of the test and its subtests that have failed
//	cpu      by the key of a test, the CPU milliseconds that the process had used when it began
var coevo struct {
	mu     sync.Mutex
	secret string
	wanted map[string]bool
	keys   map[*common]string
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
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	coevo.secret, coevo.wanted = lines[0], map[string]bool{}
	for _, key := range lines[1:] {
		coevo.wanted[key] = true
	}
	coevo.keys, coevo.failed, coevo.cpu = map[*common]string{}, map[string][]string{}, map[string]int64{}
}

func coevoSay(event, key string, pairs ...string) {
	line := []byte("\n" + coevo.secret + "\t{\"e\":" + coevoQuoted(event) + ",\"test\":" + coevoQuoted(key))
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

// coevoQuoted returns a text as a string of JSON, with blanks for control characters.
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

// coevoKey returns the key of a test: the file that declares its function, without the folder, `#`, and its name.
func coevoKey(name string, function any) string {
	code := runtime.FuncForPC(reflect.ValueOf(function).Pointer())
	if code == nil {
		return "#" + name
	}
	file, _ := code.FileLine(code.Entry())
	return file[strings.LastIndexByte(file, '/')+1:] + "#" + name
}

// coevoBegin is called when a test, subtest or seed corpus begins. It reports a test, and returns whether it is to run.
func coevoBegin(c *common, function any) bool {
	if coevo.secret == "" || c.name == "" || strings.Contains(c.name, "/") {
		return true
	}
	return coevoStart(c, coevoKey(c.name, function))
}

// coevoBeginExample is called when an example begins. It reports it, and returns whether it is to run.
func coevoBeginExample(eg InternalExample) bool {
	return coevo.secret == "" || coevoStart(nil, coevoKey(eg.Name, eg.F))
}

func coevoStart(c *common, key string) bool {
	coevo.mu.Lock()
	defer coevo.mu.Unlock()
	if !coevo.wanted[key] {
		return false
	}
	if c != nil {
		coevo.keys[c] = key
	}
	coevo.cpu[key] = coevoUsed()
	coevoSay("begin", key)
	return true
}

// coevoTop returns the key of the test to which a subtest belongs, or of the test itself; "" if it is not reported.
func coevoTop(c *common) string {
	for c != nil && strings.Contains(c.name, "/") {
		c = c.parent
	}
	return coevo.keys[c]
}

// coevoEnd reports the outcome of a test. `output` is what the test logged, used as the message of a failure.
func coevoEnd(key string, failed, skipped bool, output []byte) {
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
	coevoSay("end", key, "outcome", coevoQuoted(outcome), "frame", coevoQuoted(coevoDeepest(key)),
		"message", coevoQuoted(string(output)), "cpu_ms", strconv.FormatInt(coevoUsed()-coevo.cpu[key], 10))
	delete(coevo.failed, key)
}

// coevoReport is called when the standard library reports the outcome of a test, subtest or seed corpus. It reports a
// test, and notes a failed subtest.
func coevoReport(c *common) {
	if coevo.secret == "" || c.name == "" {
		return
	}
	failed, skipped := c.Failed(), c.Skipped()
	c.mu.RLock()
	output := string(c.output)
	c.mu.RUnlock()
	coevo.mu.Lock()
	defer coevo.mu.Unlock()
	key := coevoTop(c)
	if key == "" {
		return
	}
	if failed {
		coevo.failed[key] = append(coevo.failed[key], c.name)
	}
	if !strings.Contains(c.name, "/") {
		coevoEnd(key, failed, skipped, []byte(output))
		delete(coevo.keys, c)
	}
}

// coevoExample is called when the output of an example was compared with the expected one. It reports the outcome, or
// the panic that ended the example.
func coevoExample(eg *InternalExample, passed, finished bool, recovered any) {
	if coevo.secret == "" {
		return
	}
	key := coevoKey(eg.Name, eg.F)
	coevo.mu.Lock()
	defer coevo.mu.Unlock()
	switch {
	case recovered != nil:
		coevoSayPanic(key, recovered)
	case finished:
		if !passed {
			coevo.failed[key] = append(coevo.failed[key], eg.Name)
		}
		coevoEnd(key, !passed, false, nil)
	}
}

// coevoDeepest returns the name of the first failed subtest, in the order of names, that has no failed subtest itself;
// the name of the test if no subtest failed.
func coevoDeepest(key string) string {
	names := coevo.failed[key]
	sort.Strings(names)
	for i, name := range names {
		if i+1 == len(names) || !strings.HasPrefix(names[i+1], name+"/") {
			return name
		}
	}
	return key[strings.IndexByte(key, '#')+1:]
}

// coevoPanic is called when the standard library finds a panic that no code of the test recovered from; it reports it.
func coevoPanic(c *common, err any) {
	if coevo.secret == "" {
		return
	}
	coevo.mu.Lock()
	defer coevo.mu.Unlock()
	coevoSayPanic(coevoTop(c), err)
}

func coevoSayPanic(key string, err any) {
	kind := "Goexit"
	if err != errNilPanicOrGoexit {
		kind = fmt.Sprintf("%T", err)
	}
	message := ""
	func() {
		defer func() { _ = recover() }()
		message = fmt.Sprint(err)
	}()
	if len(message) > 4096 {
		message = message[:4096]
	}
	coevoSay("panic", key, "kind", coevoQuoted(kind), "frame", coevoQuoted(coevoFrames()), "message", coevoQuoted(message))
}

// coevoFrames returns the innermost function of the tree that a panic went through; "" if there is none.
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
