// The answers to the queries of the paper's statistics, each with its SQL; the funnel as a picture.

import { write } from './address.js'
import { count, h } from './dom.js'
import { upright } from './plot.js'

const TRACKS = ['generation', 'update', 'extension', 'repair']
const WALKS = ['parents', 'first-parent', 'states', 'window', 'single_revision']
// The column of a table whose figures are drawn beside it.
const DRAWN = { labels: 'methods', table_11: 'methods' }
const SHARES = /^(share|kill_rate)/

export async function statistics(month, limits) {
  const answers = (await month.statistics()).filter(answer => answer.name !== 'funnel')
  const found = new Set(answers.flatMap(answer => answer.rows.map(row => row[answer.columns.indexOf('walk')])))
  const walks = WALKS.filter(walk => found.has(walk))
  const walk = walks.includes(limits.walk) ? limits.walk : walks[0]
  return h('div', { class: 'statistics' },
    h('h1', {}, 'Statistics'),
    h('p', {}, 'What TestEvo-Bench says of its data, asked of this snapshot. Each answer is that of one query, which plain DuckDB answers as well.'),
    walks.length > 1 ? h('nav', { class: 'kinds', 'aria-label': 'Walk' }, ...walks.map(one =>
      h('a', { href: write('statistics', { month: limits.month, walk: one === walks[0] ? '' : one }), 'aria-current': one === walk ? 'true' : null }, one))) : null,
    ...answers.map(answer => section(of(answer, walk))),
  )
}

function of(answer, walk) {
  const at = answer.columns.indexOf('walk')
  const without = row => row.filter((_, i) => i !== at)
  return { ...answer, columns: without(answer.columns), rows: answer.rows.filter(row => row[at] === walk).map(without) }
}

function section(answer) {
  const picture = answer.name === 'figure_2' && answer.rows.length ? halfYears(answer) : null
  return h('section', { class: 'statistic', id: answer.name },
    h('h2', {}, answer.title),
    answer.note ? h('p', { class: 'note' }, answer.note) : null,
    picture,
    answer.rows.length ? (picture ? h('details', {}, h('summary', {}, 'As a table'), table(answer)) : table(answer)) : h('p', { class: 'note' }, 'This snapshot has none.'),
    query(answer),
  )
}

function query({ sql }) {
  return h('details', { class: 'sql' }, h('summary', {}, 'The query'), h('pre', { class: 'code', tabindex: '0' }, sql))
}

export function table({ name, title, columns, rows }) {
  const drawn = columns.indexOf(DRAWN[name])
  const most = Math.max(1, ...rows.map(row => row[drawn] ?? 0))
  const figures = columns.map((_, i) => rows.every(row => typeof row[i] !== 'string'))
  const whole = columns.map((_, i) => columns[i] === 'value' || rows.every(row => Number.isInteger(row[i] ?? 0)))
  return h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': title }, h('table', { class: 'answer' },
    h('thead', {}, h('tr', {}, ...columns.map((name, i) => h('th', { scope: 'col', class: figures[i] ? 'figure' : null }, name.replaceAll('_', ' '))), drawn < 0 ? null : h('td', { class: 'drawn' }))),
    h('tbody', {}, ...rows.map(row => h('tr', {}, ...row.map((value, i) => h('td', { class: figures[i] ? 'figure' : null }, shown(value, columns[i], whole[i]))), drawn < 0 ? null : h('td', { class: 'drawn', 'aria-hidden': 'true' }, bar(row[drawn] / most))))),
  ))
}

function shown(value, column, whole) {
  if (value === null) return '–'
  if (typeof value !== 'number') return String(value).replaceAll('_', ' ')
  if (SHARES.test(column)) return `${(value * 100).toFixed(1)} %`
  return whole && Number.isInteger(value) ? count(value) : value.toFixed(2)
}

function halfYears({ rows }) {
  const byName = new Map()
  for (const [name, track, tasks] of rows) {
    const parts = byName.get(name) ?? TRACKS.map(() => 0)
    parts[TRACKS.indexOf(track)] = tasks
    byName.set(name, parts)
  }
  const bars = filled([...byName.keys()]).map(name => ({ name, parts: byName.get(name) ?? TRACKS.map(() => 0) }))
  const total = rows.reduce((sum, row) => sum + row[2], 0)
  const legend = TRACKS.filter(track => rows.some(row => row[1] === track)).map(track =>
    h('li', {}, h('span', { class: `swatch part-${TRACKS.indexOf(track)}` }), track))
  return h('figure', {},
    h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Tasks by half-year' }, upright(`${count(total)} tasks by half-year and track`, bars)),
    h('figcaption', {}, h('ul', { class: 'legend' }, ...legend)),
  )
}

// Half-years without a task between those that have one are gaps, not left out.
function filled(names) {
  const dated = names.filter(name => /^\d/.test(name))
  if (!dated.length) return names
  const number = name => Number(name.slice(0, 4)) * 2 + Number(name.at(-1)) - 1
  const all = []
  for (let at = number(dated[0]); at <= number(dated.at(-1)); at++) all.push(`${Math.floor(at / 2)} H${(at % 2) + 1}`)
  return [...names.filter(name => name === 'Older'), ...all, ...names.filter(name => name === 'Unknown')]
}

export async function funnel(month) {
  const answer = (await month.statistics()).find(one => one.name === 'funnel')
  const stages = new Map()
  for (const [stage, unit, entered, kept, reason, dropped] of answer.rows) {
    const found = stages.get(stage) ?? { stage, unit, entered, kept, reasons: [] }
    if (reason) found.reasons.push([reason, dropped])
    stages.set(stage, found)
  }
  const withdrawn = await month.tables.withdrawn.columns(['table', 'id', 'reason', 'month'])
  return h('div', { class: 'funnel' },
    h('h1', {}, 'Funnel'),
    h('p', {}, 'What entered each stage, what it kept, and why the rest left. Over all walks; the unit changes on the way.'),
    h('ol', {}, ...[...stages.values()].map(stage => step(stage, month.reasons))),
    query(answer),
    gone(withdrawn),
  )
}

// Where it is not simply what the stage before has kept.
const ENTERS = {
  track: 'Published methods with a label that tasks are made of.',
  single_revision: 'Test files as they stand at a revision, for tasks that ask for a whole file.',
  task: 'Methods of one track in one test file of a pair are one task; so is a whole test file.',
}

function step({ stage, unit, entered, kept, reasons }, sentences) {
  const share = entered ? kept / entered : 0
  const meter = h('div', { class: 'meter', 'aria-hidden': 'true' }, bar(share))
  return h('li', {},
    h('div', { class: 'stage' },
      h('h2', {}, stage),
      h('p', {}, h('strong', {}, count(kept)), ` of ${count(entered)} ${unit.replaceAll('_', ' ')}s kept`),
    ),
    meter,
    ENTERS[stage] ? h('p', { class: 'note' }, ENTERS[stage]) : null,
    reasons.length ? h('dl', { class: 'reasons' }, ...reasons.map(([reason, dropped]) => h('div', {}, h('dt', {}, sentences[reason] ?? reason.replaceAll('_', ' '), h('code', {}, reason)), h('dd', {}, count(dropped))))) : null,
  )
}

function bar(share) {
  const element = h('div')
  element.style.width = `${share * 100}%`
  return element
}

function gone(withdrawn) {
  const rows = Array.from({ length: withdrawn.length }, (_, i) => ['month', 'table', 'id', 'reason'].map(name => withdrawn[name][i]))
  return h('section', {},
    h('h2', {}, 'Withdrawn'),
    rows.length ? table({ title: 'Withdrawn', columns: ['month', 'table', 'id', 'reason'], rows }) : h('p', { class: 'note' }, 'Nothing of earlier snapshots was withdrawn.'),
  )
}
