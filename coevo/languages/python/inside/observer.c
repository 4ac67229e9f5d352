/* Count how watched functions of a test process are entered and left, where no Python code can write.

One library serves CPython 3.6 to 3.14 on 64 bits with the GIL. It is built without headers of Python, from
functions that all of these versions export, so that it needs a C compiler alone. What it uses of their
structures is stated at each place.

The counts are in a page of memory that the controller made, and that it reads after the process has ended.
In this process the page's descriptor is closed, and the page is writable only during a write. It has words
of 32 bits:
    0  1 once the observer is in place
    1  what a forger needs and the process accessed, one bit for each kind
    then for each target: how often it was entered, returned from, left by an exception
    then for each watched file: one bit for each line, set if the line was executed
If a function is entered again before it is left (wrappers of its name, recursion), only the outermost
entry counts. */

#define _GNU_SOURCE
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

typedef struct PyObject { void *opaque; } PyObject;
typedef PyObject *(*Function)(PyObject *, PyObject *);
typedef int (*Tracer)(PyObject *, PyObject *, int, PyObject *);
typedef int (*Hook)(const char *, PyObject *, void *);

/* PyMethodDef and PyModuleDef, which belong to the stable ABI (PEP 384). */
struct Method { const char *name; Function call; int flags; const char *doc; };
struct Module {
    ssize_t references; void *type, *init; ssize_t index; void *copy;
    const char *name, *doc; ssize_t size; struct Method *methods; void *rest[4];
};

extern PyObject *PyModule_Create2(struct Module *, int);
extern PyObject *PyObject_GetAttrString(PyObject *, const char *);
extern int PyObject_SetAttrString(PyObject *, const char *, PyObject *);
extern int PyObject_RichCompareBool(PyObject *, PyObject *, int);
extern PyObject *PyBool_FromLong(long);
extern long PyLong_AsLong(PyObject *);
extern const char *PyUnicode_AsUTF8(PyObject *);
extern char *PyBytes_AsString(PyObject *);
extern ssize_t PyBytes_Size(PyObject *);
extern ssize_t PyTuple_Size(PyObject *);
extern PyObject *PyTuple_GetItem(PyObject *, ssize_t);
extern PyObject *PyErr_Occurred(void);
extern void PyErr_Clear(void);
extern void PyErr_SetString(PyObject *, const char *);
extern void PyErr_Fetch(PyObject **, PyObject **, PyObject **);
extern void PyErr_Restore(PyObject *, PyObject *, PyObject *);
extern PyObject *PyExc_RuntimeError, _Py_NoneStruct;
extern void Py_IncRef(PyObject *);
extern void Py_DecRef(PyObject *);
extern PyObject *PyEval_GetFrame(void);
extern int PyFrame_GetLineNumber(PyObject *);
extern void PyEval_SetProfile(Tracer, PyObject *);
extern void PyEval_SetTrace(Tracer, PyObject *);
extern PyObject *PyImport_ImportModule(const char *);
extern PyObject *PyFrame_GetCode(PyObject *) __attribute__((weak));     /* since 3.9 */
extern int PySys_AddAuditHook(Hook, void *) __attribute__((weak));      /* since 3.8 */

enum { CALL = 0, LINE = 2, RETURN = 3 };
enum { MEMORY = 1, OBJECTS = 2, EYES = 4, CODE = 8, NATIVE = 16 };
enum { HEAD = 2, EACH = 3, ENTERED = 0, RETURNED = 1, THROWN = 2 };
enum { MOST_TARGETS = 4096, MOST_FILES = 512, MOST_OPEN = 1024, MOST_NATIVES = 1024, MOST_OPCODES = 8, KNOWN = 1 << 16 };
enum { GENERATOR_FLAGS = 0x20 | 0x80 | 0x200, AWAITABLE_FLAG = 0x100 };
enum { EQUAL = 2 };

struct Target { char *file, *name; long first; int place; };
struct File { char *path; long first_word, lines; };
struct Native { char *path; struct timespec changed; };
struct Activation { PyObject *frame; int target, counts; };
struct Known { PyObject *code; int target, file; };

static volatile uint32_t *page;
static size_t page_bytes;
static pid_t owner;
static struct Target targets[MOST_TARGETS];
static int target_count;
static struct File files[MOST_FILES];
static int file_count;
static char *trusted[8];
static int trusted_count;
static struct Native natives[MOST_NATIVES];
static int native_count;
static long returning[MOST_OPCODES], yielding[MOST_OPCODES];
static int returning_count, yielding_count;
static long waiting = -1;
static struct Activation open_ones[MOST_OPEN];
static int open_count;
static struct Known *known;
static int known_count;

/* -- the page ------------------------------------------------------------------------------------ */

static void put(size_t word, uint32_t bits, int is_count)
{
    if (getpid() != owner || (word + 1) * 4 > page_bytes)
        return;                                            /* a child has the same page, and does not count */
    if (!is_count && (page[word] & bits) == bits)
        return;
    mprotect((void *)page, page_bytes, PROT_READ | PROT_WRITE);
    page[word] = is_count ? page[word] + 1 : page[word] | bits;
    mprotect((void *)page, page_bytes, PROT_READ);
}

static void latch(uint32_t kind) { put(1, kind, 0); }

static void count(int target, int what) { put(HEAD + (size_t)target * EACH + what, 0, 1); }

/* -- what code is -------------------------------------------------------------------------------- */

static long number(PyObject *owner_, const char *name)
{
    PyObject *found = PyObject_GetAttrString(owner_, name);
    long value = found ? PyLong_AsLong(found) : -1;
    if (found) Py_DecRef(found);
    if (PyErr_Occurred()) PyErr_Clear();
    return value;
}

/* Copy the text of an attribute, at most 4095 bytes of it; '' if there is none. */
static void text(PyObject *owner_, const char *name, char *into)
{
    PyObject *found = PyObject_GetAttrString(owner_, name);
    const char *value = found ? PyUnicode_AsUTF8(found) : NULL;
    into[0] = 0;
    if (value) { strncpy(into, value, PATH_MAX - 1); into[PATH_MAX - 1] = 0; }
    if (found) Py_DecRef(found);
    if (PyErr_Occurred()) PyErr_Clear();
}

/* Return the code of a frame, as a new reference. Up to 3.8 the field `f_code` of a frame comes after the
head of an object of variable size and `f_back`. */
static PyObject *code_of(PyObject *frame)
{
    if (PyFrame_GetCode)
        return PyFrame_GetCode(frame);
    PyObject *code = ((PyObject **)frame)[4];
    Py_IncRef(code);
    return code;
}

static void file_of(PyObject *frame, char *into)
{
    PyObject *code = code_of(frame);
    text(code, "co_filename", into);
    Py_DecRef(code);
}

static int is_same_file(const char *path, const char *other)
{
    char real[PATH_MAX];
    const char *last = strrchr(path, '/'), *wanted = strrchr(other, '/');
    if (strcmp(path, other) == 0) return 1;
    if (!last || !wanted || strcmp(last, wanted) != 0) return 0;
    return realpath(path, real) && strcmp(real, other) == 0;
}

static struct Known look(PyObject *code)
{
    static char file[PATH_MAX], name[PATH_MAX];
    struct Known found = {code, -1, -1};
    text(code, "co_filename", file);
    text(code, "co_name", name);
    for (int i = 0; i < target_count && found.target < 0; i++)
        if (strcmp(targets[i].name, name) == 0 && is_same_file(file, targets[i].file)
            && number(code, "co_firstlineno") == targets[i].first)
            found.target = targets[i].place;
    for (int i = 0; i < file_count && found.file < 0; i++)
        if (is_same_file(file, files[i].path))
            found.file = i;
    return found;
}

/* Return the target and file that a code object belongs to, from a table by its address. Code in the table
is kept alive, so that no other code gets its address. */
static struct Known known_of(PyObject *code)
{
    size_t at = ((uintptr_t)code >> 4) * 2654435761u % (KNOWN * 2);
    while (known[at].code && known[at].code != code)
        at = (at + 1) % (KNOWN * 2);
    if (known[at].code)
        return known[at];
    struct Known found = look(code);
    if (known_count < KNOWN) {
        known_count++;
        Py_IncRef(code);
        known[at] = found;
    }
    return found;
}

/* -- how functions are left ---------------------------------------------------------------------- */

static int is_among(long one, const long *all, int how_many)
{
    for (int i = 0; i < how_many; i++)
        if (all[i] == one) return 1;
    return 0;
}

/* Return the instruction that a frame executes, or the one `behind` bytes later; -1 if there is none. */
static long opcode_at(PyObject *frame, PyObject *code, long behind)
{
    long last = number(frame, "f_lasti") + behind, found = -1;
    PyObject *bytes = PyObject_GetAttrString(code, "co_code");
    if (bytes && last >= 0 && last < PyBytes_Size(bytes))
        found = (unsigned char)PyBytes_AsString(bytes)[last];
    if (bytes) Py_DecRef(bytes);
    if (PyErr_Occurred()) PyErr_Clear();
    return found;
}

/* Whether a generator is left because it yields. Up to 3.9, one that waits for another generator has the
instruction for that as its next one. */
static int is_yielding(PyObject *frame, PyObject *code)
{
    return (number(code, "co_flags") & GENERATOR_FLAGS)
        && (is_among(opcode_at(frame, code, 0), yielding, yielding_count)
            || (waiting >= 0 && opcode_at(frame, code, 2) == waiting));
}

static int open_place(PyObject *frame)
{
    for (int i = open_count - 1; i >= 0; i--)
        if (open_ones[i].frame == frame) return i;
    return -1;
}

static void enter(PyObject *frame, int target)
{
    int outer = 1;
    if (open_place(frame) >= 0) return;                    /* a generator is resumed */
    for (int i = 0; i < open_count; i++)
        if (open_ones[i].target == target) outer = 0;
    if (open_count == MOST_OPEN) { latch(EYES); return; }
    Py_IncRef(frame);
    open_ones[open_count++] = (struct Activation){frame, target, outer};
    if (outer) count(target, ENTERED);
}

/* Record that a function is left. If an exception leaves it, a profiler gets no value. Since 3.12 it gets
None, and only the instruction shows whether the function returned. */
static void leave(PyObject *frame, PyObject *code, PyObject *value)
{
    int place = open_place(frame), returned = value != NULL;
    if (place < 0 || (value && is_yielding(frame, code))) return;
    struct Activation one = open_ones[place];
    memmove(open_ones + place, open_ones + place + 1,
            (size_t)(open_count - place - 1) * sizeof *open_ones);
    open_count--;
    if (returning_count)
        returned = is_among(opcode_at(frame, code, 0), returning, returning_count);
    if (one.counts) count(one.target, returned ? RETURNED : THROWN);
    Py_DecRef(frame);
}

static int profile(PyObject *self, PyObject *frame, int what, PyObject *value)
{
    PyObject *type, *error, *trace;
    if (what != CALL && what != RETURN) return 0;
    PyObject *code = code_of(frame);
    PyErr_Fetch(&type, &error, &trace);
    struct Known found = known_of(code);
    if (found.target >= 0) {
        if (what == CALL) enter(frame, found.target);
        else leave(frame, code, value);
    }
    PyErr_Restore(type, error, trace);
    Py_DecRef(code);
    return 0;
}

/* -- lines ---------------------------------------------------------------------------------------- */

static int trace(PyObject *self, PyObject *frame, int what, PyObject *value)
{
    PyObject *type, *error, *stack;
    if (what != CALL && what != LINE) return 0;
    PyObject *code = code_of(frame);
    PyErr_Fetch(&type, &error, &stack);
    struct Known found = known_of(code);
    if (found.file < 0) {
        PyObject *no = PyBool_FromLong(0);
        if (what == CALL && PyObject_SetAttrString(frame, "f_trace_lines", no) < 0)
            PyErr_Clear();                                 /* 3.6 lacks this attribute, and is slower */
        Py_DecRef(no);
    } else if (what == LINE) {
        long line = PyFrame_GetLineNumber(frame);
        struct File *file = files + found.file;
        if (line > 0 && line < file->lines)
            put((size_t)(file->first_word + line / 32), 1u << (line % 32), 0);
    }
    PyErr_Restore(type, error, stack);
    Py_DecRef(code);
    return 0;
}

/* -- accesses that only a forger needs ------------------------------------------------------------ */

static int is_trusted(const char *file)
{
    for (int i = 0; i < trusted_count; i++)
        if (strncmp(file, trusted[i], strlen(trusted[i])) == 0) return 1;
    return 0;
}

/* Whether code that is not trusted (of the tree, or of no known file) made the current call. The first frame
outside of the standard library decides, whose file is copied to `file`. The first of the trusted places is
the standard library. */
static int asked_by_stranger(char *file)
{
    PyObject *frame = PyEval_GetFrame();
    int stranger = 1;
    file[0] = 0;
    if (frame) Py_IncRef(frame);
    while (frame && frame != &_Py_NoneStruct) {
        PyObject *back = PyObject_GetAttrString(frame, "f_back");
        if (PyErr_Occurred()) PyErr_Clear();
        file_of(frame, file);
        Py_DecRef(frame);
        frame = back;
        if (strncmp(file, "<frozen ", 8) != 0 && strncmp(file, trusted[0], strlen(trusted[0])) != 0) {
            stranger = !is_trusted(file);
            break;
        }
    }
    if (frame) Py_DecRef(frame);
    return stranger;
}

/* Whether the import system itself made the current call, and no code that calls the same function. */
static int asked_by_import(void)
{
    char file[PATH_MAX] = "";
    if (PyEval_GetFrame()) file_of(PyEval_GetFrame(), file);
    return strncmp(file, "<frozen importlib", 17) == 0;
}

static int is_a_test_file(const char *file)
{
    for (int i = 0; i < target_count; i++)
        if (is_same_file(file, targets[i].file)) return 1;
    return 0;
}

/* Return an argument of an event if it is a text, else ''. */
static const char *argument(PyObject *arguments, ssize_t place)
{
    const char *found = NULL;
    if (place < PyTuple_Size(arguments))
        found = PyUnicode_AsUTF8(PyTuple_GetItem(arguments, place));
    if (PyErr_Occurred()) PyErr_Clear();
    return found ? found : "";
}

static int is_memory(const char *path)
{
    static const char *names[] = {"mem", "maps", "smaps", "pagemap", "map_files", "auxv"};
    char real[PATH_MAX];
    const char *last = strrchr(path, '/');
    last = last ? last + 1 : path;
    if (strstr(path, "map_files")) return 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(last, names[i]) == 0)
            return realpath(path, real) && strncmp(real, "/proc/", 6) == 0;
    return 0;
}

/* Whether a file may have been written by the process: it is in a writable folder, and is none of the
`natives`, or was changed since the start. */
static int is_written_here(const char *path)
{
    struct stat now;
    if (strncmp(path, "/w/", 3) != 0 && strncmp(path, "/tmp/", 5) != 0
        && strncmp(path, "/dev/shm/", 9) != 0) return 0;
    for (int i = 0; i < native_count; i++)
        if (strcmp(path, natives[i].path) == 0)
            return stat(path, &now) != 0 || now.st_ctim.tv_sec != natives[i].changed.tv_sec
                || now.st_ctim.tv_nsec != natives[i].changed.tv_nsec;
    return 1;
}

/* Whether a file is one of the `natives`, such as a file of the code that uses C by itself, and is unchanged
since the start. */
static int is_own_user(const char *path)
{
    for (int i = 0; i < native_count; i++)
        if (strcmp(path, natives[i].path) == 0) return !is_written_here(path);
    return 0;
}

/* Whether an attribute of two code objects is equal (texts, numbers, bytes, tuples of texts), or both lack
it. */
static int is_alike(PyObject *one, PyObject *other, const char *name)
{
    PyObject *left = PyObject_GetAttrString(one, name), *right = PyObject_GetAttrString(other, name);
    int same = left && right ? PyObject_RichCompareBool(left, right, EQUAL) == 1 : !left && !right;
    if (left) Py_DecRef(left);
    if (right) Py_DecRef(right);
    if (PyErr_Occurred()) PyErr_Clear();
    return same;
}

/* Whether two code objects have the very same objects as constants: equal numbers may differ in type. */
static int has_same_constants(PyObject *one, PyObject *other)
{
    PyObject *left = PyObject_GetAttrString(one, "co_consts");
    PyObject *right = PyObject_GetAttrString(other, "co_consts");
    ssize_t size = left && right ? PyTuple_Size(left) : -1;
    int same = size >= 0 && size == PyTuple_Size(right);
    for (ssize_t i = 0; same && i < size; i++)
        same = PyTuple_GetItem(left, i) == PyTuple_GetItem(right, i);
    if (left) Py_DecRef(left);
    if (right) Py_DecRef(right);
    if (PyErr_Occurred()) PyErr_Clear();
    return same;
}

/* Whether an assignment to `__code__` is what `types.coroutine` does to a generator, which asyncio uses while
it is imported: the new code differs by one more flag only. The interpreter has checked that both are the
codes of functions. */
static int is_made_awaitable(PyObject *arguments)
{
    static const char *names[] = {
        "co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_argcount",
        "co_posonlyargcount", "co_kwonlyargcount", "co_filename", "co_name", "co_qualname",
        "co_firstlineno", "co_exceptiontable",
    };
    if (PyTuple_Size(arguments) != 3) return 0;
    PyObject *before = PyObject_GetAttrString(PyTuple_GetItem(arguments, 0), "__code__");
    PyObject *after = PyTuple_GetItem(arguments, 2);
    int same = before && number(after, "co_flags") == (number(before, "co_flags") | AWAITABLE_FLAG)
        && has_same_constants(before, after);
    for (size_t i = 0; same && i < sizeof names / sizeof *names; i++)
        same = is_alike(before, after, names[i]);
    if (before) Py_DecRef(before);
    if (PyErr_Occurred()) PyErr_Clear();
    return same;
}

/* Whether code under the name of a file is trusted more than other code, so that it may not be forged. */
static int is_guarded(const char *file)
{
    return is_a_test_file(file) || is_own_user(file);
}

static void judge(const char *event, PyObject *arguments)
{
    static char file[PATH_MAX];
    if (strcmp(event, "open") == 0) {
        const char *path = argument(arguments, 0);
        if (is_memory(path) && (asked_by_stranger(file) || strstr(path, "mem"))) latch(MEMORY);
    } else if (strncmp(event, "ctypes.", 7) == 0) {
        /* `import ctypes` itself opens the process's own symbols, and looks up none of them */
        if (strcmp(event, "ctypes.dlopen") == 0 && !*argument(arguments, 0)) return;
        if (asked_by_stranger(file) && !is_own_user(file)) latch(NATIVE);
    } else if (strcmp(event, "import") == 0) {
        const char *name = argument(arguments, 0), *path = argument(arguments, 1);
        if (*path && is_written_here(path)) latch(NATIVE);
        if ((strcmp(name, "ctypes") == 0 || strcmp(name, "_ctypes") == 0
             || strcmp(name, "_cffi_backend") == 0)
            && asked_by_stranger(file) && is_a_test_file(file)) latch(NATIVE);
    } else if (strncmp(event, "gc.get_", 7) == 0) {
        if (asked_by_stranger(file)) latch(OBJECTS);
    } else if (strcmp(event, "sys.setprofile") == 0) {
        latch(EYES);
    } else if (strcmp(event, "sys.settrace") == 0) {
        if (file_count) latch(EYES);
    } else if (strncmp(event, "sys.monitoring.", 15) == 0) {
        if (asked_by_stranger(file)) latch(EYES);
    } else if (strcmp(event, "compile") == 0) {
        if (is_guarded(argument(arguments, 1)) && asked_by_stranger(file) && !asked_by_import())
            latch(CODE);
    } else if (strcmp(event, "code.__new__") == 0) {
        if (is_guarded(argument(arguments, 1)) && asked_by_stranger(file)) latch(CODE);
    } else if (strcmp(event, "marshal.loads") == 0) {
        if (asked_by_stranger(file) && !asked_by_import()) latch(CODE);
    } else if (strcmp(event, "object.__setattr__") == 0) {
        if (strcmp(argument(arguments, 1), "__code__") == 0 && asked_by_stranger(file)
            && !is_made_awaitable(arguments)) latch(CODE);
    }
}

static int audit(const char *event, PyObject *arguments, void *data)
{
    PyObject *type, *error, *stack;
    if (!strchr("ocigsm", event[0]) || !arguments || getpid() != owner) return 0;
    PyErr_Fetch(&type, &error, &stack);
    judge(event, arguments);
    PyErr_Restore(type, error, stack);
    return 0;
}

/* 3.6 and 3.7 have no audit events. There, calls of some built-in functions are led through functions of this
file: the field `m_ml` comes after the head of a built-in function and points to its definition, which can
be changed. Arguments are handed on unchanged, whatever the calling convention. */
typedef void *(*Any)(void *, void *, void *, void *, void *);
enum { LED = 6, OF_PROFILE = 3, OF_COMPILE = 4, OF_CTYPES = 5 };
static Any led[LED];

/* Judge a call of one of these functions, before it is made.

rest, how_many  the arguments of `compile`, as METH_FASTCALL passes them; the second is the name of a file */
static void asked(int which, PyObject **rest, ssize_t how_many)
{
    static char file[PATH_MAX];
    PyObject *type, *error, *stack;
    if (getpid() != owner) return;
    PyErr_Fetch(&type, &error, &stack);
    if (which == OF_PROFILE) {
        latch(EYES);
    } else if (which == OF_COMPILE) {
        const char *name = how_many > 1 ? PyUnicode_AsUTF8(rest[1]) : NULL;
        if ((!name || is_a_test_file(name)) && asked_by_stranger(file) && !asked_by_import())
            latch(CODE);
        if (PyErr_Occurred()) PyErr_Clear();
    } else if (asked_by_stranger(file) && (which != OF_CTYPES || is_a_test_file(file))) {
        latch(which == OF_CTYPES ? NATIVE : OBJECTS);
    }
    PyErr_Restore(type, error, stack);
}

#define LEAD(n) \
    static void *led_##n(void *a, void *b, void *c, void *d, void *e) \
    { asked(n, b, (ssize_t)c); return led[n](a, b, c, d, e); }
LEAD(0) LEAD(1) LEAD(2) LEAD(3) LEAD(4) LEAD(5)

static int lead(int which, const char *module, const char *name, void *ours)
{
    PyObject *holder = PyImport_ImportModule(module);
    PyObject *function = holder ? PyObject_GetAttrString(holder, name) : NULL;
    if (!function) return -1;
    struct Method *method = ((struct Method **)function)[2];
    led[which] = (Any)(void *)method->call;
    method->call = (Function)ours;
    return 0;
}

static int lead_all(void)
{
    if (lead(OF_CTYPES, "_ctypes", "dlopen", led_5)) PyErr_Clear();    /* not every Python has it */
    return lead(0, "gc", "get_objects", led_0) || lead(1, "gc", "get_referrers", led_1)
        || lead(2, "gc", "get_referents", led_2) || lead(OF_PROFILE, "sys", "setprofile", led_3)
        || lead(OF_COMPILE, "builtins", "compile", led_4);
}

/* -- the start ------------------------------------------------------------------------------------ */

static char *copied(PyObject *tuple, ssize_t place)
{
    const char *found = PyUnicode_AsUTF8(PyTuple_GetItem(tuple, place));
    return found ? strdup(found) : NULL;
}

static int numbers(PyObject *tuple, long *into)
{
    int found = 0;
    for (ssize_t i = 0; i < PyTuple_Size(tuple) && found < MOST_OPCODES; i++)
        into[found++] = PyLong_AsLong(PyTuple_GetItem(tuple, i));
    return found;
}

static PyObject *refused(const char *why)
{
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, why);
    return NULL;
}

/* Begin to observe: watch(descriptor, bytes, targets, files, trusted, returning, yielding, waiting, natives)
targets    (file, name, first line, index of its counts)
files      (path, word of its first line, number of lines)
trusted    folders whose code is trusted, the standard library first
returning  opcodes that return; none if a profiler's value shows how a function is left
yielding   opcodes that yield
waiting    the opcode that waits for another generator; -1 if there is none
natives    paths of the project's own extensions, and of files of its code that use C by themselves */
static PyObject *watch(PyObject *self, PyObject *arguments)
{
    PyObject *rows;
    if (page) return refused("it watches already");
    if (PyTuple_Size(arguments) != 9) return refused("nine arguments");
    int descriptor = (int)PyLong_AsLong(PyTuple_GetItem(arguments, 0));
    page_bytes = (size_t)PyLong_AsLong(PyTuple_GetItem(arguments, 1));
    rows = PyTuple_GetItem(arguments, 2);
    for (ssize_t i = 0; i < PyTuple_Size(rows) && target_count < MOST_TARGETS; i++) {
        PyObject *row = PyTuple_GetItem(rows, i);
        targets[target_count++] = (struct Target){copied(row, 0), copied(row, 1),
            PyLong_AsLong(PyTuple_GetItem(row, 2)), (int)PyLong_AsLong(PyTuple_GetItem(row, 3))};
    }
    rows = PyTuple_GetItem(arguments, 3);
    for (ssize_t i = 0; i < PyTuple_Size(rows) && file_count < MOST_FILES; i++) {
        PyObject *row = PyTuple_GetItem(rows, i);
        files[file_count++] = (struct File){copied(row, 0),
            PyLong_AsLong(PyTuple_GetItem(row, 1)), PyLong_AsLong(PyTuple_GetItem(row, 2))};
    }
    rows = PyTuple_GetItem(arguments, 4);
    for (ssize_t i = 0; i < PyTuple_Size(rows) && trusted_count < 8; i++)
        trusted[trusted_count++] = copied(rows, i);
    returning_count = numbers(PyTuple_GetItem(arguments, 5), returning);
    yielding_count = numbers(PyTuple_GetItem(arguments, 6), yielding);
    waiting = PyLong_AsLong(PyTuple_GetItem(arguments, 7));
    rows = PyTuple_GetItem(arguments, 8);
    for (ssize_t i = 0; i < PyTuple_Size(rows) && native_count < MOST_NATIVES; i++) {
        struct stat found;
        char *path = copied(rows, i);
        if (path && stat(path, &found) == 0)
            natives[native_count++] = (struct Native){path, found.st_ctim};
    }
    known = calloc(KNOWN * 2, sizeof *known);
    if (PyErr_Occurred() || !known || !trusted_count) return refused("what to watch");
    void *mapped = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (mapped == MAP_FAILED) return refused("no page");
    page = mapped;
    close(descriptor);
    owner = getpid();
    if (PySys_AddAuditHook ? PySys_AddAuditHook(audit, NULL) : lead_all()) return refused("no hook");
    PyEval_SetProfile(profile, NULL);
    if (file_count) PyEval_SetTrace(trace, NULL);
    mprotect((void *)page, page_bytes, PROT_READ | PROT_WRITE);
    page[1] = 0;                                           /* the accesses so far were our own */
    page[0] = 1;
    mprotect((void *)page, page_bytes, PROT_READ);
    return PyBool_FromLong(1);
}

static struct Method methods[] = {{"watch", watch, 1, NULL}, {NULL, NULL, 0, NULL}};
static struct Module module = {1, NULL, NULL, 0, NULL, "coevo_observer", NULL, -1, methods, {NULL}};

__attribute__((visibility("default"))) PyObject *PyInit_coevo_observer(void)
{
    return PyModule_Create2(&module, 3);
}
