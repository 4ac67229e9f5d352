// Bars, stacked or lying, as SVG that scales with the page; the numbers stand in a table beside them.

import { count, svg } from './dom.js'

// `bars`: [{name, parts: [number]}], upright, with the names of `parts` as classes part-0, part-1, …
export function upright(label, bars, { height = 220, width = 22 } = {}) {
  const most = Math.max(1, ...bars.map(bar => sum(bar.parts)))
  const [step, top] = ticks(most)
  const left = 34
  const whole = left + bars.length * width + 4
  const y = value => height - (value / top) * (height - 14)
  const lines = Array.from({ length: Math.round(top / step) + 1 }, (_, i) => i * step).map(value => [
    svg('line', { x1: left, x2: whole, y1: y(value), y2: y(value), class: 'grid' }),
    svg('text', { x: left - 5, y: y(value) + 3.5, class: 'tick' }, count(value)),
  ])
  const columns = bars.map((bar, i) => {
    let below = 0
    const title = svg('title', {}, `${bar.name}: ${count(sum(bar.parts))}`)
    const parts = bar.parts.map((value, part) => {
      const from = y(below)
      below += value
      return value ? svg('rect', { x: left + i * width + 3, width: width - 6, y: y(below), height: from - y(below), class: `part-${part}` }) : null
    })
    const x = left + (i + 0.5) * width
    return svg('g', {}, title, ...parts, svg('text', { x, y: height + 10, class: 'under', transform: `rotate(-55 ${x} ${height + 10})` }, bar.name))
  })
  return svg('svg', { class: 'plot', role: 'img', 'aria-label': label, viewBox: `0 0 ${whole} ${height + 62}`, width: whole, height: height + 62 }, ...lines, ...columns)
}

// `lines`: [{name, points: [[x, share]]}], each a share that rises in steps from 0 on, with classes
// line-0, line-1, …; `marks`: [{name, x}], upright.
export function steps(label, lines, marks, { width = 560, height = 220 } = {}) {
  const most = Math.max(...marks.map(mark => mark.x), ...lines.flatMap(line => line.points.map(([x]) => x)))
  const left = 44
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
  const whole = left + width + 20
  return svg('svg', { class: 'plot', role: 'img', 'aria-label': label, viewBox: `0 0 ${whole} ${height + 22}`, width: whole, height: height + 22 }, ...grid, ...upright, ...paths)
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
