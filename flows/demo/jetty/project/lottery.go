package jetty

func Drawing() bool {
	return false
}
