// Package season says what there is at the jetty.
package season

func Current() string {
	return "summer"
}

func Concerts() []string {
	return []string{"lakeside"}
}

func Markets() []string {
	return nil
}

func Ferry() string {
	return ""
}
