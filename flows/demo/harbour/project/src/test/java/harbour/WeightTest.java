package harbour;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.closeTo;

import org.junit.jupiter.api.Test;

class WeightTest {
    @Test
    void convertsGrams() {
        assertThat(Weight.kilograms(1500), closeTo(1.5, 0.01));
    }

    @Test
    void convertsFewGrams() {
        assertThat(Weight.kilograms(10), closeTo(0.01, 0.001));
    }
}
