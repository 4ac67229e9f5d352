// What several attempts at a task come to, of a track or a family of suites: a row for each k.

import { percent, who } from './board.js'
import { count, h, plural, scrolling } from './dom.js'

const PROTOCOLS = {
  once: 'each independent of the others',
  feedback: 'each knows the result of the previous one',
  diversify: 'each adds a file',
}

export function attempts(name, reports) {
  const known = reports.flatMap(report => (report.attempts ?? []).filter(one => one.of === name).map(found => ({ report, found })))
  if (!known.length) return null
  const best = ({ found }) => found.at.at(-1).solved.value ?? -1
  known.sort((one, other) => best(other) - best(one))
  const title = 'Several attempts at a task'
  return h('section', { id: 'attempts' },
    h('h2', {}, title),
    h('p', { class: 'note' }, 'Solved: by one of k attempts, with all of its targets, or every test of its suite. Branches: at least. Mutants, all correct: of the tasks at which no attempt fails. All else on this page is of first attempts.'),
    scrolling(title, h('table', { class: 'answer' },
      h('thead', {}, h('tr', {}, ...['Harness and model', 'Attempts', 'k', 'Solved%', 'Correct%', 'Lines', 'Branches', 'Mutants', 'Mutants, all correct', 'Unknown'].map(heading => h('th', { scope: 'col' }, heading)))),
      h('tbody', {}, ...known.flatMap(({ report, found }) => found.at.map(at => h('tr', {},
        who(report), h('td', {}, PROTOCOLS[found.protocol] ?? found.protocol), figure(count(at.k)),
        ...[at.solved, at.correct, at.lines, at.branches, at.mutation, at.mutation_correct].map(estimate), figure(count(at.unknown)),
      )))),
    )),
  )
}

function estimate(found) {
  if (typeof found?.value !== 'number') return figure('–')
  const interval = found.low === null ? null : h('small', {}, `${percent(found.low)} to ${percent(found.high)}`)
  return h('td', { class: 'figure', title: plural(found.units, 'unit') }, percent(found.value), interval)
}

function figure(text) {
  return h('td', { class: 'figure' }, text)
}
