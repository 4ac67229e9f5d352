// A month's snapshot as the page holds it: the columns that are filtered and listed.

import { standard } from './evidence.js'
import { kindOf, testsOf } from './kinds.js'
import { Table } from './parquet.js'

export const CELLS = ['t_old_c_old', 't_new_c_new', 't_old_c_new', 't_new_c_old']

const TASKS = [
  'task_id', 'pair_id', 'repo', 'url', 'license', 'language', 'track', 'walk', 'test_file', 'test_methods',
  'method_ids', 'old_is_ancestor', 'new_committer_date', 'contamination_date', 'family', 'demanded',
]
const METHODS = [
  'method_id', 'walk', 'repo', 'pair_id', 'language', 'change', 'label', 'track', 'cause', 'sandbox',
  'test_file', 'test_class', 'test_method', 'old_is_ancestor', 'contamination_date', 'task_id', 'leak',
  ...CELLS.flatMap(cell => [cell, `${cell}_passes`, `${cell}_runs`]),
]
const DETAILS = [
  'method_id', 'walk', 'test_class', 'test_method', 'parameters', 'change', 'label', 'cause', 'override',
  'old_source', 'new_source', 'isolated', 'coverage', 'mutation', 'flake_upper_95', 'focal_method',
  'dependencies', 'module', 'old_rev', 'new_rev', 'contamination_basis', 'code_first_seen', 'duplicate_of',
  'near_duplicate_of', 'texts_withheld',
  ...CELLS.flatMap(cell => [cell, `${cell}_unit`, `${cell}_passes`, `${cell}_runs`, `${cell}_signature`]),
]

const SCORES = [
  'evaluation', 'track', 'task_id', 'test_method', 'repo', 'new_date', 'contamination_date', 'outcome',
  'strict_askable', 'success_strict', 'vacuous', 'coverage', 'range_coverage', 'mutation',
]

const NONE = []

export class Month {
  constructor(entry, { evidence, models, reasons, links }) {
    this.entry = entry
    this.models = models.filter(model => model.cutoff)
    this.reasons = reasons
    this.links = links ?? {}
    this.name = entry.month
    this.address = '' // how addresses name it: the newest needs no name
    this.tables = Object.fromEntries(
      Object.entries(entry.files).map(([name, files]) => [
        name,
        new Table(files.map(({ path, size }) => ({ url: `${entry.month}/${path}`, size }))),
      ]),
    )
    this.rules = evidence
  }

  // {tasks, methods}, each with `committed` and `public` (ms or NaN), `causes` and `standard`; tasks also with their
  // `kind` and the names of their `tests`
  load() {
    this.loaded ??= this.#load()
    return this.loaded
  }

  async #load() {
    const [tasks, methods, pairs] = await Promise.all([
      this.tables.tasks.columns(TASKS),
      this.tables.methods.columns(METHODS),
      this.tables.pairs.columns(['pair_id', 'walk', 'new_committer_date']),
    ])
    const committed = new Map()
    for (let i = 0; i < pairs.length; i++) committed.set(key(pairs, 'pair_id', i), pairs.new_committer_date[i])
    methods.standard = standard(methods, this.rules)
    methods.committed = moments(methods.length, i => committed.get(key(methods, 'pair_id', i)))
    methods.public = moments(methods.length, i => methods.contamination_date[i])
    const alone = new Map([[null, NONE]])
    methods.causes = methods.cause.map(cause => shared(alone, cause ?? null))
    this.places = new Map()
    for (let i = 0; i < methods.length; i++) this.places.set(key(methods, 'method_id', i), i)
    tasks.committed = moments(tasks.length, i => tasks.new_committer_date[i])
    tasks.public = moments(tasks.length, i => tasks.contamination_date[i])
    tasks.causes = new Array(tasks.length)
    tasks.kind = Array.from({ length: tasks.length }, (_, i) => kindOf({ family: tasks.family?.[i], track: tasks.track[i] }))
    tasks.tests = Array.from({ length: tasks.length }, (_, i) => testsOf({ test_methods: tasks.test_methods[i], demanded: tasks.demanded?.[i] }))
    tasks.standard = new Uint8Array(tasks.length)
    for (let i = 0; i < tasks.length; i++) {
      const targets = this.targets(tasks, i)
      const causes = new Set(targets.map(at => methods.cause[at]).filter(Boolean))
      tasks.causes[i] = causes.size > 1 ? [...causes].sort() : shared(alone, [...causes][0] ?? null)
      tasks.standard[i] = targets.length > 0 && targets.every(at => methods.standard[at])
    }
    return { tasks, methods }
  }

  // The numbers of a task's rows in `methods`.
  targets(tasks, i) {
    const ids = tasks.method_ids[i].map(id => `${id} ${tasks.walk[i]}`)
    return ids.map(id => this.places.get(id)).filter(at => at !== undefined)
  }

  async task(i) {
    const { tasks } = await this.load()
    const [[task], methods] = await Promise.all([
      this.tables.tasks.rows([i]),
      this.tables.methods.rows(this.targets(tasks, i), DETAILS),
    ])
    return { task, methods }
  }

  // The address of a repository, as its tasks have it; null where nobody says.
  async url(repo) {
    const { tasks } = await this.load()
    const i = tasks.repo.indexOf(repo)
    return i < 0 ? null : tasks.url?.[i] ?? null
  }

  async method(i) {
    const [method] = await this.tables.methods.rows([i], DETAILS)
    return method
  }

  // What a query of the snapshot says, by the query's name.
  async answer(name) {
    return (await this.statistics()).find(answer => answer.name === name)
  }

  statistics() {
    this.answers ??= fetch(`${this.name}/statistics.json`).then(answer => answer.json())
    return this.answers
  }

  reports() {
    this.scored ??= fetch(`${this.name}/reports.json`).then(answer => answer.json())
    return this.scored
  }

  // A row for each test method of the evaluations that `reports` has.
  scores() {
    const { path, size } = this.entry.scores
    this.rows ??= new Table([{ url: `${this.name}/${path}`, size }]).columns(SCORES)
    return this.rows
  }
}

function key(columns, name, i) {
  return `${columns[name][i]} ${columns.walk[i]}`
}

// One list for all rows of a cause: there are many rows and few causes.
function shared(lists, cause) {
  if (!lists.has(cause)) lists.set(cause, [cause])
  return lists.get(cause)
}

function moments(length, value) {
  return Float64Array.from({ length }, (_, i) => value(i) ?? NaN)
}
