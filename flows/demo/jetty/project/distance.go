package jetty

import "strings"

const piers = "ABCD"

func Miles(start, end string) int {
	legs := strings.Index(piers, start) - strings.Index(piers, end)
	return 25 * max(legs, -legs)
}
