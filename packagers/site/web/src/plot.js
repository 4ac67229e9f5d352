// Plots as SVG that takes the width of the page; the numbers stand in a table beside each.

import { count, svg } from './dom.js'

// Of what the SVG is drawn in: as wide as the page's text at 1280 pixels, or as a phone.
export function widthOfPage() {
  return matchMedia('(max-width: 44rem)').matches ? 350 : 1180
}

// `bars`: [{name, parts: [number]}], upright, with the names of `parts` as classes part-0, part-1, …;
// `marks`: [{name, at}], upright lines before the bar `at`, whose names stand one below the other.
export function upright(label, bars, marks = [], { width = widthOfPage(), height = 220 } = {}) {
  const most = Math.max(1, ...bars.map(bar => sum(bar.parts)))
  const [step, top] = ticks(most)
  const left = 34
  const above = marks.length ? 16 * rowsOf(marks) + 6 : 0
  const each = Math.min(90, (width - left - 20) / Math.max(1, bars.length))
  const y = value => above + height - (value / top) * (height - 14)
  const lines = Array.from({ length: Math.round(top / step) + 1 }, (_, i) => i * step).map(value => [
    svg('line', { x1: left, x2: width, y1: y(value), y2: y(value), class: 'grid' }),
    svg('text', { x: left - 5, y: y(value) + 3.5, class: 'tick' }, count(value)),
  ])
  const every = Math.ceil(60 / each)
  const columns = bars.map((bar, i) => {
    let below = 0
    const title = svg('title', {}, `${bar.name}: ${count(sum(bar.parts))}`)
    const gap = Math.min(3, each / 6)
    const parts = bar.parts.map((value, part) => {
      const from = y(below)
      below += value
      return value ? svg('rect', { x: left + i * each + gap, width: each - 2 * gap, y: y(below), height: from - y(below), class: `part-${part}` }) : null
    })
    const named = i % every === 0 ? svg('text', { x: left + (i + 0.5) * each, y: above + height + 16, class: 'middle' }, bar.name) : null
    return svg('g', {}, title, ...parts, named)
  })
  const cut = marks.map(({ name, at, row = 0 }) => mark(name, left + at * each, [above - 2 - 16 * row, y(0)], width))
  return svg('svg', { class: 'plot', role: 'img', 'aria-label': label, viewBox: `0 0 ${width} ${above + height + 24}` }, ...lines, ...cut, ...columns)
}

// `lines`: [{name, points: [{x, share, size, title}], cutoff}] with classes line-0, …: a dot for each point, as large
// as it has tasks, and an upright line where `cutoff` is; `names` of x from 0 on.
export function overTime(label, lines, names, { width = widthOfPage(), height = 240 } = {}) {
  const left = 44
  const known = lines.filter(line => line.cutoff !== null)
  const above = 16 * known.length + 8
  const each = (width - left - 24) / Math.max(1, names.length)
  const x = at => left + (at + 0.5) * each
  const y = share => above + height - share * (height - 14)
  const grid = [0, 0.25, 0.5, 0.75, 1].map(share => [
    svg('line', { x1: left, x2: width - 4, y1: y(share), y2: y(share), class: 'grid' }),
    svg('text', { x: left - 5, y: y(share) + 3.5, class: 'tick' }, `${share * 100}%`),
  ])
  const every = Math.ceil(60 / each)
  const under = names.map((name, i) => (i % every ? null : svg('text', { x: x(i), y: above + height + 16, class: 'middle' }, name)))
  const most = Math.max(1, ...lines.flatMap(line => line.points.map(point => point.size)))
  // Beside each other, so that none of several with one score hides the others.
  const apart = Math.min(11, (0.7 * each) / lines.length)
  const aside = i => (i - (lines.length - 1) / 2) * apart
  const drawn = lines.map(({ name, points }, i) => {
    const path = points.map((point, at) => `${at ? 'L' : 'M'}${(x(point.x) + aside(i)).toFixed(1)} ${y(point.share).toFixed(1)}`).join('')
    return svg('g', { class: `series line-${i % 6}` },
      svg('path', { d: path, class: `line line-${i % 6}` }, svg('title', {}, name)),
      ...points.map(point => svg('circle', { cx: x(point.x) + aside(i), cy: y(point.share), r: 2.5 + 5 * Math.sqrt(point.size / most) }, svg('title', {}, point.title))))
  })
  const cut = known.map(({ name, cutoff }, row) => mark(`${name}: cutoff`, left + cutoff * each, [above - 4 - 16 * row, y(0)], width))
  return svg('svg', { class: 'plot', role: 'img', 'aria-label': label, viewBox: `0 0 ${width} ${above + height + 24}` }, ...grid, ...cut, ...under, ...drawn)
}

// An upright line with its name at its top, on the side where there is room.
function mark(name, x, [top, bottom], width) {
  const right = x > width / 2
  return svg('g', {},
    svg('line', { x1: x, x2: x, y1: top - 10, y2: bottom, class: 'mark' }),
    svg('text', { x: x + (right ? -5 : 5), y: top, class: right ? 'tick' : 'begin' }, name))
}

function rowsOf(marks) {
  return 1 + Math.max(0, ...marks.map(({ row = 0 }) => row))
}

// `lines`: [{name, points: [[x, share]]}], each a share that rises in steps from 0 on, with classes
// line-0, line-1, …; `marks`: [{name, x}], upright.
export function steps(label, lines, marks, { whole = widthOfPage(), height = 220 } = {}) {
  const most = Math.max(...marks.map(mark => mark.x), ...lines.flatMap(line => line.points.map(([x]) => x)))
  const left = 44
  const width = whole - left - 20
  const x = value => left + (value / most) * width
  const y = share => height - share * (height - 14)
  const grid = [0, 0.25, 0.5, 0.75, 1].map(share => [
    svg('line', { x1: left, x2: left + width, y1: y(share), y2: y(share), class: 'grid' }),
    svg('text', { x: left - 5, y: y(share) + 3.5, class: 'tick' }, `${share * 100}%`),
  ])
  const upright = marks.map(mark => [
    svg('line', { x1: x(mark.x), x2: x(mark.x), y1: y(1), y2: y(0), class: 'mark' }),
    svg('text', { x: x(mark.x), y: height + 14, class: 'middle' }, mark.name),
  ])
  const paths = lines.map(({ name, points }, i) => {
    const path = points.map(([at, share]) => `H${x(at).toFixed(1)}V${y(share).toFixed(1)}`).join('')
    return svg('path', { d: `M${x(0)} ${y(0)}${path}H${x(most)}`, class: `line line-${i % 6}` }, svg('title', {}, name))
  })
  return svg('svg', { class: 'plot', role: 'img', 'aria-label': label, viewBox: `0 0 ${whole} ${height + 22}` }, ...grid, ...upright, ...paths)
}

function sum(numbers) {
  return numbers.reduce((one, other) => one + other, 0)
}

// A round distance of lines and the first of these that is not below `most`.
function ticks(most) {
  const rough = most / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = Math.max(1, [1, 2, 5, 10].map(one => one * power).find(one => one >= rough))
  return [step, Math.ceil(most / step) * step]
}
