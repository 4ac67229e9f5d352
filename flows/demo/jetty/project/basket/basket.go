// Package basket counts who comes along.
package basket

func Count(adults, children int) int {
	return adults + children
}
