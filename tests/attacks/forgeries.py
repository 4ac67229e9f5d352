"""Tests that fail, or should, and try to be told to have passed; Java, level 8."""

from __future__ import annotations

from dataclasses import dataclass, field

from coevo.languages.java.building.report import SurefireSettings

# What forgers share. Events are those of the worker, so that only nonce and channel are missing.
TOOLS = r"""
    package p;
    import java.io.*;
    import java.lang.reflect.*;
    import java.nio.file.*;
    import java.util.*;
    public class Forge {
        public static String lines(String nonce) {
            String test = "{\"e\":\"test\",\"t\":0,\"id\":\"x\",\"display\":\"test\",";
            return nonce + "\t" + test + "\"outcome\":\"pass\"}\n"
                    + nonce + "\t{\"e\":\"end\",\"t\":0,\"tests\":1,\"cpu_ms\":1}\n"
                    + nonce + "\t{\"e\":\"done\"}\n";
        }

        static String guess() {
            return lines("0123456789abcdef0123456789abcdef");
        }

        /** To every descriptor but those of this thread's own making. */
        static void writeToAll(String text) {
            for (int i = 0; i < 64; i++) {
                try (OutputStream out = new FileOutputStream("/proc/self/fd/" + i)) {
                    out.write(text.getBytes());
                } catch (IOException e) {
                    adopted(i, text);
                }
            }
        }

        public static void adopted(int number, String text) {
            try {
                if (!Files.isSymbolicLink(Paths.get("/proc/self/fd/" + number))) {
                    return;
                }
                FileDescriptor descriptor = new FileDescriptor();
                unsafe().putInt(descriptor, 12L, number);
                new FileOutputStream(descriptor).write(text.getBytes());
            } catch (Throwable e) {
                return;
            }
        }

        static sun.misc.Unsafe unsafe() {
            try {
                Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
                field.setAccessible(true);
                return (sun.misc.Unsafe) field.get(null);
            } catch (ReflectiveOperationException e) {
                throw new RuntimeException(e);
            }
        }

        /** Every object that fields and collections lead to and reflection may read. */
        static Map<Object, Boolean> reachable(Object... roots) {
            Map<Object, Boolean> seen = new IdentityHashMap<>();
            Deque<Object> todo = new ArrayDeque<>();
            for (Object root : roots) {
                todo.add(root);
            }
            while (!todo.isEmpty() && seen.size() < 200000) {
                Object at = todo.poll();
                if (seen.put(at, true) != null) {
                    continue;
                }
                try {
                    if (at instanceof Object[]) {
                        push(todo, (Object[]) at);
                    } else if (at instanceof Collection) {
                        push(todo, ((Collection<?>) at).toArray());
                    } else if (at instanceof Map) {
                        push(todo, ((Map<?, ?>) at).values().toArray());
                    }
                } catch (RuntimeException e) {
                    continue;
                }
                boolean type = at instanceof Class;
                for (Class<?> c = type ? (Class<?>) at : at.getClass(); c != null;
                        c = c.getSuperclass()) {
                    read(at, c, todo);
                }
            }
            return seen;
        }

        static void read(Object at, Class<?> type, Deque<Object> todo) {
            Field[] fields;
            try {
                fields = type.getDeclaredFields();
            } catch (Throwable e) {
                return;
            }
            for (Field field : fields) {
                try {
                    field.setAccessible(true);
                    boolean fixed = Modifier.isStatic(field.getModifiers());
                    Object value = field.get(fixed ? null : at);
                    if (value != null && !field.getType().isPrimitive()) {
                        todo.add(value);
                    }
                } catch (Throwable closed) {
                    continue;
                }
            }
        }

        static void push(Deque<Object> todo, Object[] values) {
            for (Object value : values) {
                if (value != null) {
                    todo.add(value);
                }
            }
        }

        /** What the worker's own objects among them can be made to say. */
        static void useWorkersObjects(Map<Object, Boolean> found) throws Exception {
            for (Object one : found.keySet()) {
                if (one.getClass().getName().equals("coevo.worker.Channel")) {
                    Field nonce = one.getClass().getDeclaredField("nonce");
                    nonce.setAccessible(true);
                    Field stream = one.getClass().getDeclaredField("stream");
                    stream.setAccessible(true);
                    ((OutputStream) stream.get(one)).write(lines((String) nonce.get(one)).getBytes());
                    Runtime.getRuntime().halt(0);
                }
            }
        }

        /** In place of all that a listener has heard. */
        static void pass(Object listener) throws Exception {
            Field events = listener.getClass().getDeclaredField("events");
            events.setAccessible(true);
            Constructor<?> make = Class.forName("coevo.worker.Event")
                    .getDeclaredConstructor(String.class);
            make.setAccessible(true);
            Object event = make.newInstance("test");
            Method number = event.getClass().getDeclaredMethod("with", String.class, long.class);
            Method text = event.getClass().getDeclaredMethod("with", String.class, String.class);
            number.setAccessible(true);
            text.setAccessible(true);
            number.invoke(event, "t", 0L);
            text.invoke(event, "outcome", "pass");
            @SuppressWarnings("unchecked") List<Object> list = (List<Object>) events.get(listener);
            list.clear();
            list.add(event);
        }

        /** Says what the debugger's agent would say at a breakpoint. */
        static void debug() throws IOException {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            DataOutputStream out = new DataOutputStream(bytes);
            out.writeInt(11 + 1 + 4 + 1 + 4 + 8 + 1 + 24);
            out.writeInt(7);
            out.write(new byte[] {0, 64, 100, 1, 0, 0, 0, 1, 2, 0, 0, 0, 1});
            out.writeLong(1);
            out.write(1);
            for (int i = 1; i < 4; i++) {
                out.writeLong(i);
            }
            for (int i = 3; i < 64; i++) {
                try {
                    Path link = Files.readSymbolicLink(Paths.get("/proc/self/fd/" + i));
                    if (link.toString().startsWith("socket")) {
                        FileDescriptor descriptor = new FileDescriptor();
                        unsafe().putInt(descriptor, 12L, i);
                        new FileOutputStream(descriptor).write(bytes.toByteArray());
                    }
                } catch (IOException none) {
                    continue;
                }
            }
        }

        /** The nonce wherever in this process's memory an event still lies. */
        static String nonceInMemory() throws IOException {
            byte[] mark = "\t{\"e\":\"begin\"".getBytes();
            try (BufferedReader maps = new BufferedReader(new FileReader("/proc/self/maps"));
                    RandomAccessFile memory = new RandomAccessFile("/proc/self/mem", "r")) {
                for (String line = maps.readLine(); line != null; line = maps.readLine()) {
                    String[] parts = line.split("[- ]+");
                    if (!parts[2].startsWith("rw") || parts[0].length() > 12) {
                        continue;
                    }
                    String found = search(memory, Long.parseLong(parts[0], 16),
                            Long.parseLong(parts[1], 16), mark);
                    if (found != null) {
                        return found;
                    }
                }
            }
            return null;
        }

        static String search(RandomAccessFile memory, long from, long to, byte[] mark) {
            byte[] block = new byte[1 << 16];
            for (long at = from; at < to; at += block.length - 64) {
                try {
                    memory.seek(at);
                    int size = memory.read(block, 0, (int) Math.min(block.length, to - at));
                    for (int i = 32; i + mark.length < size; i++) {
                        int k = 0;
                        while (k < mark.length && block[i + k] == mark[k]) {
                            k++;
                        }
                        if (k == mark.length) {
                            String nonce = new String(block, i - 32, 32);
                            if (nonce.matches("[0-9a-f]{32}")) {
                                return nonce;
                            }
                        }
                    }
                } catch (IOException e) {
                    return null;
                }
            }
            return null;
        }
    }
"""

# As mocking libraries do: a process beside the JVM has it load an agent.
ATTACH = r"""
    package p;
    public class Attach {
        public static void main(String[] arguments) throws Exception {
            Class<?> machine = Class.forName("com.sun.tools.attach.VirtualMachine");
            Object own = machine.getMethod("attach", String.class).invoke(null, arguments[0]);
            machine.getMethod("loadAgent", String.class).invoke(own, "/w/agent.jar");
        }
    }
"""

# Called before the test's code in a JVM of its own program, if it gets so far.
AGENT = r"""
    package p;
    public class Agent {
        static boolean ran;
        public static void premain(String arguments) { ran = true; }
        public static void agentmain(String arguments) { ran = true; }
        /** Has the worker's own class call every failure a pass. */
        public static void agentmain(String arguments, java.lang.instrument.Instrumentation jvm)
                throws Exception {
            ran = true;
            Class<?> failure;
            try {
                failure = Class.forName("coevo.worker.Failure");
            } catch (ClassNotFoundException e) {
                return;
            }
            jvm.addTransformer(new java.lang.instrument.ClassFileTransformer() {
                @Override public byte[] transform(ClassLoader loader, String name, Class<?> type,
                        java.security.ProtectionDomain domain, byte[] bytes) {
                    return type == failure ? turned(bytes) : null;
                }
            }, true);
            jvm.retransformClasses(failure);
        }
        static byte[] turned(byte[] bytes) {
            String text = new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1);
            return text.replace("\1\0\4fail", "\1\0\4pass")
                    .getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
        }
        public static void main(String[] arguments) throws Exception {
            java.io.DataInputStream in = new java.io.DataInputStream(System.in);
            in.readInt();
            byte[] nonce = new byte[in.readInt()];
            in.readFully(nonce);
            String begin = new String(nonce) + "\t{\"e\":\"begin\",\"t\":0}\n";
            Forge.adopted(3, begin + Forge.lines(new String(nonce)));
        }
    }
"""

JUNIT4 = """
    package p;
    import org.junit.*;
    import static org.junit.Assert.*;
    public class {name} {{
        {more}
        @Test public void test() throws Throwable {{ {body} }}
    }}
"""

JUNIT5 = """
    package p;
    import org.junit.jupiter.api.*;
    import org.junit.jupiter.api.extension.*;
    import static org.junit.jupiter.api.Assertions.*;
    public class {name} {{
        {more}
        @Test void test(TestInfo info) throws Throwable {{ {body} }}
    }}
"""

FAIL = 'fail("this is the truth");'


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgery:
    """A test that must not be told to pass.

    stopped   what makes it fail; None if nothing does but an observer outside of the JVM
    classes   further classes, by name
    shadows   the same, of names that stand for somebody else's
    """

    name: str
    body: str = FAIL
    more: str = ''
    template: str = JUNIT4
    stopped: str | None = None
    classes: dict[str, str] = field(default_factory=dict)
    shadows: dict[str, str] = field(default_factory=dict)
    resources: dict[str, str] = field(default_factory=dict)
    surefire: SurefireSettings = field(default_factory=SurefireSettings)

    @property
    def class_name(self) -> str:
        return f'p.{self.name.title().replace("_", "")}Test'

    @property
    def sources(self) -> dict[str, str]:
        short = self.class_name.removeprefix('p.')
        text = self.template.format(name=short, more=self.more, body=self.body)
        return {'p.Forge': TOOLS, self.class_name: text, **self.classes}


SEQUENCE = 'a pass needs begin, tests and end under the nonce'
NO_NONCE = 'the nonce is on no path that reflection finds'
OPTIONS = 'options that start agents or other programs are left out'

FORGERIES = (
    Forgery(name='exits', body='System.exit(0);', stopped=SEQUENCE),
    Forgery(name='halts', body='Runtime.getRuntime().halt(0);', stopped=SEQUENCE),
    Forgery(
        name='prints',
        body='System.out.print(Forge.guess()); System.err.print(Forge.guess());'
        ' System.out.flush(); Runtime.getRuntime().halt(0);',
        stopped='the channel is not the standard output',
    ),
    Forgery(
        name='guesses',
        body='Forge.writeToAll("\\n" + Forge.guess()); Runtime.getRuntime().halt(0);',
        stopped='128 random bits',
    ),
    Forgery(
        name='garbles',
        body='Forge.adopted(3, "x"); ' + FAIL,
        stopped=f'{SEQUENCE}: what does not arrive is missed',
    ),
    Forgery(
        name='closes_the_channel',
        body='for (int i = 3; i < 64; i++) { FileDescriptor d = new FileDescriptor();'
        ' Forge.unsafe().putInt(d, 12L, i); if (Files.isSymbolicLink(Paths.get('
        '"/proc/self/fd/" + i)) && Files.readSymbolicLink(Paths.get("/proc/self/fd/" + i))'
        '.toString().startsWith("pipe")) new FileOutputStream(d).close(); }'.replace(
            'FileDescriptor', 'java.io.FileDescriptor'
        )
        .replace('Files.', 'java.nio.file.Files.')
        .replace('Paths.', 'java.nio.file.Paths.')
        .replace('FileOutputStream', 'java.io.FileOutputStream')
        + FAIL,
        stopped=SEQUENCE,
    ),
    Forgery(
        name='shutdown_hook',
        body='Runtime.getRuntime().addShutdownHook(new Thread(() ->'
        ' Forge.writeToAll("\\n" + Forge.guess()))); System.exit(0);',
        stopped=NO_NONCE,
    ),
    Forgery(
        name='report_file',
        body='java.io.File f = new java.io.File("target/surefire-reports/TEST-p.xml");'
        ' f.getParentFile().mkdirs(); java.nio.file.Files.write(f.toPath(),'
        " \"<testsuite tests='1' failures='0'/>\".getBytes()); " + FAIL,
        stopped='no report is read from a file',
    ),
    Forgery(
        name='system_streams',
        body='System.setIn(new java.io.ByteArrayInputStream(Forge.guess().getBytes()));'
        ' System.setOut(null); System.setErr(null); ' + FAIL,
        stopped='the worker uses neither of them',
    ),
    Forgery(
        name='standard_input',
        body='String s = ""; for (String f : new String[] {"0"}) try { s += new String('
        'java.nio.file.Files.readAllBytes(java.nio.file.Paths.get("/proc/self/fd/" + f)));'
        ' } catch (java.io.IOException e) { s += e; } java.util.regex.Matcher m ='
        ' java.util.regex.Pattern.compile("[0-9a-f]{32}").matcher(s); if (m.find())'
        ' Forge.adopted(3, Forge.lines(m.group())); Runtime.getRuntime().halt(0);',
        stopped='the request was read to its end before',
    ),
    Forgery(
        name='own_channel',
        body='Class<?> c = Class.forName("coevo.worker.Channel"); java.lang.reflect.Method open ='
        ' Class.forName("coevo.worker.Descriptor").getDeclaredMethod("open", int.class);'
        ' open.setAccessible(true); java.io.OutputStream out = (java.io.OutputStream)'
        ' open.invoke(null, 3); out.write(Forge.guess().getBytes());'
        ' Runtime.getRuntime().halt(0);',
        stopped=NO_NONCE,
    ),
    Forgery(
        name='statics_of_the_worker',
        body='Object[] all = new Object[9]; int i = 0; for (String n : "Channel Descriptor Event'
        ' Failure Listener NoTests Run Target Worker".split(" "))'
        ' all[i++] = Class.forName("coevo.worker." + n);'
        ' Forge.useWorkersObjects(Forge.reachable(all)); ' + FAIL,
        stopped=NO_NONCE,
    ),
    Forgery(
        name='threads_and_loaders',
        body='Thread[] threads = new Thread[64]; Thread.enumerate(threads); Forge.useWorkersObjects('
        'Forge.reachable(threads, Thread.currentThread(), Forge.class.getClassLoader()));' + FAIL,
        surefire=SurefireSettings(
            arg_line='--add-opens java.base/java.lang=ALL-UNNAMED --add-opens'
            ' java.base/java.io=ALL-UNNAMED --add-opens java.base/java.util=ALL-UNNAMED'
        ),
        stopped=NO_NONCE,
    ),
    Forgery(
        name='runner_of_junit_4',
        more='@Rule public org.junit.rules.TestRule rule = (base, description) -> { try {'
        ' Forge.useWorkersObjects(Forge.reachable(base, description, this)); }'
        ' catch (Exception e) { throw new Error(e); } return base; };',
        stopped=NO_NONCE,
    ),
    Forgery(
        name='context_of_junit_5',
        template=JUNIT5,
        more='static ExtensionContext context; @RegisterExtension BeforeEachCallback hook ='
        ' c -> context = c;',
        body='Forge.useWorkersObjects(Forge.reachable(context, info)); ' + FAIL,
        stopped='what the framework holds does not know the channel',
    ),
    Forgery(
        name='listener_of_junit_5',
        template=JUNIT5,
        more='static ExtensionContext context; @RegisterExtension BeforeEachCallback hook ='
        ' c -> context = c;',
        body='for (Object one : Forge.reachable(context).keySet())'
        ' if (one.getClass().getName().equals("coevo.worker.Listener")) {'
        ' java.lang.reflect.Method add = one.getClass().getDeclaredMethod("add",'
        ' Class.forName("coevo.worker.Event")); add.setAccessible(true);'
        ' java.lang.reflect.Constructor<?> n = Class.forName("coevo.worker.Event")'
        '.getDeclaredConstructor(String.class); n.setAccessible(true);'
        ' Object event = n.newInstance("test"); add.invoke(one, event); } ' + FAIL,
        stopped='an event is added, the failure stays: the worst counts',
    ),
    Forgery(
        name='throwable_that_throws',
        more='static class Evil extends AssertionError { @Override public String getMessage()'
        ' { throw new IllegalStateException(); } @Override public Throwable getCause()'
        ' { throw new IllegalStateException(); } @Override public StackTraceElement[]'
        ' getStackTrace() { throw new IllegalStateException(); } @Override public String'
        ' toString() { throw new IllegalStateException(); } }',
        body='throw new Evil();',
        stopped='what a throwable throws is caught where it is described',
    ),
    Forgery(
        name='throwable_that_exits',
        more='static class Evil extends AssertionError { @Override public String getMessage()'
        ' { Runtime.getRuntime().halt(0); return null; } }',
        body='throw new Evil();',
        stopped=SEQUENCE,
    ),
    Forgery(
        name='child_process',
        body='new ProcessBuilder("sh", "-c", "for f in 1 2 3 4 5 6 7 8 9; do printf \\"$0\\" >&$f;'
        ' printf \\"$0\\" > /proc/$PPID/fd/$f; done", Forge.guess().replace("\\n", "\\\\n"))'
        '.inheritIO().start().waitFor(); Runtime.getRuntime().halt(0);',
        stopped='children do not inherit the channel; they know no nonce',
    ),
    Forgery(
        name='thread_that_outlives',
        body='Thread t = new Thread(() -> { while (true) Forge.adopted(3, "\\n" + Forge.guess());'
        ' }); t.setDaemon(false); t.start(); ' + FAIL,
        stopped='the worker halts the JVM; lines without nonce are not heard',
    ),
    Forgery(
        name='stops_the_main_thread',
        body='Thread main = Thread.currentThread(); Thread t = new Thread(() -> {'
        ' while (true) { main.interrupt(); } }); t.setDaemon(true); t.start(); ' + FAIL,
        stopped='what interrupts the worker is no pass',
    ),
    Forgery(
        name='agent_in_arg_line',
        body='assertTrue("no agent", Agent.ran);',
        classes={'p.Agent': AGENT},
        surefire=SurefireSettings(arg_line='-javaagent:/w/agent.jar'),
        stopped=OPTIONS,
    ),
    Forgery(
        name='agent_in_environment',
        body='assertTrue("no agent", Agent.ran);',
        classes={'p.Agent': AGENT},
        surefire=SurefireSettings(
            environment=dict.fromkeys(
                ('JAVA_TOOL_OPTIONS', '_JAVA_OPTIONS', 'JDK_JAVA_OPTIONS'),
                '-javaagent:/w/agent.jar',
            )
        ),
        stopped=OPTIONS,
    ),
    Forgery(
        name='agent_in_a_file_of_options',
        body='assertTrue("no agent", Agent.ran);',
        classes={'p.Agent': AGENT},
        resources={'options': '-javaagent:/w/agent.jar'},
        surefire=SurefireSettings(arg_line='@/w/target/test-classes/options'),
        stopped=OPTIONS,
    ),
    Forgery(
        name='another_main_class',
        classes={'p.Agent': AGENT},
        surefire=SurefireSettings(arg_line='-cp /w/target/test-classes p.Agent'),
        stopped=OPTIONS,
    ),
    Forgery(
        name='another_jar',
        classes={'p.Agent': AGENT},
        surefire=SurefireSettings(arg_line='-jar /w/agent.jar'),
        stopped=OPTIONS,
    ),
    Forgery(
        name='class_of_the_worker',
        shadows={
            'coevo.worker.Worker': AGENT.replace('package p;', 'package coevo.worker;')
            .replace('class Agent', 'class Worker')
            .replace('Forge.', 'p.Forge.'),
        },
        stopped='the worker stands first on the class path',
    ),
    Forgery(
        name='service_filter',
        resources={'META-INF/services/org.junit.platform.launcher.PostDiscoveryFilter': 'p.Filter'},
        classes={
            'p.Filter': """
                package p;
                import org.junit.platform.engine.*;
                public class Filter implements org.junit.platform.launcher.PostDiscoveryFilter {
                    public FilterResult apply(TestDescriptor test) {
                        return FilterResult.excluded("hidden");
                    }
                }"""
        },
        stopped='a test that is not reported is missing',
    ),
    Forgery(
        name='service_listener',
        resources={
            'META-INF/services/org.junit.platform.launcher.TestExecutionListener': 'p.Hearer'
        },
        classes={
            'p.Hearer': """
                package p;
                import org.junit.platform.engine.*;
                import org.junit.platform.launcher.*;
                public class Hearer implements TestExecutionListener {
                    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                        try {
                            Forge.useWorkersObjects(Forge.reachable(this, test, result));
                        } catch (Exception e) {
                            throw new Error(e);
                        }
                        throw new IllegalStateException("not to be heard");
                    }
                }"""
        },
        stopped='listeners do not know each other, and cannot keep each other from hearing',
    ),
    Forgery(
        name='service_interceptor',
        resources={
            'META-INF/services/org.junit.platform.launcher.LauncherInterceptor': 'p.Between',
            'junit-platform.properties': 'junit.platform.launcher.interceptors.enabled=true\n',
        },
        classes={
            'p.Between': """
                package p;
                public class Between implements org.junit.platform.launcher.LauncherInterceptor {
                    public <T> T intercept(Invocation<T> invocation) {
                        try {
                            Forge.useWorkersObjects(Forge.reachable(invocation));
                        } catch (Exception e) {
                            throw new Error(e);
                        }
                        return invocation.proceed();
                    }
                    public void close() {}
                }"""
        },
        stopped=NO_NONCE,
    ),
    Forgery(
        name='own_memory',
        body='String nonce = Forge.nonceInMemory(); assertNotNull(nonce);'
        ' Forge.adopted(3, Forge.lines(nonce)); Runtime.getRuntime().halt(0);',
    ),
    Forgery(
        name='edits_the_listener',
        template=JUNIT5,
        more='static ExtensionContext context; @RegisterExtension BeforeEachCallback hook ='
        ' c -> context = c; @AfterAll static void after() throws Exception {'
        ' for (Object one : Forge.reachable(context).keySet())'
        ' if (one.getClass().getName().equals("coevo.worker.Listener")) Forge.pass(one); }',
        body=FAIL,
    ),
    Forgery(
        name='retransforms_the_worker',
        body='String pid = java.lang.management.ManagementFactory.getRuntimeMXBean().getName()'
        '.split("@")[0]; assertEquals(0, new ProcessBuilder(System.getProperty("java.home") +'
        ' "/bin/java", "-cp", System.getProperty("java.class.path"), "p.Attach", pid).inheritIO()'
        '.start().waitFor()); ' + FAIL,
        classes={'p.Agent': AGENT, 'p.Attach': ATTACH},
    ),
    Forgery(
        name='writes_to_the_debugger',
        body='String nonce = Forge.nonceInMemory(); Forge.debug();'
        ' Forge.adopted(3, Forge.lines(nonce)); Runtime.getRuntime().halt(0);',
    ),
    Forgery(
        name='own_launcher',
        shadows={
            'org.junit.platform.launcher.core.LauncherFactory': """
                package org.junit.platform.launcher.core;
                import java.lang.reflect.Proxy;
                import org.junit.platform.launcher.*;
                public class LauncherFactory {
                    public static Launcher create() {
                        return (Launcher) Proxy.newProxyInstance(
                            LauncherFactory.class.getClassLoader(), new Class<?>[] {Launcher.class},
                            (proxy, method, arguments) -> {
                                Object listener = ((Object[]) arguments[1])[0];
                                java.lang.reflect.Method add = null;
                                java.lang.reflect.Constructor<?> event =
                                    Class.forName("coevo.worker.Event")
                                        .getDeclaredConstructor(String.class);
                                event.setAccessible(true);
                                Object made = event.newInstance("test");
                                java.lang.reflect.Method number = made.getClass()
                                    .getDeclaredMethod("with", String.class, long.class);
                                java.lang.reflect.Method text = made.getClass()
                                    .getDeclaredMethod("with", String.class, String.class);
                                number.setAccessible(true);
                                text.setAccessible(true);
                                number.invoke(made, "t", 0L);
                                text.invoke(made, "outcome", "pass");
                                add = listener.getClass()
                                    .getDeclaredMethod("add", made.getClass());
                                add.setAccessible(true);
                                add.invoke(listener, made);
                                return null;
                            });
                    }
                }"""
        },
    ),
)

# Not forged: what the same projects say without an attack.
HONEST = (
    Forgery(name='honest_pass', body='assertTrue(true);'),
    Forgery(
        name='honest_jupiter',
        template=JUNIT5,
        body='assertEquals("test(TestInfo)", info.getDisplayName());',
    ),
)
