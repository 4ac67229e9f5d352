package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// places are the folders to which a run may write; the tree is laid out in the first.
var places = []string{work, "/tmp", "/tmp/home", "/dev/shm"}

const work = "/w"

// tick is longer than a step of the kernel's clock, from which dates of files are taken.
const tick = 12 * time.Millisecond

// ground is the state of the writable folders before a run: the tree as it was laid out, the other folders empty.
type ground struct {
	order  *Order
	laid   map[string]fileSeen
	rights []fs.FileMode
}

// fileSeen has the properties of a file that differ if it was changed. `changed` is set by the kernel alone (ctime).
type fileSeen struct {
	mode             uint32
	inode            uint64
	size             int64
	written, changed syscall.Timespec
}

func newGround(order *Order) *ground {
	made := &ground{order: order, rights: rights()}
	check(made.lay())
	return made
}

// lay lays out the tree and notes its files.
func (g *ground) lay() error {
	layOut(g.order)
	laid, err := seen(work)
	g.laid = laid
	time.Sleep(tick) // so that any later change gives a file another date
	return err
}

// restore brings the writable folders back to their state before the first run, and returns whether that succeeded.
// The tree is laid out again only if a file of it was changed.
func (g *ground) restore() bool {
	for _, place := range places[1:] {
		if empty(place) != nil {
			return false
		}
	}
	now, err := seen(work)
	if err != nil {
		return false
	}
	changed := !same(now, g.laid) || !missing.unread()
	if changed && (empty(work) != nil || g.lay() != nil) {
		return false
	}
	for i, mode := range rights() {
		if mode != g.rights[i] {
			return false
		}
	}
	return true
}

func rights() []fs.FileMode {
	var found []fs.FileMode
	for _, place := range places {
		info, err := os.Stat(place)
		check(err)
		found = append(found, info.Mode())
	}
	return found
}

// empty removes everything in a folder except the home folder.
func empty(place string) error {
	entries, err := os.ReadDir(place)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		path := filepath.Join(place, entry.Name())
		if path == places[2] {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

func seen(place string) (map[string]fileSeen, error) {
	found := map[string]fileSeen{}
	err := filepath.WalkDir(place, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var about syscall.Stat_t
		if err := syscall.Lstat(path, &about); err != nil {
			return err
		}
		found[path] = fileSeen{about.Mode, about.Ino, about.Size, about.Mtim, about.Ctim}
		return nil
	})
	return found, err
}

func same(one, other map[string]fileSeen) bool {
	if len(one) != len(other) {
		return false
	}
	for path, about := range one {
		if other[path] != about {
			return false
		}
	}
	return true
}
