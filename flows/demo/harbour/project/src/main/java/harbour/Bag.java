package harbour;

public class Bag {
    public static boolean fits(int width, int height) {
        return width <= 40 && height <= 30;
    }

    public static int allowance(int adults) {
        return 20 * adults;
    }
}
