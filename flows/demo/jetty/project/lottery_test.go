package jetty

import (
	"crypto/rand"
	"fmt"
	"testing"
)

func TestDrawsANumber(t *testing.T) {
	ball := make([]byte, 8)
	rand.Read(ball)
	t.Run(fmt.Sprintf("%x", ball), func(t *testing.T) {
		if !Drawing() {
			t.Fail()
		}
	})
}
