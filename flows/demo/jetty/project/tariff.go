// Package jetty sells tickets and papers where boats land.
package jetty

func Fee(hours int) int {
	return 2 * hours
}
