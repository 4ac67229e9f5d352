package main

import (
	"encoding/json"
	"go/build"
	"os"
	"path/filepath"
	"strings"
)

// Compiled is what became of the tests of a package.
//
//	Whole    whether the go command itself compiled them
//	None     there are no test files
//	Broken   by file and function, `path#TestName`, why a test does not compile though its neighbours do
//	Torn     files that cannot be parsed, and why
//	All      why none can be run
//	Code     why the code does not compile
//	Files    the names of the test files that belong to the binary on this machine, whether they compile or not
type Compiled struct {
	Whole  bool
	None   bool
	Broken map[string]string
	Torn   map[string]string
	All    string
	Code   string
	Files  []string
}

// compile makes the test binary of a package. One error breaks a package: what is wrong is then stubbed, so
// that the others can be run, and what reaches a stub is told.
func compile(order *Order) {
	check(os.MkdirAll(out, 0o755))
	folder := filepath.Join(order.Root, order.Folder)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		answer(Compiled{Whole: true, None: true}, "")
		return
	}
	said, binary, ok := testBinary(folder, order.Overlay, order.Flags)
	result := Compiled{Whole: ok, None: ok && binary == "", Files: testFiles(folder)}
	if !ok && order.Stubs {
		binary = stubbed(order, folder, said, &result)
	} else if !ok {
		result.All = firstError(said)
	}
	answer(result, binary)
}

// testFiles are the test files of a folder whose build constraints this machine fulfils, as the go command finds them.
func testFiles(folder string) []string {
	context := build.Default
	context.CgoEnabled = false
	// What is wrong with a file is told where it is compiled.
	found, _ := context.ImportDir(folder, 0)
	if found == nil {
		return nil
	}
	return append(append([]string{}, found.TestGoFiles...), found.XTestGoFiles...)
}

// testBinary compiles and links; the place of the binary, ” where there are no tests.
func testBinary(folder, overlay string, flags []string) (said, binary string, ok bool) {
	// What a debugger would read of the package is not written.
	arguments := append([]string{"test", "-c", "-vet=off", "-gcflags=-dwarf=0", "-ldflags=-s -w", "-o", out + "/", "-overlay=" + overlay}, flags...)
	_, complained, status := goTool(folder, append(arguments, ".")...)
	if status != 0 {
		return string(complained), "", false
	}
	found, err := filepath.Glob(out + "/*.test")
	check(err)
	if len(found) == 0 {
		return "", "", true
	}
	return "", found[0], true
}

// stubbed compiles what can be compiled.
func stubbed(order *Order, folder, said string, result *Compiled) string {
	stubs := newStubs(order, folder)
	if stubs.code = stubs.sources.brokenBy(order); stubs.code == "" {
		stubs.settle()
	}
	result.Broken, result.Torn = stubs.broken(), stubs.torn
	result.All, result.Code = stubs.all, stubs.code
	if result.All != "" || result.Code != "" {
		return ""
	}
	again, binary, ok := testBinary(folder, stubs.overlay(order.Overlay), order.Flags)
	if !ok {
		result.All = firstError(again)
		return ""
	}
	if len(result.Broken) == 0 && len(result.Torn) == 0 {
		// Nobody knows what was wrong, but the go command said that something was.
		result.All = firstError(said)
		return ""
	}
	return binary
}

// stubbedFiles is the folder of what stands in the place of tests that do not compile.
const stubbedFiles = "/w/stubs"

// overlay is a file that names the stubs beside what replaces the standard library's.
func (stubs *stubs) overlay(known string) string {
	var whole struct{ Replace map[string]string }
	text, err := os.ReadFile(known)
	check(err)
	check(json.Unmarshal(text, &whole))
	check(os.MkdirAll(stubbedFiles, 0o755))
	for path, content := range stubs.changed {
		if content == nil {
			whole.Replace[path] = ""
			continue
		}
		place := stubbedFiles + "/" + strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", "@")
		check(os.WriteFile(place, content, 0o644))
		whole.Replace[path] = place
	}
	text, err = json.Marshal(whole)
	check(err)
	check(os.WriteFile(stubbedFiles+"/overlay.json", text, 0o644))
	return stubbedFiles + "/overlay.json"
}
