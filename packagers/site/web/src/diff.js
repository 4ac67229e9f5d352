// A patch as Git writes it, file by file, with the line numbers of both ends.

import { count, h } from './dom.js'

const AT_ONCE = 600
const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)/

export function diff(title, patch) {
  const files = parse(patch)
  const changed = files.flatMap(file => file.lines)
  const added = changed.filter(line => line.kind === 'added').length
  const removed = changed.filter(line => line.kind === 'removed').length
  return h('section', { class: 'diff' },
    h('h2', {}, title, ' ', h('span', { class: 'sum' }, `+${count(added)} −${count(removed)}`)),
    ...(files.length ? files.map(shown) : [h('p', { class: 'note' }, 'No change.')]),
  )
}

// What stands before the lines of a file and says nothing that they do not.
const QUIET = /^(index |old mode|new mode|similarity index|rename |--- |\+\+\+ |GIT binary patch)/

// [{name, lines: [{kind, text, old, new}]}]
export function parse(patch) {
  const files = []
  let file = null
  let place = null // the next lines of both ends; null before the first hunk of a file
  const begin = name => {
    file = { name, lines: [] }
    files.push(file)
    place = null
  }
  for (const text of patch.replace(/\n$/, '').split('\n')) {
    const hunk = HUNK.exec(text)
    if (text.startsWith('diff --git ')) begin(text.replace(/^.* b\//, ''))
    else if (hunk) {
      place = { old: Number(hunk[1]), new: Number(hunk[2]) }
      file.lines.push({ kind: 'hunk', text: hunk[3].trim() })
    } else if (place) file.lines.push(...line(text, place))
    else if (text.startsWith('--- ') && !file) begin(text.slice(4).replace(/^a\//, ''))
    else if (file && text && !QUIET.test(text)) file.lines.push({ kind: 'hunk', text })
  }
  return files
}

function line(text, place) {
  if (text.startsWith('+')) return [{ kind: 'added', text: text.slice(1), new: place.new++ }]
  if (text.startsWith('-')) return [{ kind: 'removed', text: text.slice(1), old: place.old++ }]
  if (text.startsWith('\\')) return [{ kind: 'hunk', text: text.slice(1).trim() }]
  return [{ kind: 'same', text: text.slice(1), old: place.old++, new: place.new++ }]
}

function shown(file) {
  const body = h('tbody', {}, ...file.lines.slice(0, AT_ONCE).map(row))
  const rest = file.lines.length - AT_ONCE
  const more = rest > 0 && h('button', {
    type: 'button',
    onclick: event => {
      body.append(...file.lines.slice(AT_ONCE).map(row))
      event.target.remove()
    },
  }, `Show ${count(rest)} more lines`)
  return h('div', { class: 'file' },
    h('h3', {}, file.name),
    h('div', { class: 'code', tabindex: '0', role: 'region', 'aria-label': `Change of ${file.name}` }, h('table', {}, body)),
    more || null,
  )
}

const SIGNS = { added: '+', removed: '−', same: '', hunk: '' }

function row({ kind, text, old, new: now }) {
  if (kind === 'hunk') return h('tr', { class: 'hunk' }, h('td', { colspan: '4' }, text || '⋯'))
  return h('tr', { class: kind },
    h('td', { class: 'number', 'data-number': old ?? '' }),
    h('td', { class: 'number', 'data-number': now ?? '' }),
    h('td', { class: 'sign' }, SIGNS[kind]),
    h('td', { class: 'line' }, text || ' '),
  )
}
