package main

import (
	"bufio"
	"io"
	"os"
)

// serve carries out one order to the compiler after the other. What was compiled for one is in the cache for the next;
// all other files are removed in between.
func serve(order *Order, lines *bufio.Reader) {
	linkCaches(order.Caches)
	for ; order != nil; order = nextOrder(lines) {
		for _, place := range []string{"/w/src", stubbedFiles, out} {
			check(os.RemoveAll(place))
		}
		archive := io.LimitReader(lines, order.Size)
		unpack(archive, order.Root, young)
		missing = layStandIns(order)
		_, err := io.Copy(io.Discard, archive)
		check(err)
		switch order.Mode {
		case "build":
			buildPackages(order)
		case "compile":
			compile(order)
		case "check":
			checkVariants(order)
		}
	}
}
