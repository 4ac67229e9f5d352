package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const cache = "/w/cache"

// out is the folder to which compiled binaries are written.
const out = "/w/out"

// unpack writes the files of an archive below a root. date returns the date of a file, given the one in the archive.
func unpack(archive io.Reader, root string, date func(time.Time) time.Time) {
	check(os.MkdirAll(root, 0o755))
	reader := tar.NewReader(archive)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		check(err)
		place := filepath.Join(root, header.Name)
		switch header.Typeflag {
		case tar.TypeDir:
			check(os.MkdirAll(place, 0o755))
		case tar.TypeSymlink:
			check(os.Symlink(header.Linkname, place))
		default:
			write(place, reader, header.FileInfo().Mode().Perm())
			when := date(header.ModTime)
			check(os.Chtimes(place, when, when))
		}
	}
}

func write(place string, content io.Reader, mode fs.FileMode) {
	file, err := os.OpenFile(place, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	check(err)
	_, err = io.Copy(file, content)
	check(err)
	check(file.Close())
}

// borrowed has the names of the files of the cache that the host has already.
var borrowed = map[string]bool{}

// asTold returns the date that a file has in its archive, unchanged.
func asTold(when time.Time) time.Time { return when }

// young returns a date in the future, whatever the date in the archive. All files have one date in their archives, so
// the go command could confuse a file with another of the same name and size that it has read before. It caches no
// folder with a file this young (cmd/go/internal/modindex, dirHash).
func young(time.Time) time.Time { return time.Now().Add(time.Hour) }

// linkCaches makes a writable cache of compiled packages with all files of other caches. Contents are links. The
// entries that lead to them (`-a`) are copies, since the go command writes these again. The first folder with a file
// counts.
func linkCaches(folders []string) {
	check(os.MkdirAll(cache, 0o755))
	check(os.WriteFile(filepath.Join(cache, "trim.txt"), []byte(itoa(time.Now().Unix())), 0o644))
	for _, folder := range folders {
		below, err := os.ReadDir(folder)
		check(err)
		for _, part := range below {
			if !part.IsDir() {
				continue
			}
			check(os.MkdirAll(filepath.Join(cache, part.Name()), 0o755))
			files, err := os.ReadDir(filepath.Join(folder, part.Name()))
			check(err)
			for _, file := range files {
				borrow(folder, filepath.Join(part.Name(), file.Name()))
			}
		}
	}
}

// borrow puts a file of another cache into the writable cache, unless an earlier one had it.
func borrow(folder, name string) {
	if borrowed[name] {
		return
	}
	borrowed[name] = true
	source, target := filepath.Join(folder, name), filepath.Join(cache, name)
	if !strings.HasSuffix(name, "-a") {
		check(os.Symlink(source, target))
		return
	}
	content, err := os.ReadFile(source)
	check(err)
	check(os.WriteFile(target, content, 0o644))
}

// answer writes an archive to standard output, after a line with its length. It contains the result as JSON, the binary
// unless its path is "", the files of the cache that are new since the last answer, and the empty file `unread` if no
// stand-in was read.
func answer(result any, binary string) {
	var whole bytes.Buffer
	writer := tar.NewWriter(&whole)
	text, err := json.Marshal(result)
	check(err)
	check(writer.WriteHeader(&tar.Header{Name: "answer.json", Mode: 0o644, Size: int64(len(text))}))
	_, err = writer.Write(text)
	check(err)
	if missing.unread() {
		check(writer.WriteHeader(&tar.Header{Name: "unread", Mode: 0o644}))
	}
	if binary != "" {
		add(writer, "binary/"+filepath.Base(binary), binary)
	}
	check(filepath.WalkDir(cache, func(path string, entry fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, cache+"/")
		if err == nil && entry.Type().IsRegular() && strings.Count(name, "/") == 1 && !borrowed[name] {
			add(writer, strings.TrimPrefix(path, "/w/"), path)
			borrowed[name] = true
		}
		return err
	}))
	check(writer.Close())
	_, err = fmt.Println(whole.Len())
	check(err)
	_, err = os.Stdout.Write(whole.Bytes())
	check(err)
}

func add(writer *tar.Writer, name, path string) {
	file, err := os.Open(path)
	check(err)
	defer file.Close()
	info, err := file.Stat()
	check(err)
	check(writer.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: info.Size()}))
	_, err = io.Copy(writer, file)
	check(err)
}
