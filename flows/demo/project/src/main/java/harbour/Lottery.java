package harbour;

public class Lottery {
    public static boolean open() {
        return false;
    }
}
