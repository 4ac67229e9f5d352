// Days as text (2024-06-30), moments in milliseconds, months counted from year 0; all of it in UTC.

const DAY = 86_400_000

export function month(moment) {
  const date = new Date(moment)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

export function monthOf(text) {
  const [year, part] = text.split('-').map(Number)
  return year * 12 + part - 1
}

function day(year, part, number) {
  const date = new Date(0)
  date.setUTCFullYear(year, part, number)
  return date.toISOString().slice(0, 10)
}

export function firstDay(counted) {
  return day(Math.floor(counted / 12), counted % 12, 1)
}

export function lastDay(counted) {
  return day(Math.floor(counted / 12), (counted % 12) + 1, 0)
}

// A day as it is, a month as its first or its last day, as `coevo query --only-after` takes them; else null.
export function dayOf(text, last) {
  const [, year, part, number] = /^(\d{4})-(\d\d)(?:-(\d\d))?$/.exec(text.trim()) ?? []
  if (!year || part < 1 || part > 12) return null
  const counted = Number(year) * 12 + Number(part) - 1
  if (!number) return last ? lastDay(counted) : firstDay(counted)
  return number >= 1 && Number(number) <= Number(lastDay(counted).slice(-2)) ? text.trim() : null
}

// What a reader is told whose text is no day.
export function noDay(text) {
  return `“${text.trim()}” is no day: write it like 2024-06-30, or a month like 2024-06.`
}

// The first moment of a day, and the first after it.
export function start(text) {
  return Date.parse(`${text}T00:00:00Z`)
}

export function end(text) {
  return start(text) + DAY
}

export function shown(moment) {
  return Number.isNaN(moment) ? 'unknown' : new Date(moment).toISOString().slice(0, 10)
}

export function shownMinute(moment) {
  if (moment === null || moment === undefined || Number.isNaN(moment)) return 'unknown'
  return `${new Date(moment).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
