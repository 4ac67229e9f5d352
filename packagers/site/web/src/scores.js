// What evaluations come to on the tasks that are clean for their models, from the rows of their results.

import { difference, estimate } from './bootstrap.js'
import { dayOf, end } from './dates.js'

const indicator = outcome => (rows, i) => Number(rows.outcome[i] === outcome)
const PASSES = ['success', 'redundant', 'weakened']

// The figures by name: how a method scores, or null where that was not measured (the paper's ⊥).
// `all` counts ⊥ as 0, unless nothing is known of any method that it could be asked of. `known` has no
// figure in that case, and leaves ⊥ out in all others: strict success is a share of the methods of
// which it can be asked, since gold has it.
const FIGURES = {
  strict: { score: (rows, i) => (rows.strict_askable[i] ? flag(rows.success_strict[i]) : null), known: ['success'] },
  success: { score: indicator('success') },
  redundant: { score: indicator('redundant') },
  weakened: { score: indicator('weakened') },
  exec_fail: { score: indicator('exec_fail') },
  cmpl_fail: { score: indicator('cmpl_fail') },
  hrns_fail: { score: indicator('hrns_fail') },
  coverage: { score: (rows, i) => rows.coverage[i] ?? null },
  range_coverage: { score: (rows, i) => rows.range_coverage[i] ?? null },
  mutation: { score: (rows, i) => rows.mutation[i] ?? null },
  vacuous: { score: (rows, i) => flag(rows.vacuous[i]), all: PASSES },
}

function flag(value) {
  return value === null || value === undefined ? null : Number(value)
}

// The training cutoff of an evaluation: the latest of its models; null if one of them has none.
export function trained(report) {
  const cutoffs = report.systems.map(system => system.cutoff)
  if (cutoffs.some(cutoff => !cutoff)) return null
  return cutoffs.map(cutoff => dayOf(cutoff, true)).sort().at(-1)
}

// The last day that counts as seen, for each evaluation: {day}, or {why} nothing of it is scored.
// `choice`: '' for each model's own cutoff, 'latest' of them for all, 'all' tasks, or a day, before
// which nothing counts either.
export function limits(reports, choice) {
  const own = reports.map(trained)
  const known = own.filter(Boolean).sort()
  const least = choice === 'latest' ? known.at(-1) : dayOf(choice, true)
  return own.map(day => {
    if (choice === 'all') return { day: null }
    if (!day) return { why: 'cutoff' }
    return { day: least && least > day ? least : day }
  })
}

// The numbers of an evaluation's rows in a track that were public only after a day; null is no limit.
export function counted(rows, evaluation, track, day) {
  const found = []
  for (let i = 0; i < rows.length; i++) {
    if (Number(rows.evaluation[i]) !== evaluation || rows.track[i] !== track) continue
    if (day !== null && !(rows.contamination_date[i] >= end(day))) continue
    found.push(i)
  }
  return found
}

// Equal where two evaluations are of the same test methods, whatever came of them.
export function setOf(rows, numbers) {
  return numbers.map(i => `${rows.task_id[i]} ${rows.test_method[i]}`).sort().join('\n')
}

// {tasks, methods, asked, trouble, figures: {NAME: estimate}, samples} of some rows of one evaluation.
export function scored(rows, numbers) {
  const graded = numbers.filter(i => rows.outcome[i] !== 'infra')
  const samples = Object.fromEntries(Object.keys(FIGURES).map(name => [name, sampled(rows, graded, FIGURES[name])]))
  return {
    tasks: new Set(graded.map(i => rows.task_id[i])).size,
    methods: graded.length,
    asked: graded.filter(i => FIGURES.strict.score(rows, i) !== null).length,
    trouble: numbers.length - graded.length,
    samples,
    figures: Object.fromEntries(Object.entries(samples).map(([name, found]) => [name, estimate(found)])),
  }
}

// Every task counts once, by the mean over those of its methods that have the score (A.6, Eq. 5).
function sampled(rows, numbers, { score, all, known }) {
  if (all ?? known) {
    const asked = numbers.filter(i => (all ?? known).includes(rows.outcome[i]) && (all || rows.strict_askable[i]))
    if (asked.length && asked.every(i => score(rows, i) === null)) return []
  }
  const tasks = new Map()
  for (const i of numbers) {
    const value = score(rows, i) ?? (all ? 0 : null)
    if (value === null) continue
    const task = tasks.get(rows.task_id[i]) ?? { repo: rows.repo[i], values: [] }
    task.values.push(value)
    tasks.set(rows.task_id[i], task)
  }
  return [...tasks.values()].map(({ repo, values }) => ({ repo, value: values.reduce((one, other) => one + other, 0) / values.length }))
}

// The ranks that each of some evaluations of one set may have: [first, last], by the 95 % intervals of
// the differences of a figure. Without intervals nobody can be told from another.
export function ranks(found, name) {
  return found.map((one, i) => {
    let better = 0
    let worse = 0
    found.forEach((other, j) => {
      if (i === j) return
      const { low, high } = difference(one.samples[name], other.samples[name])
      if (low !== null && low > 0) better += 1
      if (high !== null && high < 0) worse += 1
    })
    return [1 + better, found.length - worse]
  })
}
