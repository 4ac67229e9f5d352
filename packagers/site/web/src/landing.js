// What a reader who comes for the first time is told: what this is, how a task is proven, how to load it.

import { write } from './address.js'
import { copyable } from './copy.js'
import { count, h, plural, svg } from './dom.js'

// `tasks`: all of the month, of whatever family
export function landing(month, tasks) {
  const { figures, withheld } = month.entry
  const projects = new Set(tasks.repo).size
  return h('section', { class: 'landing', 'aria-labelledby': 'what' },
    h('div', { class: 'words' },
      h('h1', { id: 'what' }, 'Tests that had to follow the code'),
      h('p', {}, `These are ${plural(figures.tasks, 'task')} from the Git history of ${plural(projects, 'open-source project')}${projects < figures.repositories ? ` (of ${count(figures.repositories)} that were mined)` : ''}: write the test that a change needs (${count(figures.coevolution_generation)}), update one that it broke (${count(figures.coevolution_update)}), extend one for it (${count(figures.coevolution_extension)}), repair one that was wrong (${count(figures.coevolution_repair)}), or maintain a whole test file (${count(figures.maintenance + figures.suites)})${figures.implement ? `; or write the code of which the new tests are given (${count(figures.implement)})` : ''}. Each was proven by running old and new tests on old and new code, again and again, in a sandbox. Each carries the earliest date at which its answer may have been public, so that you can keep to what a model cannot have seen.`),
      h('p', {}, `The snapshot ${month.name} holds ${plural(figures.labelled_methods, 'labelled test method')} of ${plural(figures.pairs, 'pair')} of commits and never changes. Load its tasks:`),
      load(month),
      withheld ? h('p', { class: 'withheld', role: 'note' }, 'This edition holds no code of others: the columns with texts are empty. Each task links to its change at the host, and ', h('code', {}, `coevo get ${month.name}`), ' fills the texts in from public clones.') : null,
      h('p', { class: 'ways' },
        h('a', { href: write('leaderboard', { month: month.address }) }, 'Who solves them'), ' · ',
        h('a', { href: write('statistics', { month: month.address }) }, 'What they are like'), ' · ',
        month.links.manual ? [h('a', { href: month.links.manual, rel: 'noreferrer' }, 'Manual'), ' · '] : null,
        h('a', { href: write('funnel', { month: month.address }) }, 'What was left out, and why')),
    ),
    picture(),
  )
}

// The files lie beside this page, so their address is one that a reader can reach.
function load(month) {
  const paths = (month.entry.files.tasks ?? []).map(file => `${month.name}/${file.path}`)
  if (!paths.length) return null
  const folder = paths[0].replace(/[^/]*$/, '')
  const address = path => new URL(path, document.baseURI).href
  const names = paths.map(path => JSON.stringify(path.slice(folder.length))).join(', ')
  const line = paths.length === 1
    ? `pandas.read_parquet("${address(paths[0])}")`
    : `pandas.concat(pandas.read_parquet("${address(folder)}" + name) for name in [${names}])`
  return h('p', {}, copyable(line, 'the line that loads the tasks'))
}

const CELLS = [
  ['old tests', 'old code', 'pass', 'it worked'],
  ['old tests', 'new code', 'broken', 'the change broke it'],
  ['new tests', 'old code', 'open', 'may not even compile'],
  ['new tests', 'new code', 'pass', 'and was mended'],
]

// The four cells of an update.
function picture() {
  const [left, top, width, height] = [84, 34, 150, 78]
  const cells = CELLS.map(([tests, code, outcome, why], i) => {
    const x = left + (i % 2) * (width + 8)
    const y = top + Math.floor(i / 2) * (height + 8)
    return svg('g', { class: `cell ${outcome}` },
      svg('title', {}, `${tests} on ${code}: ${why}`),
      svg('rect', { x, y, width, height, rx: 6 }),
      svg('text', { x: x + width / 2, y: y + 36, class: 'verdict' }, { pass: 'pass', broken: 'broken', open: 'not needed' }[outcome]),
      svg('text', { x: x + width / 2, y: y + 56, class: 'why' }, why))
  })
  const heads = ['old code', 'new code'].map((text, i) => svg('text', { x: left + width / 2 + i * (width + 8), y: 22, class: 'head' }, text))
  const sides = ['old tests', 'new tests'].map((text, i) => svg('text', { x: left - 10, y: top + height / 2 + 4 + i * (height + 8), class: 'side' }, text))
  const label = 'An update in four cells: old tests pass on old code and are broken on new code; new tests pass on new code.'
  return h('figure', {},
    svg('svg', { class: 'picture', role: 'img', 'aria-label': label, viewBox: '0 0 400 204' }, ...heads, ...sides, ...cells),
    h('figcaption', { class: 'note' }, 'What makes a test an update. Each of these outcomes stands on at least three runs in fresh processes and in different orders, which have to agree; what does not compile is compiled once.'),
  )
}
