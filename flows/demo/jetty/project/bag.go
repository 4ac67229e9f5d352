package jetty

func Fits(width, height int) bool {
	return width <= 40 && height <= 30
}

func Allowance(adults int) int {
	return 20 * adults
}
