package main

import (
	"fmt"
	"os"
	"strings"
)

// tables are files of /proc with one line for each socket or queue.
var tables = []string{"net/udp", "net/udp6", "net/raw", "net/unix", "net/packet", "sysvipc/msg", "sysvipc/sem", "sysvipc/shm"}

// surroundings returns a text on what is in memory beside this process: which processes, and how many sockets and
// queues. Two equal texts mean that a run left none of these.
func surroundings() string {
	var seen strings.Builder
	entries, err := os.ReadDir("/proc")
	check(err)
	for _, entry := range entries {
		if name := entry.Name(); name[0] >= '0' && name[0] <= '9' {
			seen.WriteString(name + " ")
		}
	}
	for _, name := range tables {
		content, _ := os.ReadFile("/proc/" + name)
		fmt.Fprint(&seen, strings.Count(string(content), "\n"), " ")
	}
	for _, name := range []string{"net/sockstat", "net/sockstat6"} {
		content, _ := os.ReadFile("/proc/" + name)
		seen.WriteString(sockets(string(content)))
	}
	return seen.String()
}

// sockets returns the numbers of all sockets and of those of TCP in a file `sockstat`. TCP sockets that only wait until
// their port is free do not count, since a program in Go can listen on such a port.
func sockets(text string) string {
	found := ""
	for _, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		for at := 1; at+1 < len(words); at += 2 {
			tcp := strings.HasPrefix(words[0], "TCP") && words[at] == "inuse"
			if tcp || words[0] == "sockets:" && words[at] == "used" {
				found += words[at+1] + " "
			}
		}
	}
	return found
}
