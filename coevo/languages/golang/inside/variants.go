package main

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
)

// Checked is the result of type-checking a variant of a file.
//
//	Signature  the first error; "" if it compiles
//	Digest     a digest of its tokens; "" if it does not compile
//	Outside    a digest of the declarations of its package; "" if it does not compile
type Checked struct {
	Signature string
	Digest    string
	Outside   string
}

// checkVariants type-checks a package once for each variant of one of its files, and answers with a Checked for each.
func checkVariants(order *Order) {
	folder := filepath.Join(order.Root, order.Folder)
	sources := newSources(folder, order.Overlay, order.Flags, false)
	target := filepath.Join(order.Root, order.Path)
	others := []string{}
	for _, name := range goFiles(folder) {
		if path := filepath.Join(folder, name); !isTest(name) && path != target {
			others = append(others, path)
		}
	}
	var found []Checked
	for _, variant := range order.Variants {
		found = append(found, checkVariant(sources, target, variant, others))
	}
	answer(map[string]any{"Checked": found}, "")
}

func checkVariant(sources *sources, target string, variant []byte, others []string) Checked {
	first := ""
	hear := func(err error) {
		if first == "" {
			first = brief(place.ReplaceAllString(err.Error(), ""))
		}
	}
	var files []*ast.File
	for _, path := range append([]string{target}, others...) {
		text := variant
		if path != target {
			content, err := os.ReadFile(path)
			check(err)
			text = content
		}
		file, err := parser.ParseFile(sources.fset, path, text, parser.SkipObjectResolution)
		if err != nil {
			hear(err)
			return Checked{Signature: first}
		}
		files = append(files, file)
	}
	config := sources.config(hear)
	made, _ := config.Check(sources.base.ImportPath, sources.fset, files, nil)
	if first != "" {
		return Checked{Signature: first}
	}
	return Checked{Digest: digest(variant), Outside: outside(made)}
}

// digest returns a digest of the tokens and directives of a text, equal for texts that differ only in comments and
// layout.
func digest(text []byte) string {
	sum := sha256.New()
	var tokens scanner.Scanner
	set := token.NewFileSet()
	tokens.Init(set.AddFile("", set.Base(), len(text)), text, nil, scanner.ScanComments)
	for {
		_, kind, literal := tokens.Scan()
		if kind == token.EOF {
			return fmt.Sprintf("%x", sum.Sum(nil))
		}
		if kind == token.COMMENT && !strings.HasPrefix(literal, "//go:") {
			continue
		}
		if kind == token.SEMICOLON {
			literal = ";"
		}
		fmt.Fprintf(sum, "%d %q\n", kind, literal)
	}
}

// outside returns a digest of a package's top-level declarations, with their types, methods and values of constants.
func outside(made *types.Package) string {
	sum := sha256.New()
	for _, name := range made.Scope().Names() {
		object := made.Scope().Lookup(name)
		fmt.Fprintln(sum, object)
		switch one := object.(type) {
		case *types.Const:
			fmt.Fprintln(sum, one.Val().ExactString())
		case *types.TypeName:
			fmt.Fprintln(sum, one.Type().Underlying())
			if named, ok := one.Type().(*types.Named); ok {
				for i := 0; i < named.NumMethods(); i++ {
					fmt.Fprintln(sum, named.Method(i))
				}
			}
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}
