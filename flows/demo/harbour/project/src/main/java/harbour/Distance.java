package harbour;

public class Distance {
    public static int miles(String from, String to) {
        return Math.abs(from.charAt(0) - to.charAt(0)) * 3;
    }
}
