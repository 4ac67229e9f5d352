// The scores of agents on a month's tasks: each counted on what is clean for its model, and ranked
// among those that were scored on the same test methods.

import { write } from './address.js'
import { attempts } from './attempts.js'
import { board, figuresExplained, known, names, percent, percentage, scoredOn, who } from './board.js'
import { dayOf, noDay } from './dates.js'
import { count, h, plural, scrolling } from './dom.js'
import { FAMILIES, TITLES, TRACKS } from './kinds.js'
import { overTime, steps } from './plot.js'
import { counted, limits as limitsOf, scored, setOf, trained } from './scores.js'
import { families, suites } from './suites.js'

const CHOICES = {
  '': 'each model’s own cutoff',
  latest: 'the latest of these cutoffs, for all',
  day: 'no earlier than a day …',
  all: 'count all tasks, clean or not',
}
// Of the paper (Figure 4): a part with fewer methods is left out.
const LEAST_METHODS = 20

export async function leaderboard(month, limits) {
  if (!month.entry.reports) return none(month)
  const [reports, rows] = await Promise.all([month.reports(), month.scores()])
  const graded = reports.flatMap(report => [...report.tracks.map(one => one.track), ...(report.families ?? []).map(one => one.family)])
  const tracks = [...new Set([...TRACKS, ...FAMILIES, ...graded])].filter(name => graded.includes(name))
  const track = tracks.includes(limits.tracks[0]) ? limits.tracks[0] : tracks[0]
  const kinds = h('nav', { class: 'kinds', 'aria-label': 'Track' }, ...tracks.map(one =>
    h('a', { href: write('leaderboard', { month: limits.month, tracks: [one], cutoff: limits.cutoff }), 'aria-current': one === track ? 'true' : null }, TITLES[one] ?? one)))
  if (!reports.some(report => of(report, track))) return families(track, kinds, reports, month)
  const choice = control(limits, track, () => refresh())
  const result = h('div', { class: 'boards', role: 'region', 'aria-label': 'Scores', 'aria-live': 'polite' })
  const refresh = () => result.replaceChildren(...boards(reports, rows, track, limits.cutoff))
  refresh()
  return h('div', { class: 'leaderboard' },
    h('h1', {}, 'Leaderboard'),
    h('p', {}, 'Strict success comes first: a success that executes the change, reaches an assertion, notices what the developers’ test notices, and costs no other test. Success% is the paper’s. Both are means over tasks; below each stand the ends of its 95 % interval, bootstrapped over repositories.'),
    kinds,
    choice,
    overMonths(reports, rows, track),
    result,
    attempts(track, reports),
    section('costs', 'Under a cap on the cost of a task', costs(reports, track), 'Over the methods of all tasks of an evaluation, whatever the cutoff. A task above the cap, or of unknown cost, counts as HrnsFail; the means of tokens and cost are over the tasks within it.'),
    section('spent', 'Tasks that cost at most so much', spent(reports, track)),
    figuresExplained(),
    scoredOn(reports, month),
    enter(month),
  )
}

function enter(month) {
  const manual = month.links.manual
  return h('p', { class: 'note' }, 'To be listed here: put predictions, logs and a submission.json into a folder, check it with ', h('code', {}, 'coevo submit --check FOLDER'), ', and read ', manual ? h('a', { href: manual, rel: 'noreferrer' }, 'the manual on submissions') : 'the manual on submissions', '.')
}

function none(month) {
  const { figures, manifest_sha256: sum } = month.entry
  return h('div', { class: 'leaderboard' },
    h('h1', {}, 'Leaderboard'),
    h('div', { class: 'empty' },
      h('p', { class: 'big' }, 'No scores yet.'),
      h('p', {}, `Scores of agents on the ${plural(figures.tasks, 'task')} of ${month.name} will be listed here, each for the tasks that were public only after the model’s training cutoff.`),
      h('p', {}, 'They will name the bytes that were scored by this manifest: ', h('code', {}, sum)),
    ),
    enter(month),
  )
}

// Which tasks count: the choice stands in the address, as all limits do.
function control(limits, track, refresh) {
  const isDay = dayOf(limits.cutoff, true) !== null
  if (!isDay && !Object.hasOwn(CHOICES, limits.cutoff)) limits.cutoff = ''
  const select = h('select', { 'data-limit': 'cutoff' }, ...Object.entries(CHOICES).map(([value, text]) => h('option', { value }, text)))
  select.value = isDay ? 'day' : limits.cutoff
  const field = h('input', { type: 'text', inputmode: 'numeric', autocomplete: 'off', size: '10', placeholder: '2024-06-30', 'data-limit': 'cutoff-day', title: '2024-06-30, or 2024-06 for its end', value: isDay ? limits.cutoff : '' })
  const day = h('label', { hidden: !isDay }, 'Day ', field)
  const wrong = h('p', { class: 'wrong', role: 'status' })
  const chosen = value => {
    limits.cutoff = value
    history.replaceState(history.state, '', write('leaderboard', { month: limits.month, tracks: [track], cutoff: value }))
    refresh()
  }
  select.addEventListener('change', () => {
    day.hidden = select.value !== 'day'
    if (select.value === 'day') return field.focus()
    return chosen(select.value)
  })
  field.addEventListener('change', () => {
    const given = dayOf(field.value, true)
    field.setAttribute('aria-invalid', String(given === null))
    wrong.replaceChildren(given === null ? noDay(field.value) : '')
    if (given !== null) chosen(given)
  })
  return h('form', { class: 'cutoff', onsubmit: event => event.preventDefault() },
    h('label', {}, 'Tasks count if they were public only after ', select), day, wrong)
}

function boards(reports, rows, track, choice) {
  const days = limitsOf(reports, choice)
  const sets = new Map()
  const left = []
  reports.forEach((report, evaluation) => {
    if (!of(report, track)) return
    const { day, why } = days[evaluation]
    const numbers = why ? [] : counted(rows, evaluation, track, day)
    if (!numbers.length) return left.push({ report, why: why ?? day })
    const set = setOf(rows, numbers)
    sets.set(set, [...(sets.get(set) ?? []), { report, day, numbers, ...scored(rows, numbers) }])
  })
  const found = [...sets.values()].sort((one, other) => other.length - one.length || other[0].tasks - one[0].tasks)
  return [
    choice === 'all' ? h('p', { class: 'warning', role: 'note' }, 'Tasks count here that a model may have been trained on.') : null,
    found.length > 1 ? h('p', { class: 'note' }, `These stand in ${found.length} tables, since they are not of the same tasks: only rows of one table compare.`) : null,
    ...found.map((set, i) => section(`outcomes${i ? `-${i + 1}` : ''}`, title(set), [board(set, track), reveal()], explained(set))),
    section('half-years', 'Success% by half-year of the new revision', halfYears(found.flat(), rows)),
    unscored(left),
  ].filter(Boolean)
}

function title(set) {
  const [{ numbers, tasks, trouble }] = set
  return `${plural(tasks, 'task')}, ${plural(numbers.length, 'test method')}${trouble && set.length === 1 ? `, ${count(trouble)} in trouble` : ''}`
}

function explained(set) {
  return `${ranked(set)}${known(set, 'strict') ? '' : ' Strict success is unknown here, so Success% comes first: it takes a snapshot with mutants and undone changes, and an evaluation that ran them.'}`
}

function ranked(set) {
  if (set.length < 2) return 'No other evaluation is of the same tasks, so this one has no rank.'
  return 'A rank such as 1–2 says that the 95 % intervals of the differences leave these places open. Bold is who is better than every other row by that.'
}

// On a phone only what decides is shown at first.
function reveal() {
  const button = h('button', { type: 'button', class: 'reveal', 'aria-expanded': 'false' }, 'All figures')
  button.addEventListener('click', () => {
    const open = button.previousSibling.classList.toggle('whole')
    button.setAttribute('aria-expanded', String(open))
    button.textContent = open ? 'Fewer figures' : 'All figures'
  })
  return button
}

function unscored(left) {
  return left.length ? h('section', { id: 'unscored' },
    h('h2', {}, 'Not scored'),
    h('ul', {}, ...left.map(({ report, why }) => h('li', {}, h('strong', {}, `${names(report, 'harness')}, ${names(report, 'model')}`), ': ', reason(report, why)))),
  ) : null
}

function reason(report, why) {
  if (why === 'cutoff') return 'no source states the training cutoff of the model, so nothing counts as clean for it.'
  return `none of its tasks was public only after ${why}${why === trained(report) ? ', the cutoff of the model' : ''}.`
}

function of(report, name) {
  return report.tracks.find(track => track.track === name)
}

function halfYear(moment) {
  if (typeof moment !== 'number') return 'Unknown'
  const date = new Date(moment)
  const year = date.getUTCFullYear()
  return year < 2015 ? 'Older' : `${year} H${date.getUTCMonth() < 6 ? 1 : 2}`
}

function halfYears(found, rows) {
  const parted = found.map(({ report, numbers }) => {
    const parts = new Map()
    for (const i of numbers) parts.set(halfYear(rows.new_date[i]), [...(parts.get(halfYear(rows.new_date[i])) ?? []), i])
    const enough = [...parts].map(([name, part]) => [name, scored(rows, part)]).filter(([, part]) => part.methods >= LEAST_METHODS)
    return { report, parts: new Map(enough) }
  })
  const all = new Set(parted.flatMap(({ parts }) => [...parts.keys()]))
  const heads = ['Older', ...[...all].filter(name => /^\d/.test(name)).sort(), 'Unknown'].filter(name => all.has(name))
  return heads.length ? table(['Harness and model', ...heads], parted.map(({ report, parts }) => [
    who(report), ...heads.map(name => h('td', { class: 'figure' }, ...percentage(parts.get(name)?.figures.success))),
  ])) : null
}

// Success% of each evaluation by the month since which the answers are public, over all of its tasks, with the cutoff
// of its model: what comes before it may have been in the training data.
function overMonths(reports, rows, track) {
  const lines = reports.map((report, evaluation) => ({ report, months: byMonth(rows, counted(rows, evaluation, track, null)), cutoff: trained(report) })).filter(({ months }) => months.size)
  const all = [...new Set(lines.flatMap(({ months }) => [...months.keys()]))].sort()
  if (!all.length) return null
  const at = day => all.filter(name => name < day.slice(0, 7)).length + (all.includes(day.slice(0, 7)) ? Number(day.slice(8)) / 31 : 0)
  const drawn = lines.map(({ report, months, cutoff }) => ({
    name: `${names(report, 'harness')}, ${names(report, 'model')}`,
    cutoff: cutoff && cutoff > '1970-01-01' ? at(cutoff) : null,
    points: all.flatMap((name, x) => (months.has(name) ? [{ x, share: months.get(name).success, size: months.get(name).tasks, title: `${name}: ${percent(months.get(name).success)} of ${plural(months.get(name).tasks, 'task')}` }] : [])),
  }))
  const legend = drawn.map(({ name }, i) => h('li', {}, h('span', { class: `swatch line-${i % 6}` }), name))
  return h('section', { id: 'over-time' },
    h('h2', {}, 'Success% by month, against training cutoffs'),
    h('p', { class: 'note' }, 'Of all tasks that were scored, whatever the cutoff: each dot is a month since which answers were public, as large as it has tasks. To the left of a dashed line, answers may have been in the training data of that model. Months without a task are left out.'),
    h('figure', {}, overTime('Success% by month of each evaluation', drawn, all), h('figcaption', {}, h('ul', { class: 'legend' }, ...legend))),
    h('details', {}, h('summary', {}, 'As a table'), scrolling('Success% by month', table(['Harness and model', ...all], lines.map(({ report, months }) => [who(report), ...all.map(name => figure(months.has(name) ? `${percent(months.get(name).success)} of ${months.get(name).tasks}` : '–'))])))),
  )
}

// {success, tasks} by month; what has no date is in none.
function byMonth(rows, numbers) {
  const parts = new Map()
  for (const i of numbers) {
    if (typeof rows.contamination_date[i] !== 'number') continue
    const name = new Date(rows.contamination_date[i]).toISOString().slice(0, 7)
    parts.set(name, [...(parts.get(name) ?? []), i])
  }
  const found = [...parts].map(([name, part]) => [name, scored(rows, part)]).filter(([, part]) => part.tasks)
  return new Map(found.map(([name, part]) => [name, { success: part.figures.success.value, tasks: part.tasks }]))
}

function costs(reports, name) {
  const known = reports.map(report => ({ report, track: of(report, name) })).filter(({ track }) => track?.costs)
  return known.length ? table(
    ['Harness and model', 'Budget', 'Kept', 'Avg tokens', 'Avg cost', 'Success%', 'HrnsFail%'],
    known.flatMap(({ report, track }) => track.costs.caps.map(cap => [
      who(report), figure(`$${cap.cap_usd}`), figure(percent(cap.kept)),
      estimate(cap.avg_tokens, value => `${(value / 1000).toFixed(1)}k`), estimate(cap.avg_cost_usd, value => `$${value.toFixed(2)}`),
      estimate(cap.micro.success, percent), estimate(cap.micro.hrns_fail, percent),
    ])),
  ) : null
}

// Of each the share of tasks by what they cost, and the caps (Figure 5).
function spent(reports, name) {
  const known = reports.map(report => ({ report, track: of(report, name) })).filter(({ track }) => track?.costs)
  if (!known.length) return null
  const lines = known.map(({ report, track }) => ({
    name: `${names(report, 'harness')}, ${names(report, 'model')}`,
    points: track.costs.curve.map(({ cost_usd: cost, share }) => [cost, share]),
  }))
  const marks = known[0].track.costs.caps.map(({ cap_usd: cap }) => ({ name: `$${cap}`, x: cap }))
  const legend = lines.map(({ name }, i) => h('li', {}, h('span', { class: `swatch line-${i % 6}` }), name))
  return h('figure', {}, steps('Share of tasks by cost', lines, marks), h('figcaption', {}, h('ul', { class: 'legend' }, ...legend)))
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
