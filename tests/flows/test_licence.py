"""The licence of a revision, in the forms that projects give it."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.git.repository import Repository
from flows.licence import find_spdx_expression
from tests.repos import commit, init

MIT = (Path(__file__).parents[2] / 'flows' / 'demo' / 'harbour' / 'project' / 'LICENSE').read_text()
APACHE = (Path(__file__).parents[2] / 'LICENSE').read_text()
NOTICE = """\
Copyright 2019 Ada

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
"""
MPL = """\
Except where noted otherwise, all of it is released
under the Mozilla Public License v 2.0: https://mozilla.org/MPL/2.0/.
"""
CC0 = 'Creative Commons Legal Code\n\nCC0 1.0 Universal\n'
CC0_AT = 'http://creativecommons.org/publicdomain/zero/1.0/'
MULAN = """\
                     木兰宽松许可证, 第2版

            Mulan Permissive Software License\uff0cVersion 2 (Mulan PSL v2)
            January 2020 http://license.coscl.org.cn/MulanPSL2

Your reproduction, use, modification and distribution of the Software shall be subject to Mulan PSL
v2 (this License) with the following terms and conditions:
"""
EPL_AT = 'https://www.eclipse.org/legal/epl-2.0/'
EPL = f"""\
The harbour is provided to you under the terms and conditions of the Eclipse Public
License Version 2.0 ("EPL"). A copy of the EPL is at [{EPL_AT}]({EPL_AT}).
"""
BSD = """\
Redistribution and use in source and binary forms of the software as well as documentation, with or
without modification, are permitted.
The names of the contributors may not be used to endorse or promote products derived from this
software without specific prior written permission.
"""


def pom(*licences: tuple[str, str]) -> str:
    listed = ''.join(
        f'<license><name>{name}</name><url>{url}</url></license>' for name, url in licences
    )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><licenses>'
        f'{listed}</licenses></project>'
    )


def licence(folder: Path, files: dict[str, str | bytes | None]) -> str | None:
    repo = init(folder / 'repo')
    rev = commit(repo, 'x', {'README': 'x', **files})
    return find_spdx_expression(Repository(repo / '.git'), rev)


FILES: dict[str, tuple[dict[str, str | bytes | None], str | None]] = {
    'a whole text': ({'LICENSE': MIT}, 'MIT'),
    'another name': ({'LICENSE.txt': APACHE}, 'Apache-2.0'),
    'British': ({'Licence.md': MIT}, 'MIT'),
    'the text under a long header': ({'COPYING': 'The harbour is open.\n' * 60 + MIT}, 'MIT'),
    'the short notice alone': ({'LICENSE': NOTICE}, 'Apache-2.0'),
    'cut short': ({'LICENSE': APACHE[:400]}, 'Apache-2.0'),
    'a choice of two': ({'LICENSE': f'Dual licensed.\n{NOTICE}\n{MIT}'}, 'Apache-2.0 OR MIT'),
    'a choice of two, one of which has a file of its own': (
        {'COPYING.txt': CC0, 'LICENSE.txt': f'See {CC0_AT}\nIt is *also* provided under\n{MIT}'},
        'CC0-1.0 OR MIT',
    ),
    'BSD with documentation': ({'LICENSE': BSD}, 'BSD-3-Clause'),
    'a sentence with an address': ({'LICENSE.txt': MPL}, 'MPL-2.0'),
    'a text in two languages': ({'LICENSE': MULAN}, 'MulanPSL-2.0'),
    'a page that names a licence and links it': ({'LICENSE.md': EPL}, 'EPL-2.0'),
    'a page that names one of two licences': (
        {'LICENSE.md': f'{EPL}\nOf the parser:\n{MIT}'},
        'EPL-2.0 AND MIT',
    ),
    'a page that names a second licence without its text': (
        {'LICENSE.md': f'{EPL}\nParts are under the GNU General Public License, version 2.'},
        None,
    ),
    'a link without a naming sentence': ({'LICENSE.md': f'See {EPL_AT}.'}, None),
    'two at once': ({'LICENSE': f'{APACHE}\nOf the parser:\n{MIT}'}, 'Apache-2.0 AND MIT'),
    'a name in the POM': (
        {'pom.xml': pom(('The Apache Software License, Version 2.0', ''))},
        'Apache-2.0',
    ),
    'two in the POM': ({'pom.xml': pom(('MIT License', ''), ('EPL v1.0', ''))}, 'EPL-1.0 OR MIT'),
    'an address in the POM': (
        {'pom.xml': pom(('ours', 'https://opensource.org/licenses/BSD-3-Clause'))},
        'BSD-3-Clause',
    ),
    'an old address': (
        {'pom.xml': pom(('ours', 'http://www.opensource.org/licenses/mit-license.php'))},
        'MIT',
    ),
    'a file says more than a POM': ({'LICENSE': MIT, 'pom.xml': pom(('LGPL 2.1', ''))}, 'MIT'),
    'a file that tells nothing': (
        {'LICENSE': 'Ask us.', 'pom.xml': pom(('LGPL 2.1', ''))},
        'LGPL-2.1',
    ),
    'BSD of no number': ({'pom.xml': pom(('BSD', ''))}, None),
    'all rights reserved': ({'LICENSE': 'Copyright 2019 Ada. All rights reserved.'}, None),
    'a POM that cannot be read': ({'pom.xml': '<project'}, None),
    'a POM in an odd encoding': ({'pom.xml': '<?xml version="1.0" encoding="x-odd"?><p/>'}, None),
    'nothing at all': ({}, None),
    'of a part alone': ({'vendor/LICENSE': MIT}, None),
}


@pytest.mark.parametrize('name', FILES)
def test_the_licence_is_recognised_in_each_form_that_projects_use(
    tmp_path: Path, name: str
) -> None:
    files, found = FILES[name]
    assert licence(tmp_path, files) == found


def test_the_licence_is_read_from_the_given_revision(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repo')
    revs = [
        commit(repo, 'none', {'README': 'x'}),
        commit(repo, 'MIT', {'LICENSE': MIT}),
        commit(repo, 'Apache', {'LICENSE': APACHE}),
    ]
    repository = Repository(repo / '.git')
    assert [find_spdx_expression(repository, rev) for rev in revs] == [None, 'MIT', 'Apache-2.0']
