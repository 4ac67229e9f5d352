// The funnel: one picture from commits to tasks, and below it why the rest left, stage by stage.

import { write } from './address.js'
import { coded, count, h, plural, scrolling, svg } from './dom.js'
import { query } from './statistics.js'

export async function funnel(month) {
  const answer = await month.answer('funnel')
  const stages = stagesOf(answer)
  const withdrawn = await month.tables.withdrawn.columns(['table', 'id', 'reason', 'month', 'reissued'])
  const { unmined } = month.entry
  return h('div', { class: 'funnel' },
    h('h1', {}, 'Funnel'),
    h('p', {}, summary(stages)),
    flow(stages.filter(stage => stage.stage !== 'single_revision'), matchMedia('(max-width: 44rem)').matches),
    h('p', { class: 'note' }, 'Each block is what entered a stage: the dark part stays, the light part leaves. Where the unit changes, what stayed is counted anew: a pair of commits has many test methods, and a task has several of them. Over all walks.', unmined ? ` ${waiting(unmined)}` : ''),
    h('ol', {}, ...stages.map(stage => step(stage, month.reasons, unmined))),
    query(answer),
    ...gone(withdrawn, month),
  )
}

export function stagesOf(answer) {
  const stages = new Map()
  for (const [stage, unit, entered, kept, reason, dropped] of answer.rows) {
    const found = stages.get(stage) ?? { stage, unit, entered, kept, reasons: [] }
    if (reason) found.reasons.push([reason, dropped])
    stages.set(stage, found)
  }
  return [...stages.values()]
}

function waiting(unmined) {
  return `Of the pairs that the kept commits end, ${count(unmined)} ${unmined === 1 ? 'is' : 'are'} not mined yet, and enter no stage: a later month may have them.`
}

const words = unit => unit.replaceAll('_', ' ')

function summary(stages) {
  const [first, last] = [stages[0], stages.at(-1)]
  return `From ${plural(first.entered, words(first.unit))} to ${plural(last.kept, words(last.unit))}: what entered each stage, what it kept, and why the rest left.`
}

// Blocks of one height (or, on a phone, of one width), each with the share that it kept, and the bands between them.
function flow(stages, narrow) {
  return narrow ? lying(stages) : upright(stages)
}

function upright(stages) {
  const [top, tall, block] = [44, 210, 72]
  const step = (1180 - block) / Math.max(1, stages.length - 1)
  const parts = stages.map((stage, i) => {
    const x = i * step
    const kept = share(stage) * tall
    const next = i + 1 < stages.length
    const change = next && stages[i + 1].unit !== stage.unit
    return svg('g', {},
      svg('title', {}, told(stage)),
      next ? svg('path', { class: change ? 'band counted' : 'band', d: `M${x + block} ${top}L${x + step} ${top}L${x + step} ${top + tall}L${x + block} ${top + kept}Z` }) : null,
      svg('rect', { class: 'left', x, y: top, width: block, height: tall }),
      svg('rect', { class: 'stays', x, y: top, width: block, height: Math.max(2, kept) }),
      svg('text', { class: 'name', x, y: 14 }, words(stage.stage)),
      svg('text', { class: 'number', x, y: 34 }, plural(stage.entered, words(stage.unit))),
      svg('text', { class: 'number', x, y: top + tall + 18 }, `${count(stage.kept)} kept`),
      stage.entered > stage.kept ? svg('text', { class: 'lost', x, y: top + tall + 36 }, `${count(stage.entered - stage.kept)} left`) : null,
    )
  })
  return svg('svg', { class: 'flow', role: 'img', 'aria-label': label(stages), viewBox: '0 0 1180 300' }, ...parts)
}

function lying(stages) {
  const [wide, block, step] = [340, 22, 84]
  const parts = stages.map((stage, i) => {
    const y = i * step + 20
    const kept = Math.max(2, share(stage) * wide)
    const next = i + 1 < stages.length
    const change = next && stages[i + 1].unit !== stage.unit
    return svg('g', {},
      svg('title', {}, told(stage)),
      next ? svg('path', { class: change ? 'band counted' : 'band', d: `M0 ${y + block}L${kept} ${y + block}L${wide} ${y + step}L0 ${y + step}Z` }) : null,
      svg('rect', { class: 'left', x: 0, y, width: wide, height: block }),
      svg('rect', { class: 'stays', x: 0, y, width: kept, height: block }),
      svg('text', { class: 'number', x: 0, y: y - 6 }, `${words(stage.stage)}: ${count(stage.kept)} of ${plural(stage.entered, words(stage.unit))} kept`),
    )
  })
  return svg('svg', { class: 'flow', role: 'img', 'aria-label': label(stages), viewBox: `0 0 ${wide} ${stages.length * step - step + 46}` }, ...parts)
}

function share({ entered, kept }) {
  return entered ? kept / entered : 0
}

function told({ stage, unit, entered, kept }) {
  return `${words(stage)}: ${count(kept)} of ${plural(entered, words(unit))} kept`
}

function label(stages) {
  return `The funnel. ${stages.map(told).join('; ')}.`
}

// Where it is not simply what the stage before has kept.
const ENTERS = {
  track: 'Published methods with a label that tasks are made of.',
  single_revision: 'Test files as they are at a revision, for tasks that ask for a whole file.',
  task: 'Methods of one track in one test file of a pair are one task; so is a whole test file.',
}

function step({ stage, unit, entered, kept, reasons }, sentences, unmined) {
  return h('li', {},
    h('div', { class: 'stage' },
      h('h2', {}, words(stage)),
      h('p', {}, h('strong', {}, count(kept)), ` of ${plural(entered, words(unit))} kept`),
    ),
    ENTERS[stage] ? h('p', { class: 'note' }, ENTERS[stage]) : null,
    stage === 'pair' && unmined ? h('p', { class: 'note' }, waiting(unmined)) : null,
    reasons.length ? h('dl', { class: 'reasons' }, ...reasons.map(([reason, dropped]) => h('div', {}, h('dt', {}, ...coded(sentences[reason] ?? words(reason)), h('code', { class: 'reason' }, reason)), h('dd', {}, count(dropped))))) : h('p', { class: 'note' }, 'Nothing left here.'),
  )
}

// What earlier months had: what is gone, and apart from it what is there again or has another date.
function gone(withdrawn, month) {
  const numbers = Array.from({ length: withdrawn.length }, (_, i) => i)
  const part = (title, note, none, found) => h('section', { id: title.toLowerCase() },
    h('h2', {}, title),
    h('p', { class: 'note' }, found.length ? note : none),
    found.length ? scrolling(title, h('table', { class: 'answer' },
      h('thead', {}, h('tr', {}, ...['In', 'What', 'Id', 'Why'].map(head => h('th', { scope: 'col' }, head)))),
      h('tbody', {}, ...found.map(i => h('tr', {},
        h('td', {}, withdrawn.month[i]), h('td', {}, withdrawn.table[i].replace(/s$/, '')), h('td', {}, named(withdrawn, i, month)), h('td', {}, withdrawn.reason[i].replaceAll('_', ' '))))),
    )) : null)
  const again = numbers.filter(i => withdrawn.reissued?.[i])
  return [
    part('Withdrawn', 'Earlier months had these; they are gone from this one.', 'Nothing of earlier months is gone.', numbers.filter(i => !again.includes(i))),
    again.length ? part('Changed', 'Earlier months had these otherwise, such as with another date; they are still here.', '', again) : null,
  ].filter(Boolean)
}

// An id, as a link where this month has it.
function named({ table, id, reissued }, i, month) {
  const text = h('code', {}, id[i])
  return reissued?.[i] && table[i] === 'tasks' ? h('a', { href: write('task', { month: month.address }, id[i]) }, text) : text
}
