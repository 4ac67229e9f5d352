package harbour;

public class Rounding {
    public static long nearest(double price) {
        return (long) price;
    }

    public static String show(double price) {
        return "EUR " + price;
    }
}
