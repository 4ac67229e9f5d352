// Which rows are those of the view `standard`: what `coevo.snapshots.snapshot.build_standard_condition` asks, of columns.

const PASS = 'pass'

// Whether the old revision of a row's pair is an ancestor of the new one; older snapshots do not say.
export function related(columns, i) {
  return columns.old_is_ancestor?.[i] !== false
}

export function standard(columns, rules) {
  const byLabel = new Map(rules.labels.map(rule => [rule.label, rule]))
  const found = new Uint8Array(columns.length)
  for (let i = 0; i < columns.length; i++) {
    const rule = byLabel.get(columns.label[i])
    found[i] =
      rule !== undefined &&
      columns.walk[i] === 'parents' &&
      columns.sandbox[i] !== 'none' &&
      related(columns, i) &&
      columns.change[i] === rule.change &&
      !(columns.leak?.[i] >= rules.least_leak) &&
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
