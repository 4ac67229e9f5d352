package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// block is a run of statements of a coverage profile, by 1-based lines and columns; the end is exclusive.
type block struct {
	startLine, startColumn, endLine, endColumn int
	hit                                        bool
}

// statement is the line where a statement begins, and whether it was executed.
type statement struct {
	line int
	hit  bool
}

// tellExecuted reports which functions of the code were entered and, for the files of the order, which statements were
// executed, with one event for each file. A coverage profile has no branches. A process that did not end by itself has
// written no profile; then nothing is reported.
func tellExecuted(order *Order, profile string) {
	content, err := os.ReadFile(profile)
	if err != nil {
		return
	}
	wanted := map[string]bool{}
	for _, name := range order.Files {
		wanted[name] = true
	}
	blocks := readProfile(string(content))
	names := make([]string, 0, len(blocks))
	for name := range blocks {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		path := filepath.Join("/w/src", name)
		place, err := filepath.Rel(order.Root, path)
		if err != nil || !wanted[place] && !anyHit(blocks[name]) {
			continue
		}
		set := token.NewFileSet()
		var source any // nil: the parser reads the file itself
		if text, ok := order.Sources[place]; ok {
			source = text
		}
		file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		event := map[string]any{
			"e": "executed", "file": place, "package": file.Name.Name,
			"functions": entered(set, file, blocks[name]),
		}
		if wanted[place] {
			event["lines"] = lines(set, file, blocks[name])
		}
		said, err := json.Marshal(event)
		check(err)
		say(order.Nonce, string(said))
	}
}

func anyHit(blocks []block) bool {
	for _, one := range blocks {
		if one.hit {
			return true
		}
	}
	return false
}

// readProfile parses a coverage profile, with lines such as `path/file.go:3.4,5.6 2 1`, and returns its blocks by file.
func readProfile(text string) map[string][]block {
	found := map[string][]block{}
	for _, line := range strings.Split(text, "\n") {
		name, rest, ok := strings.Cut(line, ".go:")
		if !ok {
			continue
		}
		numbers := strings.FieldsFunc(rest, func(char rune) bool { return char == '.' || char == ',' || char == ' ' })
		if len(numbers) != 6 {
			continue
		}
		var values [6]int
		for i, number := range numbers {
			values[i], _ = strconv.Atoi(number)
		}
		one := block{values[0], values[1], values[2], values[3], values[5] > 0}
		found[name+".go"] = append(found[name+".go"], one)
	}
	return found
}

func (b block) holds(at token.Position) bool {
	after := at.Line > b.startLine || at.Line == b.startLine && at.Column >= b.startColumn
	before := at.Line < b.endLine || at.Line == b.endLine && at.Column < b.endColumn
	return after && before
}

// entered returns the functions of a file with a block that was executed, each as name, first and last line.
func entered(set *token.FileSet, file *ast.File, blocks []block) [][]any {
	found := [][]any{}
	for _, declaration := range file.Decls {
		one, ok := declaration.(*ast.FuncDecl)
		if !ok || one.Body == nil {
			continue
		}
		start, end := set.Position(one.Pos()), set.Position(one.End())
		for _, each := range blocks {
			at := token.Position{Line: each.startLine, Column: each.startColumn}
			whole := block{start.Line, start.Column, end.Line, end.Column, true}
			if each.hit && whole.holds(at) {
				found = append(found, []any{functionName(one), start.Line, end.Line})
				break
			}
		}
	}
	return found
}

// functionName returns `F` for a function, and `(T).M` or `(*T).M` for a method.
func functionName(one *ast.FuncDecl) string {
	if one.Recv == nil || len(one.Recv.List) == 0 {
		return one.Name.Name
	}
	star := ""
	if _, ok := one.Recv.List[0].Type.(*ast.StarExpr); ok {
		star = "*"
	}
	return "(" + star + receiver(one.Recv.List[0].Type) + ")." + one.Name.Name
}

// lines returns for each line on which statements begin: its number, how many begin there, and how many of them were
// executed. The smallest block around a statement decides whether it was.
func lines(set *token.FileSet, file *ast.File, blocks []block) [][3]int {
	counts := map[int]*[2]int{}
	ast.Inspect(file, func(node ast.Node) bool {
		var list []ast.Stmt
		switch one := node.(type) {
		case *ast.BlockStmt:
			list = one.List
		case *ast.CaseClause:
			list = one.Body
		case *ast.CommClause:
			list = one.Body
		case *ast.IfStmt:
			if other, ok := one.Else.(*ast.IfStmt); ok {
				list = []ast.Stmt{other} // the cover tool puts it in braces
			}
		}
		for _, each := range list {
			at := set.Position(each.Pos())
			if found, hit := smallest(blocks, at); found {
				if counts[at.Line] == nil {
					counts[at.Line] = &[2]int{}
				}
				counts[at.Line][0]++
				if hit {
					counts[at.Line][1]++
				}
			}
		}
		return true
	})
	told := [][3]int{}
	for line, count := range counts {
		told = append(told, [3]int{line, count[0], count[1]})
	}
	sort.Slice(told, func(i, j int) bool { return told[i][0] < told[j][0] })
	return told
}

func smallest(blocks []block, at token.Position) (found, hit bool) {
	best := block{endLine: 1 << 30}
	for _, one := range blocks {
		if one.holds(at) && one.endLine-one.startLine <= best.endLine-best.startLine {
			if found && one.startLine == best.startLine && one.startColumn == best.startColumn {
				hit = hit || one.hit
				continue
			}
			best, found, hit = one, true, one.hit
		}
	}
	return found, hit
}
