package harbour;

public class Seat {
    public static String label(int row, char column) {
        return row + "" + column;
    }

    public static boolean atTheWindow(char column) {
        return column == 'A';
    }
}
