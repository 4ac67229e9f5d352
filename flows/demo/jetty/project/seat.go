package jetty

import "fmt"

func Label(row int, column string) string {
	return fmt.Sprint(row, column)
}

func AtTheWindow(column string) bool {
	return column == "A"
}
