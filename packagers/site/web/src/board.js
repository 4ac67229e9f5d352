// One table of the leaderboard: evaluations of the same test methods, ranked.

import { difference } from './bootstrap.js'
import { count, h, plural } from './dom.js'
import { ranks } from './scores.js'

// Name, heading, and whether more is better. Strict success decides; the paper's columns (Table 3)
// follow, then ours.
const COLUMNS = [
  ['strict', 'SuccessStrict%', true],
  ['success', 'Success%', true],
  ['redundant', 'Redundant%', false],
  ['weakened', 'Weakened%', false],
  ['exec_fail', 'ExecFail%', false],
  ['cmpl_fail', 'CmplFail%', false],
  ['hrns_fail', 'HrnsFail%', false],
  ['coverage', 'CovOnPass', true],
  ['range_coverage', 'RangeCovOnPass', true],
  ['mutation', 'MutOnPass', true],
  ['vacuous', 'Vacuous%', false],
]
const DECIDING = ['strict', 'success']
// The tracks in which a test can have this outcome.
const OF_TRACKS = { redundant: ['generation', 'extension'], weakened: ['extension'] }

// `rows`: [{report, day, tasks, methods, trouble, figures, samples}], all of one set of test methods, so
// that each has as many as its heading says.
export function board(rows, track) {
  const columns = COLUMNS.filter(([name]) => (OF_TRACKS[name] ?? [track]).includes(track) && known(rows, name))
  const first = known(rows, 'strict') ? 'strict' : 'success'
  const ordered = [...rows].sort((one, other) => value(other, first) - value(one, first) || value(other, 'success') - value(one, 'success'))
  const places = ranks(ordered, first)
  const [deciding, rest] = [true, false].map(wanted => columns.filter(([name]) => DECIDING.includes(name) === wanted))
  const trouble = rows.some(row => row.trouble)
  const heads = columns => columns.map(([, heading]) => heading)
  const headings = ['Rank', 'Harness and model', ...heads(deciding), 'Tasks', 'Counted after', ...heads(rest), ...(trouble ? ['Trouble'] : []), 'Predictions']
  const figures = (row, i, columns) => columns.map(([name, heading, more]) =>
    cell(heading, { class: `figure${DECIDING.includes(name) ? '' : ' more'}`, title: plural(row.figures[name].units, 'unit') },
      ...percentage(row.figures[name], leads(ordered, i, name, more)), ...(name === 'strict' ? asked(row) : [])))
  const body = ordered.map((row, i) => h('tr', {},
    cell('Rank', { class: 'figure rank', title: 'By the 95 % intervals of the differences' }, ...(rows.length > 1 ? [rank(places[i])] : [])),
    who(row.report),
    ...figures(row, i, deciding),
    cell('Tasks', { class: 'figure tasks' }, count(row.tasks)),
    cell('Counted after', { class: 'day' }, ...limit(row)),
    ...figures(row, i, rest),
    ...(trouble ? [cell('Trouble', { class: 'figure more' }, count(row.trouble))] : []),
    cell('Predictions', { class: 'more', title: row.report.predictions_sha256 }, h('code', {}, row.report.predictions_sha256.slice(0, 8))),
  ))
  return h('table', { class: 'answer board' },
    h('thead', {}, h('tr', {}, ...headings.map(heading => h('th', { scope: 'col', class: FIGURE.test(heading) ? 'figure' : null }, heading)))),
    h('tbody', {}, ...body),
  )
}

const FIGURE = /%$|OnPass$|^(Rank|Tasks|Trouble)$/

// On a phone a cell says what it is: its heading is out of sight.
function cell(name, properties, ...content) {
  return h('td', { 'data-name': name, ...properties }, ...content)
}

export function known(rows, name) {
  return rows.some(row => typeof row.figures[name].value === 'number')
}

// Of how many of its methods the strict rate is: those of which it can be asked and is known.
function asked(row) {
  return row.asked ? [h('small', {}, `of ${count(row.asked)} of ${plural(row.methods, 'method')}`)] : []
}

function value(row, name) {
  return row.figures[name].value ?? -1
}

function rank([first, last]) {
  return first === last ? String(first) : `${first}–${last}`
}

// Whether a row is better than every other one, by the interval of the difference: a tie leads nobody.
function leads(rows, at, name, more) {
  if (rows.length < 2 || rows[at].figures[name].value === null) return false
  return rows.every((row, i) => {
    if (i === at) return true
    const { low, high } = difference(row.samples[name], rows[at].samples[name])
    return low !== null && (more ? low > 0 : high < 0)
  })
}

function limit({ report, day }) {
  // A baseline is no model: it was never trained.
  if (!day || day <= '1970-01-01') return ['no limit']
  const systems = report.systems.filter(system => system.cutoff_source)
  const source = systems.find(system => /^https:\/\//.test(system.cutoff_source))
  return [day, source && h('small', {}, h('a', { href: source.cutoff_source, rel: 'noreferrer' }, 'source'))].filter(Boolean)
}

export function who(report) {
  return h('th', { scope: 'row', class: 'who' }, names(report, 'harness'), h('small', {}, names(report, 'model')))
}

// The manifests that evaluations name: an edition's own, or that of its whole release.
export function scoredOn(reports, { entry }) {
  const sums = [...new Set(reports.map(report => report.snapshot_sha256))].sort()
  const what = sum => (sum === entry.release_sha256 ? 'the complete release, which has the same tasks with their texts' : entry.release_sha256 ? 'this edition itself' : 'this snapshot')
  return h('div', { class: 'note scored' }, ...sums.map(sum => h('p', {}, `Scored on ${what(sum)}; the SHA-256 of its manifest: `, h('code', {}, sum))))
}

const FIGURES = [
  ['SuccessStrict%', 'of the methods of which it can be asked: a success that executes the change, reaches an assertion, notices what the developers’ test notices, costs no other test, and does not copy the code.'],
  ['Success%', 'the test passes on the new code each time; of generation and extension it is also broken on the old code.'],
  ['Redundant%', 'it passes on the old code, too.'],
  ['Weakened%', 'it is broken on the old code, but no longer kills a mutant that the old test kills.'],
  ['ExecFail%', 'it compiles, but does not pass.'],
  ['CmplFail%', 'it does not compile.'],
  ['HrnsFail%', 'there is nothing to grade (harness failure): no patch, or one that does not apply.'],
  ['CovOnPass', 'line coverage of the changed code, over its lines with code; of tests that pass.'],
  ['RangeCovOnPass', 'the same by the paper’s equation, which divides by all lines of text, also braces and comments.'],
  ['MutOnPass', 'share of the mutants of the changed code that the test kills; of tests that pass.'],
  ['Vacuous%', 'of the tests that pass, those known to be unable to check the change.'],
  ['Counted after', 'the training cutoff after which a task’s answer has to be public; a baseline that was never trained has no limit.'],
  ['Trouble', 'methods at which coevo itself failed: in no figure.'],
  ['Predictions', 'the first digits of the SHA-256 of what was handed in.'],
]

// What the names of figures mean, for those who ask.
export function figuresExplained(names = FIGURES) {
  return h('details', { class: 'explains' }, h('summary', {}, 'What the figures are'),
    h('dl', {}, ...names.flatMap(([name, text]) => [h('dt', {}, name), h('dd', {}, text)])))
}

export function names({ systems }, part) {
  return [...new Set(systems.map(system => system[part]).filter(Boolean))].join(', ') || '–'
}

export function percentage(found, best = false) {
  if (typeof found?.value !== 'number') return ['–']
  const interval = found.low === null ? null : h('small', {}, `${percent(found.low)} to ${percent(found.high)}`)
  return [best ? h('strong', {}, percent(found.value)) : percent(found.value), interval].filter(Boolean)
}

export function percent(share) {
  return `${(share * 100).toFixed(1)}%`
}
