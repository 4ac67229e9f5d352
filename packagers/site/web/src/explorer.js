// The data explorer: sliders of dates, filters, and the rows that these leave.

import { cleared, write } from './address.js'
import { shown } from './dates.js'
import { count, h, plural } from './dom.js'
import { chosen, counted } from './filters.js'
import { FAMILIES, TRACKS } from './kinds.js'
import { landing } from './landing.js'
import { Listing } from './listing.js'
import { Timeline, axis } from './timeline.js'

const KINDS = { tasks: 'task', methods: 'method' }
const SCOPES = { standard: 'standard', walks: 'any evidence', all: 'also of unrelated revisions' }

// `home`: below a word on what this is, for those who come without an address of their own
export async function explorer(month, limits, home = false) {
  const loaded = await month.load()
  const rows = loaded[limits.kind] ?? loaded.tasks
  return new Explorer(month, rows, limits, home ? landing(month, loaded.tasks) : null).element
}

class Explorer {
  // `lead`: what stands above it, or null
  constructor(month, rows, limits, lead) {
    Object.assign(this, { month, rows, limits, home: lead !== null })
    // Some snapshots hold other walks alone: better those of their rows than none.
    this.someStandard = rows.standard.includes(1)
    // The last choice is one only where there are such rows.
    const related = chosen(rows, { scope: 'walks', tracks: [] }).length
    this.scopes = Object.keys(SCOPES).filter(scope => scope !== 'all' || related < rows.length)
    if (limits.scope === 'all' && !this.scopes.includes('all')) limits.scope = 'walks'
    if (!Object.hasOwn(SCOPES, limits.scope)) limits.scope = this.#usual()
    this.facets = []
    const changed = () => {
      limits.page = 1
      this.refresh()
    }
    this.committed = new Timeline({
      title: 'New revision committed',
      note: 'When the commit that the task asks for was made.',
      ends: [{ name: 'from', label: 'From' }, { name: 'to', label: 'To', last: true }],
      axis: axis(rows.committed, month.name), limits, changed,
    })
    this.public = new Timeline({
      title: 'Answer public',
      note: 'Only later than a model’s training cutoff. A date that is unknown is never later.',
      ends: [{ name: 'after', label: 'Only after', last: true }],
      models: month.models,
      axis: axis(rows.public, month.name), limits, changed,
    })
    this.result = h('p', { class: 'result', role: 'status' })
    this.explained = h('p', { class: 'note explained' })
    this.listing = new Listing({
      kind: limits.kind, rows, limits,
      link: i => write(KINDS[limits.kind], { month: limits.month }, limits.kind === 'tasks' ? rows.task_id[i] : `${rows.method_id[i]}.${rows.walk[i]}`),
      changed: () => this.refresh(),
    })
    this.element = h('div', { class: 'explorer' },
      lead,
      this.#kinds(),
      h('div', { class: 'timelines' }, this.committed.element, this.public.element),
      this.#filters(changed),
      h('div', { class: 'summary' }, this.result, h('a', { class: 'clear', href: write('explore', cleared(limits)) }, 'Clear all')),
      this.explained,
      this.listing.element,
    )
    this.refresh()
  }

  #kinds() {
    const { limits } = this
    return h('div', { class: 'heading' },
      h(this.home ? 'h2' : 'h1', { class: 'title' }, 'Explore'),
      h('nav', { class: 'kinds', 'aria-label': 'What is listed' }, ...Object.keys(KINDS).map(kind =>
        h('a', { href: write('explore', { ...cleared(limits), kind }), 'aria-current': kind === limits.kind ? 'true' : null },
          kind === 'tasks' ? 'Tasks' : 'Test methods'),
      )),
    )
  }

  #filters(changed) {
    const { rows, limits } = this
    const narrow = matchMedia('(max-width: 44rem)').matches
    const form = h('form', { class: 'filters', onsubmit: event => event.preventDefault() },
      this.#kindBoxes(changed),
      this.#choice('repo', 'Repository', rows.repo, changed),
      rows.label ? this.#choice('label', 'Label', rows.label, changed) : null,
      this.#choice('cause', 'Cause', rows.causes, changed),
      this.#choice('language', 'Language', rows.language, changed),
      h('label', { title: 'Standard: single tests of the walk “parents”, with whole evidence in every deciding cell. Any evidence: all kinds and walks. Unrelated: the old revision is no ancestor of the new one' },
        h('span', {}, 'Rows'), this.#scope(changed)),
      h('label', { class: 'search' }, h('span', {}, 'Search'), h('input', {
        type: 'search', value: limits.words, placeholder: 'Class, method, file or id', 'data-limit': 'words',
        oninput: event => {
          limits.words = event.target.value
          changed()
        },
      })),
    )
    return h('details', { class: 'more', open: !narrow }, h('summary', {}, 'Filters'), form)
  }

  // Tracks, and the families of which there are tasks. These are never standard, so that choosing one shows all.
  #kindBoxes(changed) {
    const { rows, limits } = this
    const names = limits.kind === 'tasks' ? [...TRACKS, ...FAMILIES.filter(family => rows.kind.includes(family))] : [...TRACKS, 'none']
    const box = name => h('label', { class: 'box' }, h('input', {
      type: 'checkbox', checked: limits.tracks.includes(name), 'data-limit': 'tracks', value: name,
      onchange: event => {
        const usual = limits.scope === this.#usual()
        limits.tracks = names.filter(one => (one === name ? event.target.checked : limits.tracks.includes(one)))
        if (usual) limits.scope = this.#usual()
        changed()
      },
    }), ` ${name}`)
    return h('fieldset', { class: 'tracks' }, h('legend', {}, limits.kind === 'tasks' ? 'Kind: a track or a family' : 'Track'), ...names.map(box))
  }

  #scope(changed) {
    this.scope = this.#select('scope', this.scopes.map(scope => [scope, SCOPES[scope]]), changed)
    return this.scope
  }

  // Values of a column; how many rows each would leave is told anew whenever another limit changes.
  #choice(name, title, column, changed) {
    const all = Array.from({ length: this.rows.length }, (_, i) => i)
    const found = [...counted(column, all).keys()].sort()
    const select = this.#select(name, [['', 'any'], ...found.map(value => [value, value])], changed)
    this.facets.push({ name, column, options: [...select.options].slice(1) })
    return h('label', {}, h('span', {}, title), select)
  }

  #count() {
    const { rows, limits } = this
    for (const { name, column, options } of this.facets) {
      const counts = counted(column, chosen(rows, limits, name))
      for (const option of options) option.textContent = `${option.value} (${count(counts.get(option.value) ?? 0)})`
    }
    for (const option of this.scope.options) option.textContent = `${SCOPES[option.value]} (${count(chosen(rows, { ...limits, scope: option.value }).length)})`
    this.scope.value = limits.scope
  }

  #select(name, options, changed) {
    const select = h('select', { 'data-limit': name }, ...options.map(([value, text]) => h('option', { value }, text)))
    select.value = this.limits[name]
    select.addEventListener('change', () => {
      this.limits[name] = select.value
      changed()
    })
    return select
  }

  refresh() {
    const { rows, limits } = this
    const numbers = chosen(rows, limits)
    const kept = new Set(numbers)
    this.committed.draw(rows.committed, chosen(rows, limits, 'committed'), i => kept.has(i))
    this.public.draw(rows.public, chosen(rows, limits, 'public'), i => kept.has(i))
    this.result.replaceChildren(h('strong', { id: 'count' }, count(numbers.length)), ` of ${this.#all()}${this.#byTrack(numbers)}${this.#undated(limits)}`)
    this.explained.replaceChildren(...this.#explain())
    this.listing.show(numbers, () => this.#nothing())
    this.#count()
    history.replaceState(history.state, '', write(this.home ? '' : 'explore', { ...limits, scope: limits.scope === this.#usual() ? '' : limits.scope }))
  }

  // What the choice of rows leaves out, and a way to see it.
  #explain() {
    const { rows, limits } = this
    if (limits.scope !== 'standard') return limits.scope === 'all' ? ['Rows: all, whatever their evidence; also of pairs whose old revision is no ancestor of the new one.'] : ['Rows: of all kinds and walks, whatever their evidence.']
    const standard = rows.standard.reduce((one, other) => one + other, 0)
    const { coevolution, maintenance, suites, implement = 0 } = this.month.entry.figures
    const others = limits.kind === 'tasks'
      ? [[coevolution - standard, 'of co-evolution with less evidence, or whose start state shows too much'], [maintenance, 'to maintain a whole test file'], [suites, 'of suites'], [implement, 'to write the code of a change']].filter(([number]) => number > 0).map(([number, what]) => `${count(number)} ${what}`)
      : [`${count(rows.length - standard)} with less evidence, or of other walks`]
    return [
      `Rows: standard, that is ${count(standard)} of ${count(rows.length)}: of a commit and its parent, and each deciding cell has three runs that agree.`,
      others.length && standard < rows.length ? [` Left out: ${others.join(', ')}. `, h('a', { href: write('explore', { ...limits, scope: this.scopes.at(-1), page: 1 }) }, 'Show all rows')] : null,
    ].flat().filter(Boolean)
  }

  #usual() {
    return this.someStandard && !this.limits.tracks.some(kind => FAMILIES.includes(kind)) ? 'standard' : 'walks'
  }

  #all() {
    return this.limits.kind === 'tasks' ? plural(this.rows.length, 'task') : plural(this.rows.length, 'test method')
  }

  #byTrack(numbers) {
    const found = counted(this.rows.kind ?? this.rows.track, numbers)
    const counts = [...TRACKS, ...FAMILIES].filter(name => found.has(name)).map(name => [name, found.get(name)])
    const lead = this.limits.kind === 'tasks' ? ': ' : '; by track '
    return counts.length > 1 ? `${lead}${counts.map(([name, number]) => `${count(number)} ${name}`).join(', ')}` : ''
  }

  #undated(limits) {
    if (!limits.after) return ''
    const undated = chosen(this.rows, limits, 'public').filter(i => Number.isNaN(this.rows.public[i])).length
    return undated ? `; ${count(undated)} left out because nobody knows since when they are public` : ''
  }

  #nothing() {
    const { limits } = this
    const spans = [
      (limits.from || limits.to) && `a new revision ${[limits.from && `from ${limits.from}`, limits.to && `up to ${limits.to}`].filter(Boolean).join(' ')}`,
      limits.after && `an answer that was public only after ${limits.after}`,
    ].filter(Boolean)
    const newest = this.rows.public.reduce((one, other) => (other > one ? other : one), -Infinity)
    return [
      h('p', { class: 'big' }, 'Nothing is left.'),
      h('p', {}, spans.length ? `No row that fits the filters has ${spans.join(' and ')}.` : 'No row fits all of the filters.'),
      limits.after && Number.isFinite(newest) ? h('p', {}, `The newest answer of this month was public on ${shown(newest)}.`) : null,
      h('p', {}, h('a', { href: write('explore', cleared(limits)) }, 'Clear all filters')),
    ].filter(Boolean)
  }
}
