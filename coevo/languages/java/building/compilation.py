"""The stubbing compiler's report on a test tree: one verdict for the tree, one per method, and
classes of errors.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from coevo.languages.java.building.session import JvmAnswer, JvmDeath
from coevo.languages.measures import ErrorClass
from coevo.model.reasons import DiffReason
from coevo.model.records import TestMethod

# The stubbing compiler's report on a test tree: one verdict for the tree, and one per method.

# Error codes of javac's scanner and parser (its compiler.properties), without `compiler.err.`.
_PARSER = re.compile(
    r'(array\.dimension\.missing|(catch|else|finally)\.without\.\w+'
    r'|class\.method\.or\.field\.expected|dot\.class|enum\.constant\w*\.expected|expected\d?'
    r'|illegal\.(char|dot|esc\.char|line\.end\S*|nonascii\S*|parenthesized\.\w+|start\.of\.\w+'
    r'|text\.block\.open|underscore|unicode\.esc)|initializer\.not\.allowed'
    r'|invalid\.meth\.decl\.ret\.type\.req|malformed\.fp\.lit|not\.stmt|orphaned|premature\.eof'
    r'|try\.without\.\S+|unclosed\.\S+|variable\.not\.allowed)( .*)?'
)


# Separates a class from a nested class that it inherits, in the name of a runner.
VIA = '/'


def is_syntax_error(signature: str) -> bool:
    """Return whether the error of a signature (code, then symbol) is a syntax error."""
    return _PARSER.fullmatch(signature) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaClass:
    """A compiled test class: its direct supertypes and enclosing class (or None) by binary name."""

    parents: tuple[str, ...]
    abstract: bool
    outer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileReport:
    """The classes of a test tree, and the errors of classes and methods that do not compile.

    unit_ok       whether the whole tree compiles without errors
    everything    the reason why nothing of the tree compiles; None if some of it may
    broken_files  the sources with errors, relative to their root; None for an error without one
    processed     whether annotation processors may have run, which see all sources
    below         classes of other modules' tests on the class path
    """

    unit_ok: bool
    everything: str | None = None
    broken_files: frozenset[str | None] = frozenset()
    processed: bool = False
    classes: Mapping[str, JavaClass] = field(default_factory=dict)
    broken_classes: Mapping[str, str] = field(default_factory=dict)
    broken_methods: Mapping[tuple[str, str, tuple[str, ...]], str] = field(default_factory=dict)
    below: Mapping[str, JavaClass] = field(default_factory=dict)

    @property
    def broken_names(self) -> tuple[str, ...]:
        """The names of everything that does not compile, sorted; `*` if nothing compiles."""
        if self.everything is not None:
            return ('*',)
        methods = (f'{c}#{m}({",".join(p)})' for c, m, p in self.broken_methods)
        return tuple(sorted((*self.broken_classes, *methods)))

    def find_first_error(self, method: TestMethod) -> str | None:
        """Return the signature of the first error that affects a test method, or None.

        A method is affected by an error in its own body, in its class, and in any superclass or
        enclosing class of a class that runs it.
        """
        if self.everything is not None:
            return self.everything
        own = (method.test_class, method.test_method, method.parameters)
        if own in self.broken_methods:
            return self.broken_methods[own]
        return self.find_first_runner_error(
            (method.test_class, *self.find_runners(method.test_class))
        )

    def find_first_runner_error(
        self, runners: Iterable[str], known: Mapping[str, JavaClass] | None = None
    ) -> str | None:
        """Return the first error in runners, their ancestors or enclosing classes; else None.

        Runners are named as `find_runners` names them.

        known  classes of the same tests compiled against other code; they give the ancestors of
               classes that do not compile here
        """
        if self.everything is not None:
            return self.everything
        classes = {**(known or {}), **self.below, **self.classes}
        for runner in runners:
            for part in runner.split(VIA):
                for name in _iterate_inherited_and_enclosing(classes, part):
                    if name in self.broken_classes:
                        return self.broken_classes[name]
        return None

    def find_runners(self, name: str) -> tuple[str, ...]:
        """Return the concrete classes of this tree that run the test methods of the class `name`.

        They are the class itself and its subclasses. `Sub/Outer$Inner` means that Sub runs the
        methods of Inner, which is nested in a class from which Sub inherits. Such a name is only a
        possible runner, since JUnit decides; without a result, it does not count.
        """
        classes = {**self.below, **self.classes}
        ancestors = {other: _find_class_and_ancestors(classes, other) for other in classes}
        concrete = sorted(other for other in classes if not classes[other].abstract)
        plain = [other for other in concrete if name in ancestors[other]]
        runners = [other for other in plain if other in self.classes]
        for inner in plain:
            around = _find_enclosing(classes, inner)
            runners += [
                f'{other}{VIA}{inner}'
                for other in concrete
                if around
                and other in self.classes
                and other not in around
                and not around.isdisjoint(ancestors[other])
            ]
        return tuple(runners)

    def find_enclosing_and_derived_classes(self, name: str) -> tuple[str, ...]:
        """Return a class, the classes that enclose it, and all their subclasses, sorted by name.

        A test class of another module that runs the class's methods must extend one of them.
        """
        classes = {**self.below, **self.classes}
        bases = {name, *_find_enclosing(classes, name)}
        return tuple(
            other
            for other in sorted({*classes, name})
            if not bases.isdisjoint(_find_class_and_ancestors(classes, other))
        )


def _find_class_and_ancestors(classes: Mapping[str, JavaClass], name: str) -> dict[str, None]:
    """Return a class and all classes and interfaces that it inherits from, as ordered keys.

    The class itself comes first.
    """
    ancestors: dict[str, None] = {}
    todo = [name]
    while todo:
        current = todo.pop()
        if current not in ancestors:
            ancestors[current] = None
            known = classes.get(current)
            todo += known.parents if known else ()
    return ancestors


def _find_enclosing(classes: Mapping[str, JavaClass], name: str) -> frozenset[str]:
    """Return all classes that enclose a class, without the class itself."""
    enclosing: set[str] = set()
    known = classes.get(name)
    while known is not None and known.outer is not None and known.outer not in enclosing:
        enclosing.add(known.outer)
        known = classes.get(known.outer)
    return frozenset(enclosing)


def _iterate_inherited_and_enclosing(classes: Mapping[str, JavaClass], name: str) -> Iterator[str]:
    """Yield a class, its ancestors, and all classes that enclose one of them."""
    for ancestor in _find_class_and_ancestors(classes, name):
        around: str | None = ancestor
        while around:
            yield around
            known = classes.get(around)
            # For a class that was not compiled, only the name is known, and `$` may be a part
            # of a simple name.
            around = known.outer if known else around.rpartition('$')[0]


def was_compiled_alone(answer: JvmAnswer | JvmDeath) -> bool:
    """Return whether an answer is about the edited sources alone, see `Compilation.java`."""
    return not isinstance(answer, JvmDeath) and bool(answer.report.get('alone'))


def is_out_of_space(answer: JvmAnswer) -> bool:
    """Return whether a class file could not be written, which says nothing about the code."""
    return has_out_of_space_error(error['signature'] for error in answer.report['broken'])


def has_out_of_space_error(signatures: Iterable[str | None]) -> bool:
    """Return whether one of the signatures is javac's failure to write a class file."""
    return any(
        signature is not None and signature.startswith('class.cant.write')
        for signature in signatures
    )


def name_compiler_death(died: JvmDeath) -> str:
    """Return the error signature for sources on which the compiler died, such as `compiler_cpu`."""
    return f'compiler_{died.reason}'


def add_unread_classes(report: CompileReport, classes: Collection[str]) -> CompileReport:
    """Return the report with `classes` added as broken, since their files were too complex to read.

    Returns the report unchanged if there are no such classes, or if nothing compiles anyway.
    """
    if not classes or report.everything is not None:
        return report
    broken = {**dict.fromkeys(classes, DiffReason.UNREADABLE_SOURCE), **report.broken_classes}
    return replace(report, unit_ok=False, broken_classes=broken)


def parse_compile_report(answer: JvmAnswer | JvmDeath) -> CompileReport:
    """Return the report in the compiler's answer; if the JVM died, nothing of the tree compiles."""
    if isinstance(answer, JvmDeath):
        return CompileReport(unit_ok=False, everything=name_compiler_death(answer))
    report: Mapping[str, Any] = answer.report
    broken = report['broken']
    return CompileReport(
        unit_ok=bool(report['unit_ok']),
        broken_files=frozenset(error['file'] for error in report['errors']),
        processed=bool(report['processors']),
        classes={
            row['name']: JavaClass(
                parents=tuple(filter(None, (row['super'], *row['interfaces']))),
                abstract=bool(row['abstract']),
                outer=row['outer'],
            )
            for row in report['classes']
        },
        broken_classes={b['class']: b['signature'] for b in broken if b['method'] is None},
        broken_methods={
            (b['class'], b['method'], tuple(b['parameters'])): b['signature']
            for b in broken
            if b['method'] is not None
        },
    )


# Classify javac's errors; implements `coevo.languages.measures.ErrorClassifier`.
#
# A signature is the key of a message in javac's compiler.properties, without `compiler.err.`, and
# the symbol concerned. Where the key does not reveal that a constructor is concerned, the symbol
# decides.

_CLASSES: Mapping[ErrorClass, str] = {
    ErrorClass.FINAL: r'cant\.assign\S*|cant\.ref\.non\.effectively\.final\.var'
    r'|local\.var\.accessed\.from\.icls\S*|var\.might\.(already\.)?be\.assigned\S*'
    r'|\S+\.may\.not\.be\.assigned|try\.with\.resources\.expr\.effectively\.final\.var',
    ErrorClass.IMPORTS: r'doesnt\.exist|import\.\S+|static\.imp\.\S+|cant\.resolve\.import\S*'
    r'|package\.not\.visible|module\.not\.found\S*|cant\.access',
    ErrorClass.OVERRIDE: r'does\.not\.override\S*|method\.does\.not\.override\S*|override\.\S+'
    r'|static\.methods\.cannot\.be\.annotated\S*|name\.clash\S*|cant\.inherit\S*|non\.sealed\S*'
    r'|signature\.doesnt\.match\.\S+|anonymous\.diamond\.method\S+|types\.incompatible\S*|concrete\.inheritance\S*|intf\.expected\S*|no\.intf\.expected\S*',
    ErrorClass.ACCESS: r'report\.access|not\.def\.\S+|illegal\.enum\.static\.ref',
    ErrorClass.INSTANTIATION: r'abstract\.cant\.be\.(instantiated|accessed\S*)|enum\.cant\.be\.instantiated'
    r'|encl\.class\.required|anon\.class\.impl\S*|enum\.no\.\S+|cant\.apply\.diamond\S*',
    ErrorClass.TYPES: r'prob\.found\.req|incompatible\S*|incomparable\.types|operator\.cant\S*'
    r'|cant\.apply\.symbols?|unexpected\.type|array\.req\.but\.found|illegal\.initializer\.\S+'
    r'|not\.within\.bounds|type\.found\.req|cant\.deref|foreach\.not\.applicable\S*|invalid\.mref'
    r'|improperly\.formed\.\S+|wrong\.number\.type\.args|int\.number\.too\.large'
    r'|void\.not\.allowed\.here|type\.doesnt\.take\.params|cant\.infer\.local\.var\.type',
    ErrorClass.CANNOT_FIND_SYMBOL: r'cant\.resolve\S*|encl\.class\.not\.found|undef\.label',
    ErrorClass.SYNTAX: r'already\.defined\S*|duplicate\.class|class\.public\.should\.be\.in\.file'
    r'|missing\.ret\.stmt|missing\.meth\.body\S*|(intf|abstract)\.meth\.cant\.have\.body|empty\.char\.lit'
    r'|illegal\.combination\.of\.modifiers'
    r'|mod\.not\.allowed\.here|repeated\.modifier|else\.without\S*|break\.outside\S*|unreachable\S*'
    r'|(ret|cont)\.outside\.\S+|call\.must\.\S+|no\.encl\.instance\S*|local\.enum\S*',
}
_PATTERNS = tuple((name, re.compile(pattern)) for name, pattern in _CLASSES.items())
_OF_CONSTRUCTORS = re.compile(r'constructor |no suitable constructor ')
_TOLD_BY_SYMBOL = re.compile(r'cant\.(apply\.symbols?|resolve\S*)')


def classify_error(signature: str) -> ErrorClass:
    """Return the class of a compile error; `OTHER` if none fits.

    `signature` is the key of javac's message and then the symbol concerned.
    """
    code, _, symbol = signature.partition(' ')
    if is_syntax_error(signature):
        return ErrorClass.SYNTAX
    if _TOLD_BY_SYMBOL.fullmatch(code) and _OF_CONSTRUCTORS.match(symbol):
        return ErrorClass.INSTANTIATION
    matching_classes = (name for name, pattern in _PATTERNS if pattern.fullmatch(code))
    return next(matching_classes, ErrorClass.OTHER)
