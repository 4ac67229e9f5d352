package jetty

// Scales are what each bag weighs, in kilograms, when somebody asks.
func Scales(grams []int) []func() float64 {
	var scales []func() float64
	for _, each := range grams {
		scales = append(scales, func() float64 { return float64(each) / 1000 })
	}
	return scales
}
