package main

import (
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// missing are the stand-ins in the tree that was laid out last.
var missing standIns

// standIns are files of a tree in place of those of which the clone lacks the content. No program may read one. The
// time of their last reading is set to the epoch, so that the next reading changes it.
type standIns struct {
	paths   []string
	watched bool // whether the kernel notes a reading; if not, none can be excluded
}

// layStandIns prepares the stand-ins of an order's tree.
func layStandIns(order *Order) standIns {
	made := standIns{watched: true}
	for _, path := range order.StandIns {
		place := filepath.Join(order.Root, path)
		made.paths = append(made.paths, place)
		setUnread(place)
		_, err := os.ReadFile(place)
		check(err)
		made.watched = made.watched && !isUnread(place)
		setUnread(place)
	}
	return made
}

// unread returns whether no stand-in was read, replaced or removed since it was prepared.
func (s standIns) unread() bool {
	for _, place := range s.paths {
		if !isUnread(place) {
			return false
		}
	}
	return s.watched
}

// setUnread sets the time of a file's last reading to the epoch, and keeps that of its last change.
func setUnread(place string) {
	info, err := os.Stat(place)
	check(err)
	check(os.Chtimes(place, time.Unix(0, 0), info.ModTime()))
}

// isUnread returns whether the time of a file's last reading is the epoch; false if there is no such file.
func isUnread(place string) bool {
	var about syscall.Stat_t
	return syscall.Stat(place, &about) == nil && about.Atim.Nano() == 0
}
