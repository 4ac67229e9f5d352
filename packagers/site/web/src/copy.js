// Text that a reader takes along, with a button that does so.

import { h } from './dom.js'

const SHOWN_MS = 2000

// A button that copies `text`; `what` says to those who hear the page what is copied.
export function copyButton(text, what) {
  const button = h('button', { type: 'button', class: 'copy', 'aria-label': `Copy ${what}` }, 'Copy')
  const told = h('span', { class: 'hidden', role: 'status' })
  button.addEventListener('click', async () => {
    const done = await copied(text)
    button.textContent = done ? 'Copied' : 'Not copied'
    told.textContent = done ? `Copied ${what}` : 'The browser does not allow copying'
    setTimeout(() => {
      button.textContent = 'Copy'
      told.textContent = ''
    }, SHOWN_MS)
  })
  return [button, told]
}

export function copyable(text, what) {
  return h('span', { class: 'copyable' }, h('code', {}, text), ...copyButton(text, what))
}

// Without HTTPS a browser has no clipboard for pages; then the old way is tried.
async function copied(text) {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text).then(() => true, () => old(text))
  }
  return old(text)
}

function old(text) {
  const area = h('textarea', { class: 'hidden', value: text })
  document.body.append(area)
  area.select()
  const done = document.execCommand('copy')
  area.remove()
  return done
}
