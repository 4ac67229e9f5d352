package coevo.extension;

import com.google.gson.GsonBuilder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.stream.Collectors;
import javax.inject.Inject;
import javax.inject.Named;
import javax.inject.Singleton;
import org.apache.maven.eventspy.AbstractEventSpy;
import org.apache.maven.execution.ExecutionEvent;
import org.apache.maven.execution.MavenExecutionResult;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.execution.ProjectDependencyGraph;
import org.apache.maven.lifecycle.LifecycleExecutionException;
import org.apache.maven.project.MavenProject;
import org.eclipse.aether.RepositoryEvent;
import org.eclipse.aether.RepositoryEvent.EventType;
import org.eclipse.aether.RepositorySystem;

/** Writes Maven's own information about the build, as JSON, to the file that a property names. */
@Named
@Singleton
public final class Reporter extends AbstractEventSpy {
    private final Map<MavenProject, ProjectReport> projects = new LinkedHashMap<>();
    private final List<Map<String, Object>> failures = new ArrayList<>();
    private final List<RepositoryEvent> unresolved = new ArrayList<>();
    private final RepositorySystem repositories;
    private MavenProject root;
    private ProjectDependencyGraph order;
    private Path file;
    private Umpire umpire;

    @Inject
    Reporter(RepositorySystem repositories) {
        this.repositories = repositories;
    }

    @Override
    public void init(Context context) {
        Properties properties = (Properties) context.getData().get("userProperties");
        file = Paths.get(properties.getProperty("coevo.report"));
        umpire = Umpire.of(properties);
    }

    @Override
    public void onEvent(Object event) throws IOException {
        if (event instanceof ExecutionEvent) {
            onEvent((ExecutionEvent) event);
        } else if (event instanceof RepositoryEvent) {
            onEvent((RepositoryEvent) event);
        } else if (event instanceof MavenExecutionResult) {
            finish((MavenExecutionResult) event);
        }
    }

    private void onEvent(ExecutionEvent event) {
        MavenSession session = event.getSession();
        switch (event.getType()) {
            case SessionStarted:
                root = session.getTopLevelProject();
                order = session.getProjectDependencyGraph();
                for (MavenProject project : session.getProjects()) {
                    projects.put(project, new ProjectReport(project, session.getProjects()));
                }
                break;
            case MojoStarted:
                report(event).mojo(event.getMojoExecution(), session, repositories);
                if (umpire != null) {
                    umpire.prepare(event.getMojoExecution(), event.getProject());
                }
                break;
            case MojoFailed:
                report(event).mojoFailed(event.getMojoExecution());
                break;
            case ProjectSucceeded:
                report(event).finished("built");
                break;
            case ProjectFailed:
                report(event).failed(event.getException(), unresolved);
                break;
            default:
                break;
        }
    }

    private void onEvent(RepositoryEvent event) {
        if (event.getType() == EventType.ARTIFACT_RESOLVED && event.getFile() == null) {
            unresolved.add(event);
        }
    }

    private ProjectReport report(ExecutionEvent event) {
        return projects.get(event.getProject());
    }

    /** Returns the reports on the modules that a project needs, in build order. */
    private List<ProjectReport> upstream(MavenProject project) {
        return order.getUpstreamProjects(project, true).stream()
                .map(projects::get)
                .filter(Objects::nonNull)
                .collect(Collectors.toList());
    }

    private void finish(MavenExecutionResult result) throws IOException {
        Absences absences = new Absences(it -> false, unresolved);
        for (Throwable thrown : result.getExceptions()) {
            boolean told =
                    thrown instanceof LifecycleExecutionException
                            && projects.containsKey(
                                    ((LifecycleExecutionException) thrown).getProject());
            if (!told) {
                failures.add(Failures.describe(thrown, absences));
            }
        }
        Map<String, Object> report = new LinkedHashMap<>();
        List<Object> described = new ArrayList<>();
        projects.values().forEach(ProjectReport::complete);
        for (Map.Entry<MavenProject, ProjectReport> each : projects.entrySet()) {
            each.getValue().failAs(upstream(each.getKey()));
            described.add(each.getValue().toMap(root.getBasedir().toPath()));
            if (umpire != null && umpire.concerns(each.getKey())) {
                each.getValue().send(umpire);
            }
        }
        report.put("projects", described);
        report.put("failures", failures);
        MavenProject first = result.getProject();
        report.put("resolved", first == null ? null : first.getContextValue("coevo.resolved"));
        String json = new GsonBuilder().serializeNulls().create().toJson(report);
        Files.write(file, json.getBytes(StandardCharsets.UTF_8));
    }
}
