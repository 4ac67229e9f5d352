package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
)

// sources provides the packages that a package imports, when that package is type-checked with changed files. They are
// read from the export data of the compiler, except packages that import the package themselves: these are checked
// anew.
type sources struct {
	fset    *token.FileSet
	listed  map[string]*Listed
	base    *Listed
	own     map[string]*types.Package
	gc      types.Importer
	version string
}

// newSources lets the go command list a package and all that it imports; with `tests`, also what its tests import.
func newSources(folder, overlay string, flags []string, tests bool) *sources {
	arguments := append([]string{"-export", "-deps", "-overlay=" + overlay}, flags...)
	if tests {
		arguments = append(arguments, "-test")
	}
	found, said := list(folder, append(arguments, ".")...)
	if len(found) == 0 {
		check(fmt.Errorf("go list says nothing of %s: %s", folder, said))
	}
	made := &sources{fset: token.NewFileSet(), listed: map[string]*Listed{}, own: map[string]*types.Package{}}
	for _, one := range found {
		made.listed[one.ImportPath] = one
		if one.Dir == folder && one.ForTest == "" && !strings.HasSuffix(one.ImportPath, ".test") {
			made.base = one
		}
	}
	if made.base == nil {
		made.base = &Listed{Dir: folder, ImportPath: "coevo.invalid/none"}
	}
	if made.base.Module != nil && made.base.Module.GoVersion != "" {
		made.version = "go" + made.base.Module.GoVersion
	}
	made.gc = importer.ForCompiler(made.fset, "gc", made.exported)
	return made
}

// brokenBy returns the first error of a package with an edited file, for which no test is to blame; "" if there is
// none.
func (s *sources) brokenBy(order *Order) string {
	for _, path := range order.Edited {
		folder := filepath.Dir(filepath.Join(order.Root, path))
		for _, one := range s.listed {
			own := one.ForTest == "" && one.Dir == folder && !strings.HasSuffix(one.ImportPath, ".test")
			if own && one.Error != nil && !hasNoFiles(one.Error.Err) {
				return firstError(one.Error.Err)
			}
		}
	}
	return ""
}

func (s *sources) exported(path string) (io.ReadCloser, error) {
	one := s.listed[path]
	if one == nil || one.Export == "" {
		return nil, fmt.Errorf("no package %s", path)
	}
	return os.Open(one.Export)
}

// Import returns the package with an import path, as types.Importer requires.
func (s *sources) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if own := s.own[path]; own != nil {
		return own, nil
	}
	one := s.listed[path]
	if one != nil && s.needsBase(one) {
		return s.rebuilt(one), nil
	}
	return s.gc.Import(path)
}

func (s *sources) needsBase(one *Listed) bool {
	for _, dep := range one.Deps {
		if dep == s.base.ImportPath {
			return true
		}
	}
	return false
}

// rebuilt type-checks a package that imports the package under test, together with the internal tests of the latter.
func (s *sources) rebuilt(one *Listed) *types.Package {
	var files []*ast.File
	for _, name := range one.GoFiles {
		file, _ := parser.ParseFile(s.fset, filepath.Join(one.Dir, name), nil, parser.SkipObjectResolution)
		if file != nil {
			files = append(files, file)
		}
	}
	config := s.config(func(error) {})
	config.IgnoreFuncBodies = true
	made, _ := config.Check(one.ImportPath, s.fset, files, nil)
	s.own[one.ImportPath] = made
	return made
}

func (s *sources) config(hear func(error)) types.Config {
	return types.Config{
		GoVersion: s.version,
		Importer:  s,
		Error:     hear,
		Sizes:     types.SizesFor("gc", runtime.GOARCH),
	}
}

// goFiles returns the names of a folder's Go files whose build constraints this machine fulfils, sorted, tests last.
func goFiles(folder string) []string {
	entries, err := os.ReadDir(folder)
	check(err)
	context := build.Default
	context.CgoEnabled = false
	var found []string
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".go") || entry.IsDir() {
			continue
		}
		if matches, err := context.MatchFile(folder, entry.Name()); matches || err != nil {
			found = append(found, entry.Name())
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return !isTest(found[i]) && isTest(found[j]) })
	return found
}

func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }
