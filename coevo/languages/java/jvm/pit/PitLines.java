package coevo.worker;

import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.pitest.bytecode.analysis.ClassTree;
import org.pitest.mutationtest.build.InterceptorParameters;
import org.pitest.mutationtest.build.InterceptorType;
import org.pitest.mutationtest.build.MutationInterceptor;
import org.pitest.mutationtest.build.MutationInterceptorFactory;
import org.pitest.mutationtest.engine.Mutater;
import org.pitest.mutationtest.engine.MutationDetails;
import org.pitest.plugin.Feature;

/**
 * Restricts PIT to mutants of certain lines of top-level types and their nested types, so that no
 * others are created or awaited.
 *
 * <p>The lines are given in an environment variable: {@code TYPE FIRST LAST} for each range.
 */
public final class PitLines implements MutationInterceptorFactory, MutationInterceptor {
    static final String VARIABLE = "COEVO_PIT_LINES";

    private final Map<String, BitSet> lines = new HashMap<>();

    public PitLines() {
        for (String range : System.getenv(VARIABLE).split("\n")) {
            String[] words = range.split(" ");
            lines.computeIfAbsent(words[0], name -> new BitSet())
                    .set(Integer.parseInt(words[1]), Integer.parseInt(words[2]) + 1);
        }
    }

    @Override
    public String description() {
        return "the lines that coevo asks for";
    }

    @Override
    public Feature provides() {
        return Feature.named("COEVO_LINES").withOnByDefault(true).withDescription(description());
    }

    @Override
    public MutationInterceptor createInterceptor(InterceptorParameters parameters) {
        return this;
    }

    @Override
    public InterceptorType type() {
        return InterceptorType.FILTER;
    }

    @Override
    public void begin(ClassTree type) {}

    @Override
    public Collection<MutationDetails> intercept(
            Collection<MutationDetails> mutants, Mutater mutater) {
        return mutants.stream().filter(this::isAskedFor).collect(Collectors.toList());
    }

    @Override
    public void end() {}

    private boolean isAskedFor(MutationDetails mutant) {
        BitSet own = linesOf(mutant.getClassName().asJavaName());
        return own != null && own.get(mutant.getLineNumber());
    }

    /**
     * Returns the lines of the known type that contains a class; simple names may contain dollars.
     */
    private BitSet linesOf(String name) {
        String head = name;
        while (!lines.containsKey(head) && head.indexOf('$') >= 0) {
            head = head.substring(0, head.lastIndexOf('$'));
        }
        return lines.get(head);
    }
}
