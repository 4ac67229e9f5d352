// The rows that were chosen, a page at a time; its headings sort.

import { breakable, count, h } from './dom.js'
import { shown } from './dates.js'
import { told } from './kinds.js'

const PAGE = 50
const NEWEST_FIRST = '-committed'

const simple = name => name.split('.').at(-1)
const file = path => path.split('/').at(-1).replace(/\.[a-z]+$/, '')
const dated = name => ({ value: (rows, i) => rows[name][i], text: (rows, i) => shown(rows[name][i]), name: `date ${name}` })
const text = value => ({ value, text: (rows, i) => value(rows, i) })

const COLUMNS = {
  tasks: [
    ['track', 'Kind', text((rows, i) => rows.kind[i])],
    ['repo', 'Repository', { ...text((rows, i) => rows.repo[i]), name: 'repo' }],
    ['test', 'Test file', text((rows, i) => file(rows.test_file[i])), 'link'],
    ['methods', 'Test methods', { ...text((rows, i) => told(rows.tests[i], rows.kind[i], 1)), name: 'methods' }],
    ['cause', 'Cause', { ...text((rows, i) => rows.causes[i].join(', ')), name: 'brief' }],
    ['committed', 'New revision', dated('committed')],
    ['public', 'Public since', dated('public')],
  ],
  methods: [
    ['label', 'Label', text((rows, i) => (rows.label[i] ?? 'none').replaceAll('_', ' '))],
    ['repo', 'Repository', { ...text((rows, i) => rows.repo[i]), name: 'repo' }],
    ['test', 'Test method', text((rows, i) => `${simple(rows.test_class[i])}#${rows.test_method[i]}`), 'link'],
    ['change', 'Change', { ...text((rows, i) => rows.change[i].replace('_', ' ')), name: 'brief' }],
    ['cause', 'Cause', { ...text((rows, i) => rows.causes[i].join(', ')), name: 'brief' }],
    ['committed', 'New revision', dated('committed')],
    ['public', 'Public since', dated('public')],
  ],
}

export class Listing {
  // `link`: the address of a row's own view
  constructor({ kind, rows, limits, link, changed }) {
    Object.assign(this, { kind, rows, limits, link, changed })
    this.columns = COLUMNS[kind]
    this.body = h('tbody')
    this.headings = this.columns.map(column => this.#heading(column))
    this.table = h('table', { class: 'rows' },
      h('caption', { class: 'hidden' }, kind === 'tasks' ? 'Tasks' : 'Test methods'),
      h('thead', {}, h('tr', {}, ...this.headings)),
      this.body,
    )
    this.empty = h('div', { class: 'empty' })
    this.pages = h('nav', { class: 'pages', 'aria-label': 'Pages' })
    this.element = h('div', { class: 'listing' }, this.table, this.empty, this.pages)
  }

  #heading([name, title, column]) {
    const sort = () => {
      const order = this.limits.sort || NEWEST_FIRST
      this.limits.sort = order === name ? `-${name}` : name
      this.limits.page = 1
      this.changed()
    }
    return h('th', { scope: 'col', class: column.name }, h('button', { type: 'button', onclick: sort }, title, h('span', { class: 'order', 'aria-hidden': 'true' })))
  }

  show(numbers, nothing) {
    const sorted = this.#sorted(numbers)
    const pages = Math.max(1, Math.ceil(sorted.length / PAGE))
    const page = Math.min(Math.max(1, this.limits.page), pages)
    const here = sorted.slice((page - 1) * PAGE, page * PAGE)
    this.body.replaceChildren(...here.map(i => this.#row(i)))
    this.table.hidden = !here.length
    this.empty.replaceChildren(...(here.length ? [] : nothing()))
    this.#turn(page, pages, sorted.length)
  }

  #sorted(numbers) {
    const order = this.limits.sort || NEWEST_FIRST
    const descending = order.startsWith('-')
    const name = order.replace(/^-/, '')
    this.columns.forEach(([own], i) => {
      this.headings[i].setAttribute('aria-sort', own !== name ? 'none' : descending ? 'descending' : 'ascending')
    })
    const column = this.columns.find(([own]) => own === name)?.[2]
    if (!column) return numbers
    const values = new Map(numbers.map(i => [i, column.value(this.rows, i)]))
    const sign = descending ? -1 : 1
    return [...numbers].sort((one, other) => compare(values.get(one), values.get(other), sign) || one - other)
  }

  #row(i) {
    return h('tr', {}, ...this.columns.map(([, title, column, role]) => {
      const value = column.text(this.rows, i)
      const content = role ? h('a', { href: this.link(i) }, breakable(value)) : ['methods', 'repo'].includes(column.name) ? breakable(value) : value
      return h('td', { class: column.name, title: value, 'data-name': title }, content)
    }))
  }

  #turn(page, pages, length) {
    const to = number => () => {
      this.limits.page = number
      this.changed()
      this.table.scrollIntoView({ block: 'nearest' })
    }
    const first = (page - 1) * PAGE + 1
    this.pages.replaceChildren(...(pages === 1 ? [] : [
      h('button', { type: 'button', disabled: page === 1, onclick: to(page - 1) }, 'Previous'),
      h('span', {}, `${count(first)} to ${count(Math.min(page * PAGE, length))} of ${count(length)}`),
      h('button', { type: 'button', disabled: page === pages, onclick: to(page + 1) }, 'Next'),
    ]))
  }
}

// What is unknown comes last in both directions.
function compare(one, other, sign) {
  const missing = value => value === '' || Number.isNaN(value)
  if (missing(one) || missing(other)) return missing(one) - missing(other)
  return one < other ? -sign : one > other ? sign : 0
}
