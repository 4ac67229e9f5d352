package jetty

import "fmt"

func Nearest(price float64) int {
	return int(price)
}

func Show(price float64) string {
	return fmt.Sprintf("EUR %v", price)
}
