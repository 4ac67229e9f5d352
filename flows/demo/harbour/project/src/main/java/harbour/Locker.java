package harbour;

public class Locker {
    public static String code(int number) {
        return "L" + number;
    }
}
