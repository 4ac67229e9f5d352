package harbour;

public class Lottery {
    public static boolean drawing() {
        return false;
    }
}
