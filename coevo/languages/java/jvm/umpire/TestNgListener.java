package coevo.umpire;

import org.testng.IConfigurationListener;
import org.testng.ITestContext;
import org.testng.ITestListener;
import org.testng.ITestResult;

/**
 * Sends the outcomes of TestNG, which finds this listener as a service. A failed configuration
 * method fails its class, of which TestNG skips the tests.
 */
public final class TestNgListener implements ITestListener, IConfigurationListener {
    @Override
    public void onStart(ITestContext context) {
        Channel.sendStart();
    }

    @Override
    public void onTestSuccess(ITestResult result) {
        send(result, "pass");
    }

    @Override
    public void onTestFailure(ITestResult result) {
        send(result, "fail");
    }

    @Override
    public void onTestFailedButWithinSuccessPercentage(ITestResult result) {
        send(result, "pass");
    }

    @Override
    public void onTestSkipped(ITestResult result) {
        send(result, "skipped");
    }

    @Override
    public void onConfigurationFailure(ITestResult result) {
        Channel.send(result.getTestClass().getName(), null, null, "fail");
    }

    @Override
    public void onTestStart(ITestResult result) {}

    @Override
    public void onFinish(ITestContext context) {}

    @Override
    public void onConfigurationSuccess(ITestResult result) {}

    @Override
    public void onConfigurationSkip(ITestResult result) {}

    private static void send(ITestResult result, String outcome) {
        String type = result.getTestClass().getName();
        Channel.send(type, result.getMethod().getMethodName(), null, outcome);
    }
}
