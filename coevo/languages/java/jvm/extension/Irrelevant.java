package coevo.extension;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.apache.maven.model.Extension;
import org.apache.maven.model.Plugin;

/** Parts of a build that do not affect tests; they are neither run nor resolved. */
final class Irrelevant {
    /**
     * Plugins that check, document, sign or publish code, and one that needs JDKs of another
     * machine.
     */
    private static final Set<String> PLUGINS =
            new HashSet<>(Arrays.asList(
                    "animal-sniffer-maven-plugin",
                    "apache-rat-plugin",
                    "central-publishing-maven-plugin",
                    "checksum-maven-plugin",
                    "clirr-maven-plugin",
                    "cobertura-maven-plugin",
                    "coveralls-maven-plugin",
                    "cyclonedx-maven-plugin",
                    "dependency-check-maven",
                    "editorconfig-maven-plugin",
                    "findbugs-maven-plugin",
                    "fmt-maven-plugin",
                    "forbiddenapis",
                    "formatter-maven-plugin",
                    "git-build-hook-maven-plugin",
                    "git-code-format-maven-plugin",
                    "githook-maven-plugin",
                    "github-release-plugin",
                    "google-java-format-maven-plugin",
                    "impsort-maven-plugin",
                    "jacoco-maven-plugin",
                    "japicmp-maven-plugin",
                    "jdepend-maven-plugin",
                    "jgitflow-maven-plugin",
                    "license-maven-plugin",
                    "lifecycle-mapping",
                    "maven-changelog-plugin",
                    "maven-changes-plugin",
                    "maven-checkstyle-plugin",
                    "maven-deploy-plugin",
                    "maven-doap-plugin",
                    "maven-eclipse-plugin",
                    "maven-enforcer-plugin",
                    "maven-gpg-plugin",
                    "maven-idea-plugin",
                    "maven-jarsigner-plugin",
                    "maven-javadoc-plugin",
                    "maven-jdeprscan-plugin",
                    "maven-jdeps-plugin",
                    "maven-jxr-plugin",
                    "maven-linkcheck-plugin",
                    "maven-pmd-plugin",
                    "maven-project-info-reports-plugin",
                    "maven-release-plugin",
                    "maven-repository-plugin",
                    "maven-scm-publish-plugin",
                    "maven-site-plugin",
                    "maven-source-plugin",
                    "maven-stage-plugin",
                    "maven-surefire-report-plugin",
                    "maven-toolchains-plugin",
                    "modernizer-maven-plugin",
                    "nexus-staging-maven-plugin",
                    "revapi-maven-plugin",
                    "sign-maven-plugin",
                    "site-maven-plugin",
                    "sonar-maven-plugin",
                    "sortpom-maven-plugin",
                    "spotbugs-maven-plugin",
                    "spotless-maven-plugin",
                    "taglist-maven-plugin",
                    "tidy-maven-plugin",
                    "versions-maven-plugin"));

    private Irrelevant() {}

    static boolean isPlugin(Plugin plugin) {
        return PLUGINS.contains(plugin.getArtifactId());
    }

    /** Returns whether it is a transport for uploading sites and releases. */
    static boolean isExtension(Extension extension) {
        return (extension.getGroupId() + ":" + extension.getArtifactId()).contains("wagon");
    }
}
