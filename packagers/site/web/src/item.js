// One task, or one test method: what it is, its two changes side by side, its cells.

import { write } from './address.js'
import { shownMinute } from './dates.js'
import { diff } from './diff.js'
import { count, h } from './dom.js'
import { CELLS } from './month.js'

const TITLES = {
  told_cold: ['Old tests', 'old code'],
  tnew_cnew: ['New tests', 'new code'],
  told_cnew: ['Old tests', 'new code'],
  tnew_cold: ['New tests', 'old code'],
}
const BROKEN = ['fail', 'error', 'timeout', 'compile_error']

export async function taskView(month, id) {
  const { tasks } = await month.load()
  const i = tasks.task_id.indexOf(id)
  if (i < 0) return missing(month, `There is no task ${id} in ${month.name}.`)
  const { task, methods } = await month.task(i)
  return h('article', { class: 'item' },
    h('p', { class: 'over' }, h('span', { class: 'chip' }, task.focus ? task.family : task.track), ' ', task.repo),
    h('h1', {}, task.test_file.split('/').at(-1)),
    h('p', { class: 'path' }, task.test_file),
    facts([
      ['Committed', shownMinute(task.new_committer_date)],
      ['Answer public since', `${shownMinute(task.contamination_date)}${task.contamination_basis ? ` (${task.contamination_basis})` : ''}`],
      ['Code public since', shownMinute(task.code_first_seen)],
      ['Revisions', [revision(task, task.old_rev), ' → ', revision(task, task.new_rev)]],
      ['Licence', task.license ?? 'unknown'],
      ['Module', task.module === '.' ? null : task.module],
      ['Focal method', task.focal_method],
      ['Focus', task.focus && task.focus.map(one => one.declaration).join(', ')],
      ['At the start', task.focus && `the test file is ${task.start_builder}`],
      ...suite(task.gold_adequacy),
      ['Walk', task.walk],
      ['Gold test covers', share(task.coverage_gold, 'of the lines of its changed methods')],
      ['Of lines with code', share(task.code_coverage_gold, 'of those')],
      ['Gold test kills', share(task.mutation_score_gold, 'of the mutants')],
      ['Start state shows', share(task.leak, 'of the gold tests, in what the pair added elsewhere')],
      ['Undone beside it', siblings(task.siblings)],
      ['Also at', task.also_at.length ? `${count(task.also_at.length)} other pairs` : null],
      ['In snapshots since', task.released],
      ['Task', h('code', {}, task.task_id)],
    ]),
    h('div', { class: 'diffs' }, diff('Change of the test', task.test_patch), task.focus ? null : diff('Change of the source', task.source_patch)),
    task.focus ? null : cells(methods),
    task.focus ? null : dependencies(task.dependencies),
    environment(task.environment),
  )
}

export async function methodView(month, key) {
  const { methods, tasks } = await month.load()
  const split = key.lastIndexOf('.')
  const i = month.places.get(`${key.slice(0, split)} ${key.slice(split + 1)}`)
  if (i === undefined) return missing(month, `There is no test method ${key} in ${month.name}.`)
  const method = await month.method(i)
  const task = methods.task_id[i]
  return h('article', { class: 'item' },
    h('p', { class: 'over' }, h('span', { class: 'chip' }, methods.label[i] ?? 'no label'), ' ', methods.repo[i]),
    h('h1', {}, `${simple(methods.test_class[i])}#${methods.test_method[i]}`),
    h('p', { class: 'path' }, methods.test_file[i]),
    facts([
      ['Committed', shownMinute(methods.committed[i])],
      ['Answer public since', `${shownMinute(methods.contamination_date[i])}${method.contamination_basis ? ` (${method.contamination_basis})` : ''}`],
      ['Change', method.change.replace('_', ' ')],
      ['Cause', method.cause],
      ['Revisions', h('code', {}, `${method.old_rev.slice(0, 10)} → ${method.new_rev.slice(0, 10)}`)],
      ['Module', method.module === '.' ? null : method.module],
      ['Focal method', method.focal_method],
      ['Walk', method.walk],
      ['Task', task && tasks.task_id.includes(task) ? h('a', { href: write('task', { month: month.address }, task) }, task) : 'none'],
      ['Duplicate of', method.duplicate_of],
      ['Nearly the same as', method.near_duplicate_of],
      ['Method', h('code', {}, method.method_id)],
    ]),
    h('div', { class: 'diffs' }, source('Old test', method.old_source), source('New test', method.new_source)),
    cells([method]),
    dependencies(method.dependencies),
  )
}

const simple = name => name.split('.').at(-1)

function missing(month, text) {
  return h('div', { class: 'empty' },
    h('p', { class: 'big' }, text),
    h('p', {}, 'Another snapshot may have it; withdrawn ones stand under ', h('a', { href: write('funnel', { month: month.address }) }, 'Funnel'), '.'),
  )
}

function facts(pairs) {
  const known = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '')
  return h('dl', { class: 'facts' }, ...known.map(([name, value]) => h('div', { class: String(value).length > 60 ? 'long' : null }, h('dt', {}, name), h('dd', {}, value))))
}

function revision({ url }, rev) {
  const short = h('code', {}, rev.slice(0, 10))
  const known = /^https:\/\/[\w.-]+\/[\w./-]+$/.test(url ?? '')
  return known ? h('a', { href: `${url.replace(/(\.git|\/)$/, '')}/commit/${rev}`, rel: 'noreferrer' }, short) : short
}

function siblings(found) {
  const undone = (found ?? []).filter(one => one.undone !== 'stays')
  const names = undone.flatMap(one => one.test_methods)
  return names.length ? `${count(names.length)} other targets of the pair: ${names.join(', ')}` : null
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
    h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Cells' }, h('table', {},
      h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Test method'), ...heads)),
      h('tbody', {}, ...methods.map(method => h('tr', {},
        h('th', { scope: 'row' }, method.test_method, h('small', {}, [method.label, method.cause].filter(Boolean).join(', '))),
        ...CELLS.map(cell => h('td', {}, ...outcome(method, cell))),
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
    method[`${cell}_signature`] && h('small', { class: 'signature' }, method[`${cell}_signature`]),
  ].filter(Boolean)
}

function dependencies(found) {
  if (!found?.length) return h('section', {}, h('h2', {}, 'Dependencies'), h('p', { class: 'note' }, 'None of the changed declarations.'))
  const yes = value => (value === null || value === undefined ? 'unknown' : value ? 'yes' : 'no')
  const rows = [...found].sort((one, other) => Number(one.rank - other.rank)).map(one => h('tr', {},
    h('td', { class: 'figure' }, String(one.rank)),
    h('td', {}, h('code', {}, one.declaration || one.name), h('small', {}, `${one.file}:${one.start_line}`)),
    h('td', {}, one.revised),
    h('td', {}, one.coupled_by ?? ''),
    h('td', {}, yes(one.executed_old)),
    h('td', {}, yes(one.executed_new)),
  ))
  const heads = ['Rank', 'Declaration', 'Change', 'Coupled by', 'Runs at old', 'Runs at new']
  return h('section', {},
    h('h2', {}, 'Dependencies'),
    h('p', { class: 'note' }, 'Production declarations that the pair changed and the tests depend on.'),
    h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Dependencies' },
      h('table', {}, h('thead', {}, h('tr', {}, ...heads.map(head => h('th', { scope: 'col' }, head)))), h('tbody', {}, ...rows))),
  )
}

function environment(found) {
  if (!found) return null
  return h('section', {},
    h('h2', {}, 'Environment'),
    facts([
      ['Runtime', found.runtime],
      ['Build tool', found.build_tool],
      ['Compile', h('code', {}, found.compile_command)],
      ['Test', h('code', {}, found.test_command)],
    ]),
    found.libraries.length ? h('details', {},
      h('summary', {}, `Libraries: ${count(found.libraries.length)}`),
      h('ul', { class: 'libraries' }, ...found.libraries.map(one => h('li', {}, h('code', {}, one.coordinates)))),
    ) : null,
  )
}

function source(title, text) {
  return h('section', { class: 'diff' }, h('h2', {}, title),
    text ? h('pre', { class: 'code', tabindex: '0' }, dedented(text)) : h('p', { class: 'note' }, 'It does not stand there.'))
}

// A source begins at its method's first word; the lines below it still have their indentation.
function dedented(text) {
  const [first, ...rest] = text.split('\n')
  const depths = rest.filter(line => line.trim()).map(line => line.length - line.trimStart().length)
  const least = depths.length ? Math.min(...depths) : 0
  return [first, ...rest.map(line => line.slice(Math.min(least, line.length - line.trimStart().length)))].join('\n')
}
