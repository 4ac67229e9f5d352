// Elements without markup in strings: whatever the data holds is shown as text.

const SVG = 'http://www.w3.org/2000/svg'

export function h(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children)
}

export function svg(tag, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children)
}

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value)
    else if (name === 'value') element.value = value
    else element.setAttribute(name, value === true ? '' : value)
  }
  element.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined))
  return element
}

// Digits in groups of three, the same for every reader.
export function count(number) {
  return number.toLocaleString('en-US')
}

// A name that may be broken where a reader would break it: after a dot or `_`, and before a capital.
export function breakable(name) {
  return name.split(/(?<=[._#/])|(?<=[a-z0-9])(?=[A-Z])/).flatMap((part, i) => (i ? [h('wbr'), part] : [part]))
}

// Text in which backticks mark code.
export function coded(text) {
  return text.split('`').map((part, i) => (i % 2 ? h('code', {}, part) : part))
}

// What may be wider than the screen: it scrolls by itself, and says so where there is more to see.
export function scrolling(label, ...content) {
  const box = h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label }, ...content)
  const hint = h('p', { class: 'aside', hidden: true }, 'There is more on the right: scroll this sideways.')
  const look = () => {
    hint.hidden = box.scrollWidth <= box.clientWidth
    box.classList.toggle('more-right', box.scrollLeft + box.clientWidth < box.scrollWidth - 1)
  }
  const observer = new ResizeObserver(look)
  for (const one of [box, ...box.children]) observer.observe(one)
  box.addEventListener('scroll', look, { passive: true })
  return [hint, box]
}

export function plural(number, word) {
  return `${count(number)} ${word}${number === 1 ? '' : 's'}`
}
