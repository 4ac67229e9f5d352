package harbour;

public class Refunds {
    public static int full(int price) {
        return price;
    }
}
