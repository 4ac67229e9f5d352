package main

import (
	"encoding/json"
	"go/build"
	"os"
	"path/filepath"
	"strings"
)

// Compiled is the result of compiling the tests of a package.
//
//	Whole    whether the go command compiled all of them as they are
//	None     whether there are no test files
//	Broken   why a test does not compile although others of its package do, by `path#TestName`
//	Torn     why a test file cannot be parsed, by its path
//	All      why no test can be run; "" if some can
//	Code     why the code does not compile; "" if it does
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

// compile makes the test binary of a package, and answers with a Compiled. Since one error would break the whole
// package, declarations with errors are then replaced by stubs, so that other tests can be run. Each test that may
// reach a stub counts as broken.
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

// testFiles returns the names of a folder's test files whose build constraints this machine fulfils, as the go command
// selects them; nil if the folder cannot be read.
func testFiles(folder string) []string {
	context := build.Default
	context.CgoEnabled = false
	// Errors in a file are ignored here: they are reported when it is compiled.
	found, _ := context.ImportDir(folder, 0)
	if found == nil {
		return nil
	}
	return append(append([]string{}, found.TestGoFiles...), found.XTestGoFiles...)
}

// testBinary compiles and links the tests of a folder. It returns the output of the go command if that fails, the path
// of the binary ("" if there are no tests), and whether it succeeded.
func testBinary(folder, overlay string, flags []string) (said, binary string, ok bool) {
	// Debug information is left out, since no debugger reads it.
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

// stubbed compiles the tests with stubs for all declarations that have errors, and notes these in the result. It
// returns the path of the binary; "" if the code is broken or no test can be run.
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
		// No error was found here, but the go command reported one.
		result.All = firstError(said)
		return ""
	}
	return binary
}

// stubbedFiles is the folder of the changed files that replace those with errors.
const stubbedFiles = "/w/stubs"

// overlay writes the changed files, and returns the path of an overlay file for the go command. It names them and what
// the overlay at the path `known` names: replacements for files of the standard library.
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
