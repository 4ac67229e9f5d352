package coevo.worker;

import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.pitest.classinfo.ClassByteArraySource;
import org.pitest.help.PitHelpError;
import org.pitest.testapi.AbstractTestUnit;
import org.pitest.testapi.Configuration;
import org.pitest.testapi.Description;
import org.pitest.testapi.ResultCollector;
import org.pitest.testapi.TestGroupConfig;
import org.pitest.testapi.TestPluginFactory;
import org.pitest.testapi.TestSuiteFinder;
import org.pitest.testapi.TestUnitExecutionListener;
import org.pitest.testapi.TestUnitFinder;

/**
 * Gives PIT a single test: one target in all of its classes, selected and run as in the worker.
 *
 * <p>PIT's own plugins select by name, or run a whole class if it has fixtures (JUnit 4) or to find
 * its tests (JUnit 5). Neighbouring tests would then kill mutants, or fail before there are any.
 *
 * <p>The target is given in an environment variable, in the lines of the worker's request.
 */
public final class PitPlugin implements TestPluginFactory {
    static final String VARIABLE = "COEVO_PIT_TARGET";

    @Override
    public Configuration createTestFrameworkConfiguration(
            TestGroupConfig groups,
            ClassByteArraySource source,
            Collection<String> excludedRunners,
            Collection<String> includedTestMethods) {
        List<String> lines = Arrays.asList(System.getenv(VARIABLE).split("\n", -1));
        return new OneTarget(Target.of(lines));
    }

    @Override
    public String name() {
        return "coevo";
    }

    @Override
    public String description() {
        return "one target of coevo's worker";
    }

    private static final class OneTarget implements Configuration, TestUnitFinder {
        private final Target target;

        OneTarget(Target target) {
            this.target = target;
        }

        @Override
        public TestUnitFinder testUnitFinder() {
            return this;
        }

        @Override
        public TestSuiteFinder testSuiteFinder() {
            return type -> Collections.emptyList();
        }

        @Override
        public Optional<PitHelpError> verifyEnvironment() {
            return Optional.empty();
        }

        @Override
        public List<org.pitest.testapi.TestUnit> findTestUnits(
                Class<?> type, TestUnitExecutionListener listener) {
            return type.getName().equals(target.classes.get(0).split(Target.VIA, 2)[0])
                    ? Collections.singletonList(new Unit(target))
                    : Collections.emptyList();
        }
    }

    private static final class Unit extends AbstractTestUnit {
        private final Target target;

        Unit(Target target) {
            super(new Description(target.method, target.classes.get(0)));
            this.target = target;
        }

        @Override
        public void execute(ResultCollector collector) {
            collector.notifyStart(getDescription());
            boolean passes;
            try {
                passes = Run.passes(target);
            // caused by a mutant, or by a platform that cannot be used
            } catch (LinkageError unfit) {
                passes = false;
            }
            if (passes) {
                collector.notifyEnd(getDescription());
            } else {
                collector.notifyEnd(getDescription(), new AssertionError("it does not pass"));
            }
        }
    }
}
