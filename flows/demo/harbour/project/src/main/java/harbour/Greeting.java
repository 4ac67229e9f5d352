package harbour;

public class Greeting {
    public static String text() {
        return "Hello";
    }
}
