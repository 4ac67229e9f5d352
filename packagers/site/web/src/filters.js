// Which rows of a table a reader wants. A date that is null is in no limited span, and never clean.

import { end, start } from './dates.js'
import { related } from './evidence.js'

// The numbers of the rows that all limits leave; `spared` names one that is not asked.
export function chosen(rows, limits, spared) {
  const tests = Object.entries(TESTS)
    .filter(([name]) => name !== spared)
    .map(([, make]) => make(rows, limits))
    .filter(Boolean)
  const found = []
  for (let i = 0; i < rows.length; i++) if (tests.every(test => test(i))) found.push(i)
  return found
}

const SCOPES = {
  standard: rows => i => rows.standard[i],
  walks: rows => i => related(rows, i),
  all: () => null,
}

const TESTS = {
  scope: (rows, { scope }) => SCOPES[scope](rows),
  tracks: (rows, { tracks }) => tracks.length > 0 && (i => tracks.includes((rows.kind ?? rows.track)[i] ?? 'none')),
  repo: (rows, { repo }) => repo && (i => rows.repo[i] === repo),
  language: (rows, { language }) => language && (i => rows.language[i] === language),
  cause: (rows, { cause }) => cause && (i => rows.causes[i].includes(cause)),
  label: (rows, { label }) => label && rows.label && (i => (rows.label[i] ?? 'none') === label),
  words: (rows, { words }) => words && matching(rows, words),
  committed: (rows, { from, to }) => (from || to) && within(rows.committed, from ? start(from) : -Infinity, to ? end(to) : Infinity),
  // The end of the cutoff's day has to be past.
  public: (rows, { after }) => after && within(rows.public, end(after), Infinity),
}

function within(moments, first, beyond) {
  return i => {
    const moment = moments[i]
    return !Number.isNaN(moment) && moment >= first && moment < beyond
  }
}

function matching(rows, words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  return i => {
    const text = texts(rows, i).toLowerCase()
    return wanted.every(word => text.includes(word))
  }
}

function texts(rows, i) {
  const own = rows.method_id ? [rows.method_id[i], rows.test_class[i], rows.test_method[i]] : [rows.task_id[i], ...rows.tests[i]]
  return [rows.repo[i], rows.test_file[i], ...own].join(' ')
}

// How often each value of a column stands in some of its rows; null is `none`, and a row may have several.
export function counted(column, numbers) {
  const counts = new Map()
  for (const i of numbers) {
    for (const value of Array.isArray(column[i]) ? column[i] : [column[i]]) counts.set(value ?? 'none', (counts.get(value ?? 'none') ?? 0) + 1)
  }
  return counts
}
