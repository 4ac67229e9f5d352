// Bars over time with one or two sliders below them, and a field for the exact day of each.

import { count, h, svg } from './dom.js'
import { dayOf, firstDay, lastDay, month, monthOf, noDay } from './dates.js'

const BARS = 48
const HEIGHT = 56
const EARLIEST = 2008 * 12

// The months that an axis spans: what is older than its first bar is counted there.
export function axis(moments, snapshotMonth) {
  let first = monthOf(snapshotMonth)
  let last = first
  for (const moment of moments) {
    if (Number.isNaN(moment)) continue
    first = Math.min(first, month(moment))
  }
  first = Math.max(first, EARLIEST)
  first -= first % 12
  const step = [1, 3, 6, 12].find(months => (last - first + 1) / months <= BARS) ?? 12
  last = first + Math.ceil((last - first + 1) / step) * step - 1
  return { first, last, step }
}

// `models`: [{names, cutoff, source}] whose cutoffs can be chosen instead of a day
// `ends`: [{name, label, last}] of the limits that its sliders set; `last` where the day is a month's last
export class Timeline {
  constructor({ title, note, ends, axis, limits, changed, models }) {
    Object.assign(this, { ends, axis, limits, changed })
    this.bars = svg('svg', { class: 'bars', 'aria-hidden': 'true', preserveAspectRatio: 'none' })
    this.sliders = ends.map(end => this.#slider(end))
    this.fields = ends.map(end => this.#field(end))
    this.wrong = h('p', { class: 'wrong', role: 'status' })
    const years = h('div', { class: 'years', 'aria-hidden': 'true' }, ...[axis.first, (axis.first + axis.last + 1) / 2, axis.last].map(
      at => h('span', {}, firstDay(Math.floor(at)).slice(0, 7)),
    ))
    this.element = h('fieldset', { class: 'timeline' },
      h('legend', {}, title),
      h('p', { class: 'note' }, note),
      h('div', { class: ends.length > 1 ? 'track double' : 'track' }, this.bars, ...this.sliders),
      years,
      h('div', { class: 'days' }, ...ends.map((end, i) => h('label', {}, `${end.label} `, this.fields[i])), models ? this.#models(models) : null),
      this.wrong,
    )
    this.#place()
  }

  #slider(end) {
    const { first, last } = this.axis
    const slider = h('input', {
      type: 'range', min: String(first - (end.last ? 1 : 0)), max: String(last), step: '1',
      'aria-label': `${end.label}, by month`, 'data-limit': end.name,
    })
    slider.addEventListener('input', () => {
      const at = Number(slider.value)
      this.limits[end.name] = at === this.#open(end) ? '' : end.last ? lastDay(at) : firstDay(at)
      this.#place()
      this.changed()
    })
    return slider
  }

  // Where a slider limits nothing: a span's end at the right, all else at the left.
  #open(end) {
    if (end.name === 'to') return this.axis.last
    return end.last ? this.axis.first - 1 : this.axis.first
  }

  // A model's published training cutoff; who published it is a click away.
  #models(models) {
    const [end] = this.ends
    const source = h('a', { rel: 'noreferrer', hidden: true }, 'source')
    const names = models.flatMap(model => model.names.map(name => [name, model])).sort(([one], [other]) => (one < other ? -1 : 1))
    this.model = h('select', { 'data-limit': 'model' }, h('option', { value: '' }, 'a model …'), ...names.map(([name]) => h('option', { value: name }, name)))
    this.model.addEventListener('change', () => {
      const model = names.find(([name]) => name === this.model.value)?.[1]
      const chosen = this.model.value
      this.limits[end.name] = model ? dayOf(model.cutoff, true) : ''
      this.#place()
      this.model.value = chosen
      source.hidden = !model
      if (model) source.setAttribute('href', model.source)
      this.changed()
    })
    this.model.source = source
    return [h('label', {}, 'or the cutoff of ', this.model), source]
  }

  // Text, since a browser's own field of a date shows it as its user's country writes it.
  #field(end) {
    const field = h('input', {
      type: 'text', inputmode: 'numeric', autocomplete: 'off', size: '10', placeholder: 'any day', 'data-limit': end.name,
      title: '2024-06-30, or 2024-06 for its month',
    })
    field.addEventListener('change', () => {
      const day = field.value.trim() ? dayOf(field.value, end.last) : ''
      field.setAttribute('aria-invalid', String(day === null))
      this.wrong.replaceChildren(day === null ? noDay(field.value) : '')
      if (day === null) return
      this.limits[end.name] = day
      this.#place()
      this.changed()
    })
    return field
  }

  #place() {
    if (this.model) {
      this.model.value = ''
      this.model.source.hidden = true
    }
    this.ends.forEach((end, i) => {
      const day = this.limits[end.name]
      this.fields[i].value = day
      this.sliders[i].value = String(day ? monthOf(day) : this.#open(end))
      this.sliders[i].setAttribute('aria-valuetext', day || 'no limit')
    })
  }

  // Bars of the rows that everything but these sliders leaves, those that they leave, too, stronger.
  draw(moments, numbers, inside) {
    const { first, last, step } = this.axis
    const size = (last - first + 1) / step
    const all = new Array(size).fill(0)
    const kept = new Array(size).fill(0)
    for (const i of numbers) {
      if (Number.isNaN(moments[i])) continue
      const bar = Math.min(Math.max(Math.floor((month(moments[i]) - first) / step), 0), size - 1)
      all[bar] += 1
      if (inside(i)) kept[bar] += 1
    }
    const most = Math.max(1, ...all)
    this.bars.setAttribute('viewBox', `0 0 ${size * 10} ${HEIGHT}`)
    this.bars.replaceChildren(...all.flatMap((number, bar) => [
      column(bar, number, most, 'rest', `${firstDay(first + bar * step).slice(0, 7)}: ${count(kept[bar])} of ${count(number)}`),
      column(bar, kept[bar], most, 'kept'),
    ]))
  }
}

function column(bar, number, most, name, title) {
  // What is there is seen, however small.
  const height = number ? Math.max(2, (number / most) * HEIGHT) : 0
  return svg('rect', { x: bar * 10 + 1, y: HEIGHT - height, width: 8, height, class: name }, title ? svg('title', {}, title) : null)
}
