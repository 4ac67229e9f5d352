package harbour;

/** What a crossing costs. */
public class Tariff {
    public static int fee(int zones) {
        return 2 * zones;
    }
}
