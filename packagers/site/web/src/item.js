// One task, or one test method: what it is, its two changes side by side, its cells.

import { write } from './address.js'
import { copyButton, copyable } from './copy.js'
import { shownMinute } from './dates.js'
import { diff } from './diff.js'
import { breakable, count, h, plural, scrolling } from './dom.js'
import { commitAddress, compareAddress } from './hosts.js'
import { kindOf, sentence, told } from './kinds.js'
import { CELLS } from './month.js'
import { STARTS } from './suites.js'

const TITLES = {
  t_old_c_old: ['Old tests', 'old code'],
  t_new_c_new: ['New tests', 'new code'],
  t_old_c_new: ['Old tests', 'new code'],
  t_new_c_old: ['New tests', 'old code'],
}
const BROKEN = ['fail', 'error', 'timeout', 'compile_error']

export async function taskView(month, id, months) {
  const { tasks } = await month.load()
  const i = tasks.task_id.indexOf(id)
  if (i < 0) return missing(month, months, ['task', id], ['tasks', 'task_id'])
  const { task, methods } = await month.task(i)
  const kind = kindOf(task)
  const single = kind === task.track
  return h('article', { class: 'item' },
    h('p', { class: 'over' }, h('span', { class: 'chip' }, kind), ' ', task.repo),
    h('h1', {}, task.test_file.split('/').at(-1)),
    h('p', { class: 'path' }, breakable(task.test_file)),
    h('p', {}, sentence(kind)),
    withheld(month, task, [task.test_patch, task.source_patch]) ? absent(month, task, task.url) : null,
    facts([
      ['Committed', shownMinute(task.new_committer_date)],
      ['Answer public since', publicSince(task, task.contamination_date)],
      ['Code public since', shownMinute(task.code_first_seen)],
      ['Revisions', revisions(task.url, task)],
      ['The commit', change(task.url, task)],
      ['Licence', task.license ?? 'unknown'],
      ['Module', task.module === '.' ? null : task.module],
      ['Focal method', task.focal_method && breakable(task.focal_method)],
      ['Track of its tests', kind === 'implement' && task.track],
      ['Focus', task.focus && task.focus.map(one => one.declaration).join(', ')],
      ['Unit', task.unit],
      ['Tests that execute it', task.executing_tests == null ? null : `${task.executing_tests} in ${plural(Number(task.executing_files), 'file')}`],
      ['Graded by', task.demanded && demanded(task.demanded)],
      ['At the start', !single && `the test file is ${STARTS[task.start_builder] ?? task.start_builder}`],
      ['Its defect', task.defect && task.defect.replaceAll('_', ' ')],
      ...suite(task.gold_adequacy),
      ['Walk', task.walk],
      ['Gold tests reach', covered(task)],
      ['Gold tests kill', share(task.mutation_score_gold, 'of the mutants of the changed methods')],
      ['Start state shows', share(task.leak, 'of the text of the gold tests, in what the pair added elsewhere')],
      ['Gold reaches', task.reached && [...task.reached].join(', ')],
      ['Not verified', doubts(task).join('; ')],
      ['Also undone at the start', siblings(task.siblings)],
      ['Also at', task.also_at.length ? plural(task.also_at.length, 'other pair') : null],
      ['In snapshots since', task.released],
      ['Task', copyable(task.task_id, 'the id of the task')],
    ]),
    others(month, tasks, i),
    start(month, task),
    patches(task),
    single ? cells(methods) : null,
    task.focus ? null : dependencies(task.dependencies),
    environment(task.environment),
  )
}

// What the columns behind the view `verified` object to.
function doubts(task) {
  return [
    task.trivial && 'a trivial change',
    task.moved && 'the tests only moved',
    task.focus_agreed === false && 'the assertions do not reach what the prompt names',
    task.shown_by?.length && `the start state shows the form (${[...task.shown_by].join(', ').replaceAll('_', ' ')})`,
  ].filter(Boolean)
}

// Of `ID.WALK`, or of an id alone the first walk that has it.
function place(month, key) {
  const [id, walk] = key.split('.')
  const walks = walk ? [walk] : ['parents', 'first-parent', 'states', 'window']
  return walks.map(one => month.places.get(`${id} ${one}`)).find(i => i !== undefined)
}

export async function methodView(month, key, months) {
  const { methods, tasks } = await month.load()
  const i = place(month, key)
  if (i === undefined) return missing(month, months, ['method', key], ['methods', 'method_id'])
  const method = await month.method(i)
  const task = methods.task_id[i]
  const url = await month.url(methods.repo[i])
  const hidden = withheld(month, method, [method.old_source, method.new_source])
  return h('article', { class: 'item' },
    h('p', { class: 'over' }, h('span', { class: 'chip' }, methods.label[i] ?? 'no label'), ' ', methods.repo[i]),
    h('h1', {}, breakable(`${simple(methods.test_class[i])}#${methods.test_method[i]}`)),
    h('p', { class: 'path' }, breakable(methods.test_file[i])),
    hidden ? absent(month, method, url) : null,
    facts([
      ['Committed', shownMinute(methods.committed[i])],
      ['Answer public since', publicSince(method, methods.contamination_date[i])],
      ['Change', method.change.replace('_', ' ')],
      ['Cause', method.cause],
      ['Revisions', revisions(url, method)],
      ['The commit', change(url, method)],
      ['Module', method.module === '.' ? null : method.module],
      ['Focal method', method.focal_method && breakable(method.focal_method)],
      ['Walk', method.walk],
      ['Task', task && tasks.task_id.includes(task) ? h('a', { href: write('task', { month: month.address }, task) }, task) : 'none'],
      ['Duplicate of', method.duplicate_of],
      ['Nearly the same as', method.near_duplicate_of],
      ['Method', copyable(method.method_id, 'the id of the method')],
    ]),
    hidden ? null : h('div', { class: 'diffs' }, source('Old test', method.old_source, 'The old revision has no such test.'), source('New test', method.new_source, 'The new revision has no such test.')),
    cells([method]),
    dependencies(method.dependencies),
  )
}

// Where it was looked for, in words.
const SEARCHED = { with_pulls: 'branches, tags and pull requests', branches_only: 'branches and tags', shallow: 'a shallow clone' }

function publicSince({ contamination_basis: basis }, date) {
  return `${shownMinute(date)}${basis ? ` (searched: ${SEARCHED[basis] ?? basis})` : ''}`
}

const simple = name => name.split('.').at(-1)

// Of what is not in the month: why it is gone, if that is known, and which months have it.
async function missing(month, months, [view, key], [table, column]) {
  const [id] = key.split('.')
  const [withdrawn, ...others] = await Promise.all([
    month.tables.withdrawn.columns(['table', 'id', 'reason', 'month']),
    ...months.filter(one => one !== month).map(async one => ({ one, ids: (await one.tables[table].columns([column]))[column] ?? [] })),
  ])
  const at = (withdrawn.id ?? []).indexOf(id)
  const found = others.filter(({ ids }) => ids.includes(id)).map(({ one }) => one)
  return h('div', { class: 'empty' },
    h('p', { class: 'big' }, `There is no ${view === 'task' ? 'task' : 'test method'} ${id} in ${month.name}.`),
    at < 0 ? null : h('p', {}, `It was withdrawn in ${withdrawn.month[at]}: ${withdrawn.reason[at].replaceAll('_', ' ')}.`),
    found.length
      ? h('p', {}, 'It is in ', found.flatMap((one, i) => [i ? ', ' : '', h('a', { href: write(view, { month: one === months[0] ? '' : one.name }, key) }, one.name)]), '.')
      : h('p', {}, 'No other snapshot here has it.'),
    h('p', {}, h('a', { href: write('explore', { month: month.address }) }, `All tasks of ${month.name}`)),
  )
}

function facts(pairs) {
  const known = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false)
  return h('dl', { class: 'facts' }, ...known.map(([name, value]) => {
    const shown = h('dd', {}, value)
    return h('div', { class: shown.textContent.length > 60 ? 'long' : null }, h('dt', {}, name), shown)
  }))
}

// Both commits, as links where the host is known to show them.
function revisions(url, { old_rev: old, new_rev: now }) {
  const link = revision => {
    const address = commitAddress(url, revision)
    const text = h('code', {}, revision.slice(0, 10))
    return address ? h('a', { href: address, rel: 'noreferrer' }, text) : text
  }
  return [link(old), ' → ', link(now)]
}

function change(url, { old_rev: old, new_rev: now }) {
  const address = compareAddress(url, old, now)
  return address && h('a', { href: address, rel: 'noreferrer' }, `its diff at ${new URL(address).hostname}`)
}

// The paper divides by the lines of text of the changed methods, with braces, comments and blank lines.
function covered({ code_coverage_gold: code, coverage_gold: text }) {
  const all = share(text, 'of all their lines of text, which the paper divides by')
  if (code === null || code === undefined) return all
  return [share(code, 'of the lines with code in the changed methods'), all && h('small', {}, all)].filter(Boolean)
}

function others(month, tasks, i) {
  const found = []
  for (let j = 0; j < tasks.length; j++) {
    if (j !== i && tasks.pair_id[j] === tasks.pair_id[i] && tasks.walk[j] === tasks.walk[i]) found.push(j)
  }
  return found.length ? h('section', { class: 'others' },
    h('h2', {}, 'Other tasks of this pair'),
    h('ul', {}, ...found.map(j => h('li', {}, h('span', { class: 'chip' }, tasks.kind[j]),
      h('a', { href: write('task', { month: month.address }, tasks.task_id[j]) }, breakable(tasks.test_file[j].split('/').at(-1))), ' ', breakable(told(tasks.tests[j], tasks.kind[j]))))),
  ) : null
}

// What an agent is given: the prompt as it stands, and how to get the start state.
function start(month, task) {
  const command = `coevo checkout ${month.name} ${task.task_id} work`
  const filled = withheld(month, task, [task.test_patch, task.source_patch])
    ? h('p', {}, 'The start state has code of others, so fill in the texts of this task first, from a public clone: ', copyable(`coevo get ${month.name} --only-tasks ${task.task_id}`, 'the command that fills them in'))
    : null
  const file = task.start_file_sha256
    ? ['The test file at the start has the SHA-256 ', h('code', {}, task.start_file_sha256), '.']
    : ['The test file does not exist at the start.']
  return h('section', { class: 'start' },
    h('h2', {}, 'Start'),
    h('p', {}, ...file),
    filled,
    h('p', {}, 'This writes the start state as a repository of one commit: ', copyable(command, 'the command')),
    task.prompt ? h('details', {},
      h('summary', {}, `The prompt, version ${task.prompt_version}`),
      h('p', {}, ...copyButton(task.prompt, 'the prompt')),
      h('pre', { class: 'code prompt', tabindex: '0' }, task.prompt),
    ) : null,
  )
}

function siblings(found) {
  const undone = (found ?? []).filter(one => one.undone !== 'stays')
  const names = undone.flatMap(one => one.test_methods)
  return names.length ? `${plural(names.length, 'test')} for which other tasks of this pair ask: ${names.join(', ')}` : null
}

function share(value, of) {
  return value === null || value === undefined ? null : `${Math.round(value * 100)} % ${of}`
}

// What the developers' suite is worth; a class without branches has no share of them.
function suite(found) {
  if (!found) return []
  const part = (some, all, of) => (all ? `${count(Number(some))} of ${count(Number(all))} ${of}` : null)
  return [
    ['Gold suite', part(found.passing, found.tests, 'tests pass')],
    ['It covers', part(found.covered_lines, found.lines, 'lines with code')],
    ['Branches', part(found.covered_branches, found.branches, 'taken')],
    ['Methods', part(found.covered_methods, found.methods, 'executed')],
    ['Mutants', part(found.killed, found.mutants, 'killed')],
  ]
}

function cells(methods) {
  const heads = CELLS.map(cell => h('th', { scope: 'col' }, TITLES[cell][0], h('br'), `on ${TITLES[cell][1]}`))
  return h('section', { class: 'cells' },
    h('h2', {}, 'Cells'),
    h('p', { class: 'note' }, 'What each test method did with the tests of one revision on the code of another, and how many runs agree.'),
    scrolling('Cells', h('table', {},
      h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Test method'), ...heads)),
      h('tbody', {}, ...methods.map(method => h('tr', {},
        h('th', { scope: 'row' }, breakable(method.test_method), h('small', {}, [method.label, method.cause].filter(Boolean).join(', '))),
        ...CELLS.map(cell => h('td', { 'data-name': `${TITLES[cell][0]} on ${TITLES[cell][1]}` }, ...outcome(method, cell))),
      ))),
    )),
  )
}

function outcome(method, cell) {
  const value = method[cell]
  if (!value) return [h('span', { class: 'none' }, 'not run')]
  const runs = method[`${cell}_runs`]
  const passes = method[`${cell}_passes`]
  const unit = method[`${cell}_unit`]
  const isolated = method.isolated?.[cell]
  const agree = value === 'compile_error' ? null : value === 'pass' ? `${passes} of ${runs} runs` : `${runs - passes} of ${runs} runs`
  return [
    h('span', { class: BROKEN.includes(value) ? 'outcome broken' : value === 'pass' ? 'outcome pass' : 'outcome' }, value.replace('_', ' ')),
    agree && h('small', {}, agree),
    unit && unit !== value ? h('small', {}, `whole module: ${unit.replace('_', ' ')}`) : null,
    isolated && isolated !== value ? h('small', {}, `alone: ${isolated.replace('_', ' ')}`) : null,
    method[`${cell}_signature`] && h('small', { class: 'signature' }, breakable(method[`${cell}_signature`])),
  ].filter(Boolean)
}

function dependencies(found) {
  if (!found?.length) return h('section', {}, h('h2', {}, 'Dependencies'), h('p', { class: 'note' }, 'None of the changed declarations.'))
  const yes = value => (value === null || value === undefined ? 'unknown' : value ? 'yes' : 'no')
  const heads = ['Declaration', 'Rank', 'Change', 'Coupled by', 'Runs at old', 'Runs at new']
  const rows = [...found].sort((one, other) => Number(one.rank - other.rank)).map(one => h('tr', {},
    h('td', { class: 'wide' }, h('code', {}, one.declaration || one.name), h('small', {}, `${one.file}:${one.start_line}`)),
    ...[one.rank, one.revised, one.coupled_by ?? '', yes(one.executed_old), yes(one.executed_new)].map((value, i) =>
      h('td', { 'data-name': heads[i + 1] }, String(value))),
  ))
  return h('section', {},
    h('h2', {}, 'Dependencies'),
    h('p', { class: 'note' }, 'Production declarations that the pair changed and the tests depend on.'),
    scrolling('Dependencies', h('table', { class: 'pieces' }, h('thead', {}, h('tr', {}, ...heads.map(head => h('th', { scope: 'col' }, head)))), h('tbody', {}, ...rows))),
  )
}

function environment(found) {
  if (!found) return null
  return h('section', {},
    h('h2', {}, 'Environment'),
    facts([
      ['Runtime', found.runtime],
      ['Build tool', found.build_tool],
    ]),
    found.test_command ? h('dl', { class: 'commands' },
      h('dt', {}, 'To build, at the root of the start state'), h('dd', {}, copyable(found.compile_command, 'the command that builds')),
      h('dt', {}, 'To run the tests of the task'), h('dd', {}, copyable(found.test_command, 'the command that tests')),
    ) : null,
    found.libraries.length ? h('details', {},
      h('summary', {}, `Libraries: ${count(found.libraries.length)}`),
      h('ul', { class: 'libraries' }, ...found.libraries.map(one => h('li', {}, h('code', {}, one.coordinates)))),
    ) : null,
  )
}

// The labelled tests by which code is graded, as one line.
function demanded(tests) {
  const of = role => tests.filter(one => one.role === role).map(one => one.test_method).join(', ')
  const hidden = of('sibling')
  return `${of('target')}${hidden ? `; not shown: ${hidden}` : ''}`
}

// What is shown of texts; a row of which they are withheld has none.
function patches(task) {
  const single = kindOf(task) === task.track
  const found = [
    typeof task.test_patch === 'string' && (single || task.test_patch) ? diff('Change of the test', task.test_patch) : null,
    typeof task.source_patch === 'string' && !task.focus ? diff('Change of the source', task.source_patch) : null,
  ].filter(Boolean)
  if (!found.length) return null
  const note = single ? h('p', { class: 'note' }, 'The change of the test is that of the whole test file, from the start state to the new revision: it may have tests of other tasks of this pair, and what else the commit changed there.') : null
  return [note, h('div', { class: 'diffs' }, ...found)]
}

// Whether the texts of a row are withheld; older snapshots do not say it row by row.
function withheld(month, row, texts) {
  return row.texts_withheld ?? (Boolean(month.entry.withheld) && texts.every(text => text === null || text === undefined))
}

// Says that texts are withheld, and where they are to be seen.
function absent(month, row, url) {
  const address = compareAddress(url, row.old_rev, row.new_rev)
  return h('div', { class: 'withheld', role: 'note' },
    h('p', {}, h('strong', {}, 'The texts are withheld here.'), ' This row comes without the code of others: neither tests, patches nor prompt. ',
      address ? h('a', { href: address, rel: 'noreferrer' }, `See the change at ${new URL(address).hostname}`) : 'The revisions below say where the change is.'),
    h('p', { class: 'note' }, 'To have those of all rows in the data, fill the edition from public clones: ', copyable(`coevo get ${month.name}`, 'the command')),
  )
}

function source(title, text, none) {
  return h('section', { class: 'diff' }, h('h2', {}, title),
    text ? h('pre', { class: 'code', tabindex: '0' }, dedented(text)) : h('p', { class: 'note' }, none))
}

// A source begins at its method's first word; the lines below it still have their indentation.
function dedented(text) {
  const [first, ...rest] = text.split('\n')
  const depths = rest.filter(line => line.trim()).map(line => line.length - line.trimStart().length)
  const least = depths.length ? Math.min(...depths) : 0
  return [first, ...rest.map(line => line.slice(Math.min(least, line.length - line.trimStart().length)))].join('\n')
}
