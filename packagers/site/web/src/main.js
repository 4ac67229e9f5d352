// The page: which months there are, what the address asks for, and the frame around it.

import { read, write } from './address.js'
import { h, plural } from './dom.js'
import { arrive } from './places.js'
import { explorer } from './explorer.js'
import { Month } from './month.js'
import { methodView, taskView } from './item.js'
import { funnel } from './funnel.js'
import { statistics } from './statistics.js'
import { leaderboard } from './leaderboard.js'

const VIEWS = {
  explore: { title: 'Explore', make: (month, { limits, home }) => explorer(month, limits, home) },
  statistics: { title: 'Statistics', make: (month, { limits }) => statistics(month, limits) },
  funnel: { title: 'Funnel', make: month => funnel(month) },
  leaderboard: { title: 'Leaderboard', make: (month, { limits }) => leaderboard(month, limits) },
  task: { make: (month, { id }) => taskView(month, id, months) },
  method: { make: (month, { id }) => methodView(month, id, months) },
}
const NOWHERE = { make: month => nowhere(month) }

let months = []
let shown = 0

async function show() {
  const place = read(location.hash)
  const view = Object.hasOwn(VIEWS, place.view) ? VIEWS[place.view] : NOWHERE
  const month = months.find(one => one.name === place.limits.month) ?? months[0]
  place.limits.month = month === months[0] ? '' : month.name
  month.address = place.limits.month
  const turn = ++shown
  frame(place, view, month)
  const content = document.getElementById('content')
  try {
    const element = await view.make(month, place)
    if (turn !== shown) return
    content.replaceChildren(element)
  } catch (error) {
    if (turn === shown) content.replaceChildren(trouble(error))
    throw error
  }
  content.dataset.ready = location.hash
}

// Of an address that names no view.
function nowhere(month) {
  const views = Object.entries(VIEWS).filter(([, view]) => view.title)
  return h('div', { class: 'empty' },
    h('p', { class: 'big' }, 'There is no such page.'),
    h('p', {}, 'This site has ', views.flatMap(([name, view], i) => [i ? ', ' : '', h('a', { href: write(name, { month: month.address }) }, view.title)]), ', and a page for each task and test method. A list can be limited to a repository.'))
}

function trouble(error) {
  return h('div', { class: 'empty', role: 'alert' },
    h('p', { class: 'big' }, 'This could not be shown.'),
    h('p', {}, String(error.message ?? error)),
    location.protocol === 'file:' ? h('p', {}, 'A page that was opened from a disk may not read its files: serve its folder, for example with ', h('code', {}, 'python3 -m http.server'), '.') : null,
  )
}

function frame(place, view, month) {
  const month_ = place.limits.month
  const tabs = Object.entries(VIEWS).filter(([, view]) => view.title).map(([name, view]) =>
    h('a', { href: write(name, { month: month_ }), 'aria-current': name === place.view ? 'page' : null }, view.title),
  )
  const select = h('select', { 'aria-label': 'Snapshot' }, ...months.map(one => h('option', { value: one.name }, one.name)))
  select.value = month.name
  select.addEventListener('change', () => {
    location.hash = write(view === NOWHERE ? 'explore' : place.view, { month: select.value === months[0].name ? '' : select.value }, place.id)
  })
  document.getElementById('header').replaceChildren(
    h('a', { class: 'name', href: write('', { month: month_ }) }, 'coevo'),
    h('nav', { class: 'tabs', 'aria-label': 'Sections' }, ...tabs),
    h('label', { class: 'month' }, 'Snapshot ', select),
  )
  document.getElementById('footer').replaceChildren(...footer(month))
  document.title = `${view === NOWHERE ? 'No such page' : view.title ?? place.id} · coevo ${month.name}`
}

function footer(month) {
  const { figures, withheld, manifest_sha256: sum, release_sha256: whole, descriptions = [] } = month.entry
  const code = withheld ? 'The code of others is withheld' : 'Code in it: under the licence that each row names'
  const links = [
    ['Repository', month.links.repository],
    ['Manual', month.links.manual],
    ['Cite it', 'CITATION.cff'],
    ['Licence of coevo', 'LICENSE'],
    ['Licences of what this page is made of', 'licences.txt'],
    ...descriptions.map(name => [DESCRIPTIONS[name] ?? name, `${month.name}/${name}`]),
  ].filter(([, address]) => address)
  return [
    h('p', {}, `Snapshot ${month.name}: ${plural(figures.tasks, 'task')}, ${plural(figures.labelled_methods, 'test method')} with a label, ${plural(figures.pairs, 'pair')} of commits. ${code}; the rest: CC BY 4.0.`),
    h('p', {}, `SHA-256 of the manifest of this ${whole ? 'edition' : 'snapshot'} `, h('code', {}, sum), ...(whole ? ['; of that of the complete release ', h('code', {}, whole)] : [])),
    h('ul', { class: 'links' }, ...links.map(([text, address]) => h('li', {}, h('a', { href: address, rel: 'noreferrer' }, text)))),
    h('details', { class: 'download' }, h('summary', {}, `Download the tables that this page reads, as Parquet`),
      h('ul', {}, ...Object.values(month.entry.files).flat().map(file => h('li', {}, h('a', { href: `${month.name}/${file.path}`, download: `${month.name}-${file.path.split('/').slice(1).join('-')}` }, file.path), ` (${Math.ceil(file.size / 1000)} kB)`)))),
  ]
}

const DESCRIPTIONS = { 'README.md': 'Card', 'manifest.json': 'Manifest', 'croissant.json': 'Croissant' }

async function begin() {
  const answer = await fetch('site.json')
  if (!answer.ok) throw new Error(`site.json: ${answer.status}`)
  const index = await answer.json()
  months = index.months.map(entry => new Month(entry, index))
  addEventListener('hashchange', async () => {
    const height = arrive()
    await show()
    scrollTo(0, height)
    // Where a reader by keys or by ear goes on.
    document.getElementById('content').focus({ preventScroll: true })
  })
  const height = arrive()
  await show()
  if (height) scrollTo(0, height)
}

begin().catch(error => {
  const content = document.getElementById('content')
  if (!months.length) content.replaceChildren(trouble(error))
  console.error(error)
})
