package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// edit is a text that replaces the bytes of a file from start to end, which is exclusive.
type edit struct {
	start, end int
	text       string
}

// change notes an edit for the import or declaration of a test file that has an error at a position. If the position is
// in neither, the whole file is replaced by its package clause.
func (s *stubs) change(file *ast.File, pos token.Pos, message string) {
	for _, spec := range file.Imports {
		if spec.Pos() <= pos && pos < spec.End() {
			s.changeImport(file, spec, message)
			return
		}
	}
	for _, declaration := range file.Decls {
		if pos < declaration.Pos() || declaration.End() < pos {
			continue
		}
		switch one := declaration.(type) {
		case *ast.FuncDecl:
			s.changeFunction(file, one, pos, message)
		case *ast.GenDecl:
			s.changeSpec(file, one, pos, message)
		}
		return
	}
	if s.all == "" { // no declaration has the error: the package clause has another name
		s.torn[s.relative(s.sources.fset.Position(pos).Filename)] = message
		s.edit(file, file.FileStart, file.FileEnd, "package "+file.Name.Name+"\n")
	}
}

func (s *stubs) changeFunction(file *ast.File, one *ast.FuncDecl, pos token.Pos, message string) {
	key := s.key(one)
	if _, known := s.why[key]; !known {
		s.why[key] = message
	}
	if one.Body != nil && one.Body.Pos() <= pos && one.Name.Name != "init" {
		s.edit(file, one.Body.Pos(), one.Body.End(), fmt.Sprintf("{ panic(%q) }", "coevo.stub: "+message))
		return
	}
	s.goes(one.Name.Name, message)
	s.edit(file, one.Pos(), one.End(), "")
}

func (s *stubs) changeSpec(file *ast.File, one *ast.GenDecl, pos token.Pos, message string) {
	for _, spec := range one.Specs {
		if pos < spec.Pos() || spec.End() < pos {
			continue
		}
		for _, name := range declared(spec) {
			s.goes(name.Name, message)
		}
		if one.Tok == token.CONST && len(one.Specs) > 1 {
			for _, other := range one.Specs {
				for _, name := range declared(other) {
					s.goes(name.Name, message)
				}
			}
			break
		}
		if len(one.Specs) > 1 || one.Lparen.IsValid() {
			s.edit(file, spec.Pos(), spec.End(), "")
			return
		}
	}
	s.edit(file, one.Pos(), one.End(), "")
}

func declared(spec ast.Spec) []*ast.Ident {
	switch one := spec.(type) {
	case *ast.ValueSpec:
		return one.Names
	case *ast.TypeSpec:
		return []*ast.Ident{one.Name}
	}
	return nil
}

func (s *stubs) goes(name, message string) {
	if s.removed[name] == "" {
		s.removed[name] = message
	}
}

func (s *stubs) changeImport(file *ast.File, spec *ast.ImportSpec, message string) {
	if !strings.Contains(message, "imported") || !strings.Contains(message, "not used") {
		if found := lacking.FindStringSubmatch(message); found != nil {
			message = "could not import " + found[1]
		}
		s.dropImport(file, spec, message)
		return
	}
	if s.round == 0 { // the import was unused before anything was changed: an error of the whole file
		s.torn[s.relative(s.sources.fset.Position(spec.Pos()).Filename)] = message
	}
	if spec.Name != nil {
		s.edit(file, spec.Name.Pos(), spec.Name.End(), "_")
		return
	}
	s.edit(file, spec.Pos(), spec.Pos(), "_ ")
}

var version = regexp.MustCompile(`^v\d+$`)

// dropImport removes an import. Declarations that use it no longer compile, so the next round changes them.
func (s *stubs) dropImport(file *ast.File, spec *ast.ImportSpec, message string) {
	target, _ := strconv.Unquote(spec.Path.Value)
	parts := strings.Split(target, "/")
	name := parts[len(parts)-1]
	if version.MatchString(name) && len(parts) > 1 {
		name = parts[len(parts)-2]
	}
	name, _, _ = strings.Cut(name, ".")
	if spec.Name != nil {
		name = spec.Name.Name
	}
	s.goes(name, message)
	s.edit(file, spec.Pos(), spec.End(), "")
}

// edit notes that a text replaces part of a file. Newlines are added to the text so that all code below keeps its line
// numbers, which tests can read.
func (s *stubs) edit(file *ast.File, start, end token.Pos, text string) {
	fset := s.sources.fset
	path := fset.Position(start).Filename
	base := fset.File(file.FileStart)
	from, to := base.Offset(start), base.Offset(end)
	if content := s.content[path]; to <= len(content) {
		lost := strings.Count(string(content[from:to]), "\n") - strings.Count(text, "\n")
		text += strings.Repeat("\n", max(0, lost))
	}
	s.edits[path] = append(s.edits[path], edit{from, to, text})
}

// apply carries out the edits of a round. If two overlap, the one that begins first counts; of two that begin at one
// place the longer one; of two equal ones the first.
func (s *stubs) apply() {
	for path, edits := range s.edits {
		if _, there := s.content[path]; !there {
			continue
		}
		sort.SliceStable(edits, func(i, j int) bool {
			if edits[i].start != edits[j].start {
				return edits[i].start < edits[j].start
			}
			return edits[i].end > edits[j].end
		})
		var made []byte
		last := 0
		for _, one := range edits {
			if one.start < last || (one.start == last && last > 0 && one.start == one.end) {
				continue
			}
			made = append(made, s.content[path][last:one.start]...)
			made = append(made, one.text...)
			last = one.end
		}
		made = append(made, s.content[path][last:]...)
		s.content[path], s.changed[path] = made, made
	}
}
