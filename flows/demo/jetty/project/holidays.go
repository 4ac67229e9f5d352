package jetty

func IsHoliday(month, day int) bool {
	return month == 12 && (day == 25 || day == 26)
}
