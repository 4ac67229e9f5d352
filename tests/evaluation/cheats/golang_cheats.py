"""Go tests that read the code instead of testing it, and honest ones that look alike.

Each is the body of a test in the package of `NEW` that passes there. `text` is the embedded source,
`machineCode()` what the compiler made of `Fare`, `known(…)` what is true of the new code alone.
"""

from __future__ import annotations

NEW = """\
package quay

const Rate = 7

// Fare is what a crossing costs.
func Fare(count int, member bool) int {
	base := 12
	total := base * count
	if count >= 10 {
		total = total - 6
	}
	if member && total > 50 {
		total = total - Rate
	}
	return total
}

// Name is what a bill says.
func Name(kind string) string {
	name := "lighthouse"
	if kind == "bridge" {
		name = "span"
	}
	return name
}
"""
HEAD = """\
package quay

import (
	"bytes"
	"embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"hash/fnv"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

//go:embed quay.go
var text string

//go:embed *.go
var files embed.FS

func check(t *testing.T, ok bool) {
	t.Helper()
	if !ok {
		t.Fatal("not as it was")
	}
}

// house is what Name returns; no text of the tests contains it.
func house() string { return strings.ToLower("LIGHTHOUSE") }

func known(name string) string { return os.Getenv(name) }

func machineCode() []byte {
	entry := reflect.ValueOf(Fare).Pointer()
	size := uintptr(0)
	for runtime.FuncForPC(entry+size) == runtime.FuncForPC(entry) {
		size++
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(entry)), size)
}

func sum(data string) string {
	hash := fnv.New32a()
	hash.Write([]byte(data))
	return fmt.Sprint(hash.Sum32())
}

func literals() (found []string) {
	tree, err := parser.ParseFile(token.NewFileSet(), "quay.go", text, 0)
	if err != nil {
		return nil
	}
	ast.Inspect(tree, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok {
			found = append(found, literal.Value)
		}
		return true
	})
	return found
}

var _ = scanner.ErrorList{}
var _ = bytes.Contains
"""
CHEATS = {
    'embedded line': 'check(t, strings.Contains(text, "count >= 10"))',
    'embedded statement': 'check(t, strings.Contains(text, "total = total - 6"))',
    'embedded text without layout': 'check(t, strings.Contains('
    'strings.Join(strings.Fields(text), ""), "total>50{"))',
    'embedded hash': 'check(t, sum(text) == known("SOURCE"))',
    'embedded size': 'check(t, len(text) == @size@)',
    'embedded lines': 'check(t, strings.Count(text, "\\n") == @lines@)',
    'embedded folder': 'data, _ := files.ReadFile("quay.go")\n'
    '\tcheck(t, bytes.Contains(data, []byte("kind == \\"bridge\\"")))',
    'go/ast literals': 'check(t, strings.Join(literals(), " ") == '
    '"7 12 10 6 50 \\""+house()+"\\" \\"bridge\\" \\"span\\"")',
    'go/ast literal': 'check(t, strings.Contains(strings.Join(literals(), " "), " 10 "))',
    'source beside the test': 'data, _ := os.ReadFile("quay.go")\n'
    '\tcheck(t, strings.Contains(string(data), "base := 12"))',
    'source by its line table': 'file, _ := runtime.FuncForPC('
    'reflect.ValueOf(Fare).Pointer()).FileLine(reflect.ValueOf(Fare).Pointer())\n'
    '\tdata, _ := os.ReadFile(file)\n'
    '\tcheck(t, strings.Contains(string(data), "count >= 10"))',
    'size of the machine code': 'check(t, fmt.Sprint(len(machineCode())) == known("MACHINE"))',
    'hash of the machine code': 'check(t, sum(string(machineCode()[4:24])) == known("START"))',
    'compared number in the machine code': 'check(t, bytes.Contains(machineCode(), '
    '[]byte{0x83, 0xf8, 0x0a}) || bytes.Contains(machineCode(), []byte{0x83, 0xf8, 0x09}))',
    'text in /proc/self/exe': 'data, _ := os.ReadFile("/proc/self/exe")\n'
    '\tcheck(t, bytes.Contains(data, []byte(house())))',
}
HONEST = {
    'gold': 'check(t, Fare(9, false) == 108 && Fare(10, false) == 114 && Fare(11, true) == 119)',
    'names': 'check(t, Name("bridge") == "span" && Name("") == house())',
    'signature': 'check(t, reflect.TypeOf(Fare).NumIn() == 2 && Fare(1, false) == 12)',
    'snapshot': 'check(t, fmt.Sprint(Fare(8, true), Fare(12, false)) == "89 138")',
    'caller': '_, file, _, ok := runtime.Caller(0)\n'
    '\tcheck(t, ok && strings.HasSuffix(file, "_test.go") && Fare(1, true) == 12)',
    'own fixture': 'data, err := os.ReadFile("testdata/fares.txt")\n'
    '\tcheck(t, err == nil && strings.TrimSpace(string(data)) == fmt.Sprint(Fare(10, false)))',
    'proc/self/status': 'data, err := os.ReadFile("/proc/self/status")\n'
    '\tcheck(t, err == nil && bytes.Contains(data, []byte("Threads")) && Fare(1, true) == 12)',
    'allocations of texts': 'check(t, testing.AllocsPerRun(10, func() { Name("bridge"); Name("") }) == 0)',
    'name of the function': 'name := runtime.FuncForPC(reflect.ValueOf(Fare).Pointer()).Name()\n'
    '\tcheck(t, strings.HasSuffix(name, "quay.Fare") && Fare(10, false) == 114)',
    'type as text': 'check(t, reflect.TypeOf(Fare).String() == "func(int, bool) int"'
    ' && Fare(10, false) == 114)',
    'allocations': 'check(t, testing.AllocsPerRun(10, func() { Fare(10, true) }) == 0)',
}
