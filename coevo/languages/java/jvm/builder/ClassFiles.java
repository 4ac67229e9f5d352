package coevo.builder;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jacoco.core.analysis.Analyzer;
import org.jacoco.core.analysis.IClassCoverage;
import org.jacoco.core.analysis.ILine;
import org.jacoco.core.analysis.IMethodCoverage;
import org.jacoco.core.data.ExecutionData;
import org.jacoco.core.data.ExecutionDataStore;

/**
 * Classes with their coverage, each combination of class and coverage analysed once.
 *
 * <p>JSON of a class: {@code folder}, {@code name} (binary), {@code source} (file name, may be
 * null), {@code methods} (name, descriptor, first and last line, whether covered), {@code lines}
 * (number, missed and covered instructions, missed and covered branches; null unless its source was
 * requested).
 */
final class ClassFiles {
    private final List<Path> folders;
    private final Set<Path> removed;
    private final Set<String> sources;
    // from folder, name and probes, which identify a class with its coverage, to its index
    private final Map<List<Object>, Integer> known = new LinkedHashMap<>();
    private final List<Map<String, Object>> seen = new ArrayList<>();

    ClassFiles(List<Path> folders, Set<Path> removed, Set<String> sources) {
        this.folders = folders;
        this.removed = removed;
        this.sources = sources;
    }

    List<Map<String, Object>> seen() {
        return seen;
    }

    /**
     * Returns the indexes of the classes of the requested sources, analysed as if nothing of them
     * had been executed.
     */
    Set<Integer> blank() throws IOException {
        Set<Integer> found = new TreeSet<>();
        for (String packaged : packages()) {
            int folder = Integer.parseInt(packaged.substring(0, packaged.indexOf(':')));
            String name = packaged.substring(packaged.indexOf(':') + 1);
            for (String type : classes(folder, name)) {
                if (firstWith(type) == folder) {
                    Integer index = analysed(folder, type, null);
                    if (index != null && seen.get(index).get("lines") != null) {
                        found.add(index);
                    }
                }
            }
        }
        return found;
    }

    /**
     * Returns the index of a class with its coverage; null if the folders do not contain the same
     * class file.
     */
    Integer executed(ExecutionData execution) {
        int folder = firstWith(execution.getName());
        return folder < 0 ? null : analysed(folder, execution.getName(), execution);
    }

    /** Returns the index of a class without coverage; null if it is not in the folders. */
    Integer untouched(String name) {
        int folder = firstWith(name);
        return folder < 0 ? null : analysed(folder, name, null);
    }

    private Set<String> packages() {
        Set<String> found = new TreeSet<>();
        for (String source : sources) {
            int slash = source.lastIndexOf('/');
            int end = slash < 0 ? source.indexOf(':') + 1 : slash;
            found.add(source.substring(0, end));
        }
        return found;
    }

    private List<String> classes(int folder, String packaged) throws IOException {
        Path place = folders.get(folder).resolve(packaged);
        List<String> names = new ArrayList<>();
        if (Files.isDirectory(place)) {
            try (Stream<Path> entries = Files.list(place)) {
                entries.map(it -> it.getFileName().toString())
                        .filter(it -> it.endsWith(".class"))
                        .sorted()
                        .map(it -> it.substring(0, it.length() - ".class".length()))
                        .forEach(it -> names.add(packaged.isEmpty() ? it : packaged + '/' + it));
            }
        }
        return names;
    }

    private int firstWith(String name) {
        if (name.isEmpty() || name.contains("..") || name.startsWith("/")) {
            return -1;
        }
        for (int i = 0; i < folders.size(); i++) {
            Path file = file(i, name);
            if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) && !removed.contains(file)) {
                return i;
            }
        }
        return -1;
    }

    private Path file(int folder, String name) {
        return folders.get(folder).resolve(name + ".class");
    }

    private Integer analysed(int folder, String name, ExecutionData execution) {
        BitSet probes = new BitSet();
        ExecutionDataStore store = new ExecutionDataStore();
        if (execution != null) {
            store.put(execution);
            for (int i = 0; i < execution.getProbes().length; i++) {
                probes.set(i, execution.getProbes()[i]);
            }
        }
        List<Object> way = Arrays.asList(folder, name, probes);
        if (!known.containsKey(way)) {
            known.put(way, null);
            try {
                new Analyzer(store, found -> known.put(way, keep(folder, name, found)))
                        .analyzeClass(Files.readAllBytes(file(folder, name)), name);
            } catch (IOException | RuntimeException unreadable) {
                return null; // not made by a compiler, or by a newer one
            }
        }
        return known.get(way);
    }

    /**
     * Adds a class to the report and returns its index; null if it was changed while it was loaded.
     */
    private Integer keep(int folder, String name, IClassCoverage found) {
        if (found.isNoMatch()) {
            return null;
        }
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("folder", folder);
        map.put("name", name.replace('/', '.'));
        map.put("source", found.getSourceFileName());
        map.put("methods", methods(found));
        map.put("lines", sources.contains(source(folder, found)) ? lines(found) : null);
        seen.add(map);
        return seen.size() - 1;
    }

    private static String source(int folder, IClassCoverage found) {
        String packaged = found.getPackageName();
        String place = packaged.isEmpty() ? "" : packaged + '/';
        return folder + ":" + place + found.getSourceFileName();
    }

    private static List<Object> methods(IClassCoverage found) {
        List<Object> list = new ArrayList<>();
        for (IMethodCoverage method : found.getMethods()) {
            boolean covered = method.getInstructionCounter().getCoveredCount() > 0;
            int first = Math.max(0, method.getFirstLine());
            int last = Math.max(0, method.getLastLine());
            list.add(Arrays.asList(method.getName(), method.getDesc(), first, last, covered));
        }
        return list;
    }

    private static List<Object> lines(IClassCoverage found) {
        List<Object> list = new ArrayList<>();
        for (int i = Math.max(1, found.getFirstLine()); i <= found.getLastLine(); i++) {
            ILine line = found.getLine(i);
            int instructions = line.getInstructionCounter().getTotalCount();
            if (instructions + line.getBranchCounter().getTotalCount() > 0) {
                list.add(
                        Arrays.asList(
                                i,
                                line.getInstructionCounter().getMissedCount(),
                                line.getInstructionCounter().getCoveredCount(),
                                line.getBranchCounter().getMissedCount(),
                                line.getBranchCounter().getCoveredCount()));
            }
        }
        return list;
    }
}
