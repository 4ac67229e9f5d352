package harbour;

public class Holidays {
    public static boolean isHoliday(int month, int day) {
        return month == 1 && day == 1 || month == 12 && (day == 25 || day == 26);
    }
}
