// The scores of agents on a month's tasks: what the reports of their evaluations say, side by side.

import { write } from './address.js'
import { count, h, plural } from './dom.js'
import { steps } from './plot.js'

const TRACKS = { generation: 'Test generation', update: 'Test update', repair: 'Test repair' }
const FAMILIES = { class: 'Tests of a class' }
const OUTCOMES = ['success', 'partly', 'exec_fail', 'cmpl_fail', 'no_tests', 'no_change', 'empty', 'hrns_fail']
const MEASURES = { lines: 'Lines', branches: 'Branches', methods: 'Methods', mutation: 'Mutants' }

// Heading, whether more is better, and where the figure stands in a track of a report. The paper's
// columns (Table 3), then ours.
const COLUMNS = [
  ['Success%', true, track => track.macro.success],
  ['Redundant%', false, track => track.macro.redundant],
  ['ExecFail%', false, track => track.macro.exec_fail],
  ['CmplFail%', false, track => track.macro.cmpl_fail],
  ['HrnsFail%', false, track => track.macro.hrns_fail],
  ['CovOnPass', true, track => track.coverage.pred],
  ['CodeCovOnPass', true, track => track.code_coverage.pred],
  ['MutOnPass', true, track => track.mutation.pred],
  ['SuccessStrict%', true, track => track.beyond.success_strict],
  ['Vacuous%', false, track => track.beyond.vacuous],
]

export async function leaderboard(month, limits) {
  const reports = month.entry.reports ? await month.reports() : []
  if (!reports.length) return none(month)
  const tracks = Object.keys({ ...TRACKS, ...FAMILIES }).filter(name => reports.some(report => of(report, name) ?? suites(report, name)))
  const name = tracks.includes(limits.tracks[0]) ? limits.tracks[0] : tracks[0]
  const kinds = h('nav', { class: 'kinds', 'aria-label': 'Track' }, ...tracks.map(one =>
    h('a', { href: write('leaderboard', { month: limits.month, tracks: [one] }), 'aria-current': one === name ? 'true' : null }, TRACKS[one] ?? FAMILIES[one])))
  if (name in FAMILIES) return families(month, name, kinds, reports)
  const rows = reports.filter(report => of(report, name)).map(report => ({ report, track: of(report, name) }))
  rows.sort((one, other) => success(other) - success(one))
  const sets = new Set(rows.map(({ report }) => report.tasks_sha256)).size
  return h('div', { class: 'leaderboard' },
    h('h1', {}, 'Leaderboard'),
    h('p', {}, 'Means over tasks; below each the ends of its 95 % interval, bootstrapped over repositories. The best of a column is bold.'),
    sets > 1 ? h('p', { class: 'note' }, 'Not all of these were scored on the same tasks: only rows with the same set compare.') : null,
    kinds,
    section('outcomes', 'Outcomes and adequacy', outcomes(rows)),
    section('half-years', 'Success% by half-year of the new revision', halfYears(rows)),
    section('costs', 'Under a cap on the cost of a task', costs(rows), 'Over methods. A task above the cap, or of unknown cost, counts as HrnsFail; the means of tokens and cost are over the tasks within it.'),
    section('spent', 'Tasks that cost at most so much', spent(rows)),
    h('p', { class: 'note' }, 'All were scored on the bytes with this manifest: ', h('code', {}, month.entry.manifest_sha256)),
  )
}

function none(month) {
  const { rows, manifest_sha256: sum } = month.entry
  return h('div', { class: 'leaderboard' },
    h('h1', {}, 'Leaderboard'),
    h('div', { class: 'empty' },
      h('p', { class: 'big' }, 'No scores yet.'),
      h('p', {}, `Scores of agents on the ${count(rows.tasks)} tasks of ${month.name} will stand here, each for the tasks that were public only after the model’s training cutoff.`),
      h('p', {}, 'They will name the bytes that were scored by this manifest: ', h('code', {}, sum)),
    ),
  )
}

function of(report, name) {
  return report.tracks.find(track => track.track === name)
}

function suites(report, name) {
  return report.families?.find(one => one.family === name)
}

// Suites: their outcomes, and each measure by both averages, whose numbers differ.
function families(month, name, kinds, reports) {
  const rows = reports.filter(report => suites(report, name)).map(report => ({ report, found: suites(report, name) }))
  rows.sort((one, other) => (other.found.success.value ?? -1) - (one.found.success.value ?? -1))
  return h('div', { class: 'leaderboard' },
    h('h1', {}, 'Leaderboard'),
    h('p', {}, 'A suite is judged by all of its tests. Below each figure the ends of its 95 % interval, bootstrapped over repositories.'),
    kinds,
    section('outcomes', 'Outcomes of suites', table(
      ['Harness', 'Model', 'Suites', 'Success%', 'Ran%', 'Builds%', 'Passing%', ...OUTCOMES.map(one => one.replace('_', ' ')), 'Trouble', 'Set', 'Predictions'],
      rows.map(({ report, found }) => [
        ...who(report), figure(count(found.tasks)),
        ...['success', 'ran', 'builds', 'passing'].map(one => estimate(found[one], percent)),
        ...OUTCOMES.map(one => figure(count(found.outcomes[one] ?? 0))),
        figure(count(found.infra)), hash(report.tasks_sha256), hash(report.predictions_sha256),
      ]),
    ), 'Success: every test passes. Ran: a test compiled and was run. Builds: every test compiles.'),
    ...Object.entries(MEASURES).map(([measure, title]) => section(measure, title, table(
      ['Harness', 'Model', 'Over all', 'N', 'Over those that ran', 'N ran', 'Start', 'Gold', 'Unknown'],
      rows.map(({ report, found: { [measure]: one } }) => [
        ...who(report), estimate(one.over_all, percent), figure(count(one.over_all.units)), estimate(one.over_ran, percent),
        figure(count(one.over_ran.units)), estimate(one.start, percent), estimate(one.gold, percent), figure(count(one.unknown)),
      ]),
    ), measure === 'lines' ? 'Over all: a suite that did not run counts as 0. Over those that ran: they are other tasks for each model, and easier ones.' : null)),
    h('p', { class: 'note' }, 'All were scored on the bytes with this manifest: ', h('code', {}, month.entry.manifest_sha256)),
  )
}

function success({ track }) {
  return track.macro.success.value ?? -1
}

function outcomes(rows) {
  const columns = COLUMNS.filter(([, , figure]) => rows.some(({ track }) => typeof figure(track)?.value === 'number'))
  const best = columns.map(([, more, figure]) => {
    const values = rows.map(({ track }) => figure(track)?.value).filter(value => typeof value === 'number')
    return more ? Math.max(...values) : Math.min(...values)
  })
  return table(
    ['Harness', 'Model', 'Tasks', 'Methods', ...columns.map(([heading]) => heading), 'Trouble', 'Set', 'Predictions'],
    rows.map(({ report, track }) => [
      ...who(report), figure(count(track.tasks)), figure(count(track.methods)),
      ...columns.map(([, , of], i) => estimate(of(track), percent, rows.length > 1 && of(track)?.value === best[i])),
      figure(count(track.infra_methods)), hash(report.tasks_sha256), hash(report.predictions_sha256),
    ]),
  )
}

function halfYears(rows) {
  const all = new Set(rows.flatMap(({ track }) => track.half_years.map(one => one.name)))
  const parts = ['Older', ...[...all].filter(name => /^\d/.test(name)).sort(), 'Unknown'].filter(name => all.has(name))
  return parts.length ? table(
    ['Harness', 'Model', ...parts],
    rows.map(({ report, track }) => [
      ...who(report),
      ...parts.map(name => estimate(track.half_years.find(one => one.name === name)?.macro.success, percent)),
    ]),
  ) : null
}

function costs(rows) {
  const known = rows.filter(({ track }) => track.costs)
  return known.length ? table(
    ['Harness', 'Model', 'Budget', 'Kept', 'Avg tokens', 'Avg cost', 'Success%', 'HrnsFail%'],
    known.flatMap(({ report, track }) => track.costs.caps.map(cap => [
      ...who(report), figure(`$${cap.cap_usd}`), figure(percent(cap.kept)),
      estimate(cap.avg_tokens, value => `${(value / 1000).toFixed(1)}k`), estimate(cap.avg_cost_usd, value => `$${value.toFixed(2)}`),
      estimate(cap.micro.success, percent), estimate(cap.micro.hrns_fail, percent),
    ])),
  ) : null
}

// Of each the share of tasks by what they cost, and the caps (Figure 5).
function spent(rows) {
  const known = rows.filter(({ track }) => track.costs)
  if (!known.length) return null
  const lines = known.map(({ report, track }) => ({
    name: `${names(report, 'harness')}, ${names(report, 'model')}`,
    points: track.costs.curve.map(({ cost_usd: cost, share }) => [cost, share]),
  }))
  const marks = known[0].track.costs.caps.map(({ cap_usd: cap }) => ({ name: `$${cap}`, x: cap }))
  const legend = lines.map(({ name }, i) => h('li', {}, h('span', { class: `swatch line-${i % 6}` }), name))
  return h('figure', {}, steps('Share of tasks by cost', lines, marks), h('figcaption', {}, h('ul', { class: 'legend' }, ...legend)))
}

function who(report) {
  return [h('th', { scope: 'row' }, names(report, 'harness')), h('td', {}, names(report, 'model'))]
}

function names({ systems }, part) {
  return [...new Set(systems.map(system => system[part]).filter(Boolean))].join(', ') || '–'
}

function estimate(found, shown, best = false) {
  if (typeof found?.value !== 'number') return figure('–')
  const interval = found.low === null ? null : h('small', {}, `${shown(found.low)} to ${shown(found.high)}`)
  return h('td', { class: 'figure', title: plural(found.units, 'unit') }, best ? h('strong', {}, shown(found.value)) : shown(found.value), interval)
}

function figure(text) {
  return h('td', { class: 'figure' }, text)
}

function hash(sum) {
  return h('td', { title: sum }, h('code', {}, sum.slice(0, 8)))
}

function percent(value) {
  return `${(value * 100).toFixed(1)}%`
}

function section(id, title, content, note = null) {
  return content && h('section', { id },
    h('h2', {}, title),
    note && h('p', { class: 'note' }, note),
    h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': title }, content),
  )
}

function table(headings, rows) {
  const figures = headings.map((_, i) => rows.every(row => row[i].className === 'figure'))
  return h('table', { class: 'answer' },
    h('thead', {}, h('tr', {}, ...headings.map((heading, i) => h('th', { scope: 'col', class: figures[i] ? 'figure' : null }, heading)))),
    h('tbody', {}, ...rows.map(row => h('tr', {}, ...row))),
  )
}
