package main

import (
	"bufio"
	"encoding/json"
	"os"
	"time"
)

// session runs a test binary for each order as `run` does, in a tree as it was laid out, with empty folders beside
// it. Where a run leaves anything that a next one could see, files are made anew, or the session ends, and the
// sandbox with it. What is said under an order's nonce ends with `over`, its key, which the test process does not
// know, and whether there may be a next run.
func session(order *Order, lines *bufio.Reader) {
	hide()
	ground := newGround(order)
	before := surroundings()
	for ; order != nil; order = nextOrder(lines) {
		mark(order.Mark)
		follow(order)
		mark(order.Mark)
		again := areAsBefore(before) && ground.restore()
		said, err := json.Marshal(map[string]any{"e": "over", "key": order.Key, "again": again})
		check(err)
		say(order.Nonce, string(said))
		if !again {
			return
		}
	}
}

func mark(text string) {
	_, err := os.Stderr.WriteString("\n" + text + "\n")
	check(err)
}

// leaving is how long processes may take that are about to end.
const leaving = 500 * time.Millisecond

func areAsBefore(before string) bool {
	end := time.Now().Add(leaving)
	for surroundings() != before {
		if time.Now().After(end) {
			return false
		}
		time.Sleep(5 * time.Millisecond)
	}
	return true
}
