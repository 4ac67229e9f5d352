// The answers to the queries of the paper's statistics, each with its SQL, and pictures of what has a picture.

import { write } from './address.js'
import { dayOf, end } from './dates.js'
import { coded, count, h, plural, scrolling } from './dom.js'
import { TRACKS } from './kinds.js'
import { upright } from './plot.js'

const WALKS = ['parents', 'first-parent', 'states', 'window', 'single_revision']
// The column of a table whose figures are drawn beside it.
const DRAWN = { labels: 'methods', table_11: 'methods', families: 'tasks', table_1: 'tasks' }
// Pictures by the name of their query; the others are tables.
const PICTURES = { by_month: byMonth, figure_2: halfYears }
// Months before these are one bar.
const MOST_MONTHS = 36
const SHARES = /^(share|kill_rate)/
// Tables in which families that ask for no whole test file have counts alone: these stand in a table of their own.
const SPLIT = new Set(['families_by_language'])

export async function statistics(month, limits) {
  const answers = (await month.statistics()).filter(answer => answer.name !== 'funnel')
  const found = new Set(answers.flatMap(answer => answer.rows.map(row => row[answer.columns.indexOf('walk')])))
  const walks = WALKS.filter(walk => found.has(walk))
  const walk = walks.includes(limits.walk) ? limits.walk : walks[0]
  const left = await forModels(month)
  return h('div', { class: 'statistics' },
    h('h1', {}, 'Statistics'),
    h('p', {}, 'What TestEvo-Bench says of its data, asked of this snapshot. Each answer is that of one query, which plain DuckDB answers as well.'),
    month.entry.withheld ? h('p', { class: 'withheld', role: 'note' }, month.entry.withheld) : null,
    figures(month.entry.figures),
    walks.length > 1 ? h('nav', { class: 'kinds', 'aria-label': 'Walk' }, ...walks.map(one =>
      h('a', { href: write('statistics', { month: limits.month, walk: one === walks[0] ? '' : one }), 'aria-current': one === walk ? 'true' : null }, one))) : null,
    ...answers.flatMap(answer => (answer.name === 'by_month' ? [section({ ...of(answer, walk), withheld: month.entry.withheld }, month), left] : [section({ ...of(answer, walk), withheld: month.entry.withheld }, month)])),
  )
}

const FIGURES = [
  ['repositories', 'repositories mined'],
  ['repositories_with_tasks', 'of them with a task'],
  ['pairs', 'pairs of commits'],
  ['labelled_methods', 'test methods with a label'],
  ['coevolution', 'tasks of co-evolution'],
  ['standard', 'of them standard'],
  ['maintenance', 'whole files to maintain'],
  ['suites', 'suites'],
  ['implement', 'tasks to write code'],
]

function figures(found) {
  return h('dl', { class: 'figures' }, ...FIGURES.map(([name, title]) => h('div', {}, h('dt', {}, title), h('dd', {}, count(found[name] ?? 0)))))
}

// How many standard tasks were public only after the training cutoff of each model, and where they are listed.
async function forModels(month) {
  const { tasks } = await month.load()
  const standard = []
  for (let i = 0; i < tasks.length; i++) if (tasks.standard[i]) standard.push(tasks.public[i])
  if (!standard.length) return null
  const byDay = new Map()
  for (const { names, cutoff } of month.models) {
    const day = dayOf(cutoff, true)
    byDay.set(day, [...(byDay.get(day) ?? []), names[0]])
  }
  const rows = [...byDay].sort(([one], [other]) => (one < other ? -1 : 1)).map(([day, names]) => {
    const number = standard.filter(moment => moment >= end(day)).length
    return h('tr', {},
      h('th', { scope: 'row' }, names.join(', ')),
      h('td', { class: 'day' }, day),
      h('td', { class: 'figure' }, h('a', { href: write('explore', { month: month.address, after: day }) }, count(number))),
      h('td', { class: 'drawn', 'aria-hidden': 'true' }, bar(number / standard.length)),
    )
  })
  const title = 'Tasks that a model cannot have seen'
  return h('section', { class: 'statistic', id: 'models' },
    h('h2', {}, title),
    h('p', { class: 'note' }, `Of the ${plural(standard.length, 'standard task')}, those whose answer was public only after the training cutoff that the maker of a model states.`),
    scrolling(title, h('table', { class: 'answer' },
      h('thead', {}, h('tr', {}, ...['Models', 'Cutoff', 'Tasks'].map((head, i) => h('th', { scope: 'col', class: i === 2 ? 'figure' : null }, head)), h('td', { class: 'drawn' }))),
      h('tbody', {}, ...rows))),
  )
}

function of(answer, walk) {
  const at = answer.columns.indexOf('walk')
  const without = row => row.filter((_, i) => i !== at)
  return { ...answer, columns: without(answer.columns), rows: answer.rows.filter(row => row[at] === walk).map(without) }
}

function section(answer, month) {
  const picture = PICTURES[answer.name] && answer.rows.length ? PICTURES[answer.name](answer, month) : null
  return h('section', { class: 'statistic', id: answer.name },
    h('h2', {}, ...coded(answer.title)),
    answer.note ? h('p', { class: 'note' }, ...coded(answer.note)) : null,
    picture,
    answer.rows.length ? (picture ? h('details', {}, h('summary', {}, 'As a table'), table(answer)) : split(answer).map((part, i) => [i ? h('p', { class: 'note' }, 'Of these nothing but counts:') : null, table(part)])) : h('p', { class: 'note' }, 'This snapshot has none.'),
    query(answer),
  )
}

// Rows that lack every figure that some row lacks, and the others: each part with the columns that it has.
export function split(answer) {
  const { name, columns, rows } = answer
  const lacking = columns.map((_, i) => rows.some(row => row[i] === null) && i).filter(i => i !== false)
  if (!SPLIT.has(name) || !lacking.length) return [answer]
  const bare = rows.filter(row => lacking.every(i => row[i] === null))
  const whole = rows.filter(row => !bare.includes(row))
  const without = row => row.filter((_, i) => !lacking.includes(i))
  return [{ ...answer, rows: whole }, { ...answer, title: `${answer.title}, counts`, columns: without(columns), rows: bare.map(without) }].filter(part => part.rows.length)
}

export function query({ sql }) {
  return h('details', { class: 'sql' }, h('summary', {}, 'The query'), h('pre', { class: 'code', tabindex: '0' }, sql))
}

export function table({ name, title, columns, rows, withheld }) {
  const drawn = columns.indexOf(DRAWN[name])
  const most = Math.max(1, ...rows.map(row => row[drawn] ?? 0))
  const figures = columns.map((_, i) => rows.every(row => typeof row[i] !== 'string'))
  const whole = columns.map((_, i) => columns[i] === 'value' || rows.every(row => Number.isInteger(row[i] ?? 0)))
  return scrolling(title, h('table', { class: 'answer' },
    h('thead', {}, h('tr', {}, ...columns.map((name, i) => h('th', { scope: 'col', class: figures[i] ? 'figure' : null }, name.replaceAll('_', ' '))), drawn < 0 ? null : h('td', { class: 'drawn' }))),
    h('tbody', {}, ...rows.map(row => h('tr', {}, ...row.map((value, i) => h('td', { class: figures[i] ? 'figure' : null }, shown(value, columns[i], whole[i], withheld))), drawn < 0 ? null : h('td', { class: 'drawn', 'aria-hidden': 'true' }, bar(row[drawn] / most))))),
  ))
}

function shown(value, column, whole, withheld) {
  if (value === null && withheld && column.endsWith('tokens_per_task')) return 'withheld'
  if (value === null) return '–'
  if (typeof value !== 'number') return String(value).replaceAll('_', ' ')
  if (SHARES.test(column)) return `${(value * 100).toFixed(1)} %`
  return whole && Number.isInteger(value) ? count(value) : value.toFixed(2)
}

function halfYears({ rows }) {
  const byName = stacked(rows.map(([name, track, tasks]) => [name, track, tasks]))
  const bars = filled([...byName.keys()]).map(name => ({ name, parts: byName.get(name) ?? TRACKS.map(() => 0) }))
  return figure(`${count(total(bars))} tasks by half-year and track`, bars, rows.map(row => row[1]))
}

// Bars by name, of each track a part.
function stacked(rows) {
  const byName = new Map()
  for (const [name, track, tasks] of rows) {
    const parts = byName.get(name) ?? TRACKS.map(() => 0)
    parts[TRACKS.indexOf(track)] += tasks
    byName.set(name, parts)
  }
  return byName
}

const TITLES = { public: 'By the month since which the answer may have been public', committed: 'By the month of the commit' }

// By either date; the training cutoffs of models cross that of the day since when answers are public.
function byMonth({ rows }, month) {
  const figures = Object.entries(TITLES).map(([by, title]) => {
    const own = rows.filter(row => row[0] === by)
    const byName = stacked(own.map(([, name, track, tasks]) => [name, track, tasks]))
    const months = [...byName.keys()].filter(name => /^\d/.test(name)).sort()
    if (!months.length) return null
    const span = spanned(months[0], [months.at(-1), month.name].sort().at(-1))
    const shownMonths = span.slice(-MOST_MONTHS)
    const older = months.filter(name => name < shownMonths[0])
    const bars = shownMonths.map(name => ({ name, parts: byName.get(name) ?? TRACKS.map(() => 0) }))
    if (older.length) bars.unshift({ name: 'older', parts: TRACKS.map((_, i) => older.reduce((sum, name) => sum + byName.get(name)[i], 0)) })
    const marks = by === 'public' ? cutoffs(month, bars) : []
    const undated = byName.get('Unknown')
    const unknown = undated ? ` ${plural(undated.reduce((one, other) => one + other, 0), 'task')} of unknown date ${undated.reduce((one, other) => one + other, 0) === 1 ? 'is' : 'are'} left out.` : ''
    const note = by === 'public' ? `Dashed: the training cutoffs of models, which the list below names.${unknown}` : unknown.trim()
    return [h('h3', { class: 'by' }, title), figure(`${title}: ${plural(total(bars), 'task')}`, bars, own.map(row => row[2]), marks, note)]
  })
  return h('div', {}, ...figures.filter(Boolean).flat())
}

function cutoffs(month, bars) {
  const days = [...new Set(month.models.map(model => dayOf(model.cutoff, true)))].sort()
  return days.flatMap(day => {
    const at = bars.findIndex(bar => bar.name === day.slice(0, 7))
    return at < 0 ? [] : [{ name: '', at: at + Number(day.slice(8)) / 31 }]
  })
}

function spanned(first, last) {
  const names = []
  for (let [year, part] = first.split('-').map(Number); ; part === 12 ? ([year, part] = [year + 1, 1]) : (part += 1)) {
    const name = `${year}-${String(part).padStart(2, '0')}`
    if (name > last) return names
    names.push(name)
  }
}

function total(bars) {
  return bars.reduce((sum, bar) => sum + bar.parts.reduce((one, other) => one + other, 0), 0)
}

function figure(label, bars, tracks, marks = [], note = '') {
  const legend = TRACKS.filter(track => tracks.includes(track)).map(track =>
    h('li', {}, h('span', { class: `swatch part-${TRACKS.indexOf(track)}` }), track))
  return h('figure', {},
    upright(label, bars, marks),
    h('figcaption', {}, h('ul', { class: 'legend' }, ...legend), note ? h('p', { class: 'note' }, note) : null),
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

function bar(share) {
  const element = h('div')
  element.style.width = `${share * 100}%`
  return element
}
