"""Classify javac's errors; implements `coevo.languages.error_classes.ErrorClassifier`.

A signature is the key of a message in javac's compiler.properties, without `compiler.err.`, and the
symbol concerned. Where the key does not reveal that a constructor is concerned, the symbol decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from coevo.languages.error_classes import ErrorClass
from coevo.languages.java.building.compilation import is_syntax_error

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
