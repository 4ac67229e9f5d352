// Where a reader was on each page that was visited, so that Back leads there and not to its top.

const KEY = 'coevo-heights'

history.scrollRestoration = 'manual'
const heights = new Map(Object.entries(kept()))
let here = null

addEventListener('scroll', () => {
  if (here !== null) heights.set(here, scrollY)
}, { passive: true })
// Another site may be visited in between.
addEventListener('pagehide', () => {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(Object.fromEntries(heights)))
  } catch {
    // Without storage the heights are gone, and pages begin at their tops.
  }
})

function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY)) ?? {}
  } catch {
    return {}
  }
}

// The height to show of the page at which the browser arrived: 0 of one that is new in its history.
export function arrive() {
  here = visit()
  return heights.get(here) ?? 0
}

// What names a place in the browser's history; a browser without such names is given them.
function visit() {
  const key = globalThis.navigation?.currentEntry?.key ?? history.state?.visit
  if (key) return key
  const name = `${performance.timeOrigin}-${heights.size}`
  heights.set(name, 0)
  history.replaceState({ visit: name }, '')
  return name
}
