package main

import (
	"go/ast"
	"go/parser"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

const mostRounds = 20

// stubs changes the test files of a package until they compile. The body of a function with an error in it is replaced
// by a panic. Any other declaration with an error is removed; declarations that need it have errors in the next round.
//
//	content   the present content of each file, by path
//	changed   the content of the files that were changed, by path; nil for a removed file
//	why       the error for which a declaration was changed, by `path#name`
//	removed   the error for which a declared name was removed, by that name
//	torn      why a file has an error as a whole, by its path below the root
//	all       why no test can be run; "" if some can
//	code      the first error in the code itself; "" if there is none
//	clash     an error between two places, of which only the first was reported so far
//	reaches   for each declaration in test files, those that it uses
type stubs struct {
	root    string
	folder  string
	sources *sources
	content map[string][]byte
	changed map[string][]byte
	why     map[string]string
	removed map[string]string
	torn    map[string]string
	all     string
	code    string
	clash   string
	reaches map[string]map[string]bool
	round   int
	edits   map[string][]edit
}

func newStubs(order *Order, folder string) *stubs {
	made := &stubs{
		root: order.Root, folder: folder, sources: newSources(folder, order.Overlay, order.Flags, true),
		content: map[string][]byte{}, changed: map[string][]byte{}, why: map[string]string{},
		removed: map[string]string{}, torn: map[string]string{},
	}
	for _, name := range goFiles(folder) {
		path := filepath.Join(folder, name)
		content, err := os.ReadFile(path)
		check(err)
		made.content[path] = content
	}
	return made
}

// settle changes test files, in rounds, until none has an error, the code has one, or 20 rounds did not suffice.
func (s *stubs) settle() {
	for s.round = 0; s.round < mostRounds; s.round++ {
		s.edits = map[string][]edit{}
		internal, external := s.parsed()
		if s.code != "" {
			return
		}
		if len(s.edits) == 0 {
			s.reaches = map[string]map[string]bool{}
			s.sources.own = map[string]*types.Package{}
			base := s.checked(s.sources.base.ImportPath, internal)
			s.sources.own[s.sources.base.ImportPath] = base
			s.checked(s.sources.base.ImportPath+"_test", external)
		}
		if s.code != "" || len(s.edits) == 0 {
			return
		}
		s.apply()
	}
	s.all = "errors without an end"
}

// parsed returns the files of the package with its internal tests, and those of its external tests. For a test file
// that cannot be parsed, it notes an edit that leaves only the package clause.
func (s *stubs) parsed() (internal, external []*ast.File) {
	for _, name := range s.names() {
		file, err := parser.ParseFile(s.sources.fset, name, s.content[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			s.tear(name, file, err)
			continue
		}
		if isTest(name) && strings.HasSuffix(file.Name.Name, "_test") {
			external = append(external, file)
		} else {
			internal = append(internal, file)
		}
	}
	return internal, external
}

// names returns the paths of the files, code before tests: if both declare a name, the error is in the test then.
func (s *stubs) names() []string {
	names := make([]string, 0, len(s.content))
	for name := range s.content {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		if isTest(names[i]) != isTest(names[j]) {
			return !isTest(names[i])
		}
		return names[i] < names[j]
	})
	return names
}

func (s *stubs) tear(name string, file *ast.File, err error) {
	message := brief(place.ReplaceAllString(err.Error(), ""))
	if at := strings.Index(message, " (and "); at >= 0 {
		message = message[:at]
	}
	if !isTest(name) {
		s.code = message
		return
	}
	s.torn[s.relative(name)] = message
	head := "package " + filepath.Base(s.folder)
	if file != nil && file.Name != nil && file.Name.Name != "_" && file.Name.Name != "" {
		head = "package " + file.Name.Name
	} else {
		delete(s.content, name)
		s.changed[name] = nil
	}
	s.edits[name] = []edit{{0, len(s.content[name]), head + "\n"}}
}

func (s *stubs) relative(path string) string {
	found, err := filepath.Rel(s.root, path)
	check(err)
	return found
}

// checked type-checks the files of a package; each error in a test file leads to an edit.
func (s *stubs) checked(path string, files []*ast.File) *types.Package {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	config := s.sources.config(func(err error) {
		if found, ok := err.(types.Error); ok {
			s.meet(found, files)
		}
	})
	for _, file := range files {
		s.refuseCycles(file, path)
	}
	made, _ := config.Check(path, s.sources.fset, files, info)
	s.follow(files, info)
	return made
}

// refuseCycles removes the imports of an internal test file that lead back to its own package.
func (s *stubs) refuseCycles(file *ast.File, path string) {
	name := s.sources.fset.Position(file.Pos()).Filename
	if !isTest(name) || path != s.sources.base.ImportPath {
		return
	}
	for _, spec := range file.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		one := s.sources.listed[target]
		if err == nil && (target == path || one != nil && s.sources.needsBase(one)) {
			s.dropImport(file, spec, "import cycle not allowed in test")
		}
	}
}

var (
	// This error is reported at the declaration in the code first, then at the import, which may be in a test.
	imported  = regexp.MustCompile(`^\w+ already declared through import of `)
	undefined = regexp.MustCompile(`(?:undefined: (?:\w+\.)?|no field or method |undefined \(type .* has no field or method )(\w+)`)
	lacking   = regexp.MustCompile(`could not import (\S+)`)
)

// meet handles one error: in a test file it changes the declaration there; in the code it is noted as `code`.
func (s *stubs) meet(found types.Error, files []*ast.File) {
	at := s.sources.fset.Position(found.Pos)
	message := brief(found.Msg)
	if strings.HasPrefix(found.Msg, "\t") { // the second place of an error that was reported before
		if s.clash == "" {
			return
		}
		message, s.clash = s.clash, ""
	} else if !isTest(at.Filename) && imported.MatchString(message) {
		s.clash = message
		return
	}
	if !isTest(at.Filename) {
		if s.code == "" {
			s.code = message
		}
		return
	}
	if named := undefined.FindStringSubmatch(message); named != nil && s.removed[named[1]] != "" {
		message = s.removed[named[1]]
	}
	for _, file := range files {
		if file.FileStart <= found.Pos && found.Pos <= file.FileEnd {
			s.change(file, found.Pos, message)
			return
		}
	}
}
