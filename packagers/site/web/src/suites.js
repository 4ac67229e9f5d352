// Evaluations of suites, of a family of tasks: outcomes, and measures of all tests of a file together.

import { attempts } from './attempts.js'
import { figuresExplained, percent, scoredOn, who } from './board.js'
import { count, h, plural, scrolling } from './dom.js'

// How the test file is at the start.
export const STARTS = { absent: 'absent', as_is: 'as it is', injected: 'one with a defect', removed: 'without some tests', older: 'one from before the code changed', older_test: 'an older one', old: 'that of the old revision', old_code: 'that of the new revision, the code that of the old one' }
const OUTCOMES = ['success', 'partly', 'regression', 'exec_fail', 'cmpl_fail', 'no_tests', 'no_change', 'empty', 'hrns_fail']
const OUTCOMES_TOLD = [
  ['success', 'every test passes.'],
  ['partly', 'some tests pass and some do not.'],
  ['regression', 'the targets pass, but a test that passed at the start does not.'],
  ['exec fail', 'at least one test compiles, but none passes.'],
  ['cmpl fail', 'no test compiles.'],
  ['no tests', 'the file has no tests, or all of them are skipped.'],
  ['no change', 'the patch is empty or leaves the file unchanged.'],
  ['empty', 'there is no test file, or it is empty.'],
  ['hrns fail', 'there is no patch, or it cannot be graded.'],
]
const MAINTAINED = {
  done: 'Done', missed_updates: 'Missed updates', false_edits: 'False edits', harmed: 'Harmed', wrong_deletions: 'Wrong deletions',
  missed_deletions: 'Missed deletions', additions: 'Additions',
}
const IMPLEMENT = { strict: 'Strict', overfitted: 'Overfitted', kept: 'Kept', siblings: 'Siblings', variants: 'Variants' }
const MEASURES = { lines: 'Lines', branches: 'Branches', methods: 'Methods', mutation: 'Mutants' }

export function suites(report, name) {
  return report.families?.find(one => one.family === name)
}

// Suites: their outcomes, and each measure by both averages, whose numbers differ.
export function families(name, kinds, reports, month) {
  const rows = reports.filter(report => suites(report, name)).map(report => ({ report, found: suites(report, name) }))
  const score = ({ found }) => (found.maintenance?.done ?? found.success).value ?? -1
  rows.sort((one, other) => score(other) - score(one))
  return h('div', { class: 'leaderboard' },
    h('h1', {}, 'Leaderboard'),
    h('p', {}, name === 'implement' ? 'Code is judged by the tests of a change, shown and not shown. Below each figure the ends of its 95 % interval, bootstrapped over repositories.' : 'A suite is judged by all of its tests. Below each figure the ends of its 95 % interval, bootstrapped over repositories.'),
    kinds,
    section('outcomes', name === 'implement' ? 'Outcomes of code' : 'Outcomes of suites', table(
      ['Harness and model', name === 'implement' ? 'Tasks' : 'Suites', 'Success%', 'Ran%', 'Builds%', 'Passing%', ...OUTCOMES.map(one => one.replace('_', ' ')), 'Trouble', 'Set', 'Predictions'],
      rows.map(({ report, found }) => [
        who(report), figure(count(found.tasks)),
        ...['success', 'ran', 'builds', 'passing'].map(one => estimate(found[one], percent)),
        ...OUTCOMES.map(one => figure(count(found.outcomes[one] ?? 0))),
        figure(count(found.infra)), hash(report.tasks_sha256), hash(report.predictions_sha256),
      ]),
    ), 'Success: every test passes. Ran: a test compiled and was run. Builds: every test compiles.'),
    maintained(rows),
    implemented(rows),
    ...Object.entries(['maintenance', 'implement'].includes(name) ? {} : MEASURES).map(([measure, title]) => section(measure, title, table(
      ['Harness and model', 'Over all', 'N', 'Over those that ran', 'N ran', 'Start', 'Gold', 'Gain', 'Unknown'],
      rows.map(({ report, found: { [measure]: one } }) => [
        who(report), estimate(one.over_all, percent), figure(count(one.over_all.units)), estimate(one.over_ran, percent),
        figure(count(one.over_ran.units)), estimate(one.start, percent), estimate(one.gold, percent), estimate(one.gain, percent), figure(count(one.unknown)),
      ]),
    ), measure === 'lines' ? 'Over all: a suite that did not run counts as 0. Over those that ran: they are other tasks for each model, and easier ones. Gain: beyond the start, and 0 for a suite of which not every test passes.' : null)),
    starts(rows),
    attempts(name, reports),
    figuresExplained([...OUTCOMES_TOLD, ['Trouble', 'tasks at which coevo itself failed: in no figure.'], ['Set', 'the first digits of the SHA-256 of the list of tasks.'], ['Predictions', 'the first digits of the SHA-256 of what was handed in.']]),
    scoredOn(reports, month),
  )
}

// What became of each test of files that were to be maintained: rates over tests, each with its number.
function maintained(rows) {
  const told = rows.filter(({ found }) => found.maintenance)
  if (!told.length) return null
  return section('maintained', 'What became of each test', table(
    ['Harness and model', ...Object.values(MAINTAINED).flatMap(title => [`${title}%`, 'N']), 'Unknown'],
    told.map(({ report, found: { maintenance: one } }) => [
      who(report), ...Object.keys(MAINTAINED).flatMap(rate => [estimate(one[rate], percent), figure(count(one[rate].units))]),
      figure(count(one.unknown)),
    ]),
  ), 'Done is over tasks: nothing was missed, and nothing that had to stay was touched. All others are over tests. Missed updates: the change breaks them, and they do not pass. False edits: they had to stay as they were, and have another text, are weaker, broken or gone. Harmed: weaker, broken or gone, also of those that gold rewrites.')
}

// What holds of code beyond the tests that it was written for: rates, each with its number.
function implemented(rows) {
  const told = rows.filter(({ found }) => found.implement)
  if (!told.length) return null
  return section('implemented', 'Beyond the targets', table(
    ['Harness and model', ...Object.values(IMPLEMENT).flatMap(title => [`${title}%`, 'N'])],
    told.map(({ report, found: { implement: one } }) => [
      who(report), ...Object.keys(IMPLEMENT).flatMap(rate => [estimate(one[rate], percent), figure(count(one[rate].units))]),
    ]),
  ), 'Strict: of tasks that have tests which are not shown, those whose code is a success and holds for these, too. Overfitted: of such tasks that are a success, those that do not hold for them. Kept: tests that passed before and still pass. Siblings: targets of other test files of the change. Variants: targets with other literals, which end as with the code of the developers.')
}

// What suites gain on each start, of families whose tasks start in several ways.
function starts(rows) {
  const split = rows.flatMap(({ report, found }) => (found.starts ?? []).map(start => ({ report, start })))
  if (new Set(split.map(({ start }) => start.start_builder)).size < 2) return null
  return section('starts', 'By start', table(
    ['Harness and model', 'Start', 'Suites', 'Success%', 'Lines: start', 'Gold', 'Gain', 'Mutants: start', 'Gold', 'Gain'],
    split.map(({ report, start }) => [
      who(report), h('td', {}, start.scenario ? `${start.scenario}, ${STARTS[start.start_builder] ?? start.start_builder}` : start.start_builder),
      figure(count(start.tasks)), estimate(start.success, percent),
      ...[start.lines, start.mutation].flatMap(one => [one.start, one.gold, one.gain].map(found => estimate(found, percent))),
    ]),
  ))
}

function estimate(found, shown) {
  if (typeof found?.value !== 'number') return figure('–')
  const interval = found.low === null ? null : h('small', {}, `${shown(found.low)} to ${shown(found.high)}`)
  return h('td', { class: 'figure', title: plural(found.units, 'unit') }, shown(found.value), interval)
}

function figure(text) {
  return h('td', { class: 'figure' }, text)
}

function section(id, title, content, note = null) {
  return content && h('section', { id },
    h('h2', {}, title),
    note && h('p', { class: 'note' }, note),
    scrolling(title, content),
  )
}

function table(headings, rows) {
  const figures = headings.map((_, i) => rows.every(row => row[i].className === 'figure'))
  return h('table', { class: 'answer' },
    h('thead', {}, h('tr', {}, ...headings.map((heading, i) => h('th', { scope: 'col', class: figures[i] ? 'figure' : null }, heading)))),
    h('tbody', {}, ...rows.map(row => h('tr', {}, ...row))),
  )
}

function hash(sum) {
  return h('td', { title: sum }, h('code', {}, sum.slice(0, 8)))
}
