// Which rows are those of the view `standard`: what `coevo.snapshot.standard` asks, of columns.

const PASS = 'pass'

export function standard(columns, rules) {
  const byLabel = new Map(rules.labels.map(rule => [rule.label, rule]))
  const found = new Uint8Array(columns.length)
  for (let i = 0; i < columns.length; i++) {
    const rule = byLabel.get(columns.label[i])
    found[i] =
      rule !== undefined &&
      columns.walk[i] === 'parents' &&
      columns.sandbox[i] !== 'none' &&
      columns.change[i] === rule.change &&
      Object.entries(rule.cells).every(([cell, demand]) => holds(columns, i, cell, demand, rules))
  }
  return found
}

function holds(columns, i, cell, demand, rules) {
  const outcome = columns[cell][i]
  const passes = number(columns[`${cell}_passes`][i])
  const runs = number(columns[`${cell}_runs`][i])
  if (demand === PASS) return outcome === PASS && runs >= rules.least_runs && passes === runs
  if (outcome === 'compile_error') return true
  return passes === 0 && (runs >= rules.least_runs || (outcome === 'timeout' && runs >= rules.least_timeouts))
}

function number(value) {
  return value === null || value === undefined ? NaN : Number(value)
}
