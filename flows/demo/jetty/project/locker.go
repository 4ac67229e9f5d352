package jetty

import "strconv"

func Code(number int) string {
	return "L" + strconv.Itoa(number)
}
