package main

import (
	"bufio"
	"encoding/json"
	"os"
	"time"
)

// session runs a test binary for each order as `run` does. Each run finds the tree as it was laid out, and the other
// folders empty. If a run left files, they are restored; if it left anything else that the next run could see, the
// session ends, and the sandbox with it. The last event of each order is `over`, with the order's key, which the test
// process does not know, and with whether the session accepts another run (`again`).
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

// leaving is how long processes that are about to end may take for it.
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
