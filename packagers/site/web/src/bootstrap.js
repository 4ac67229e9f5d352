// Means with intervals, bootstrapped over repositories: what `coevo.evaluation.reporting.bootstrap`
// does, draw by draw, so that a subset of tasks gets the interval that a report of it would have.

export const RESAMPLES = 2000
const OUTSIDE = 50 // of the sorted means at either end: 95 % lie between
const SEED = 8

// The Mersenne Twister as Python seeds it by a small number; the doubles of `random.Random.random`.
// Matsumoto and Nishimura, https://doi.org/10.1145/272991.272995
function twister(seed) {
  const size = 624
  const state = new Uint32Array(size)
  const begin = number => {
    state[0] = number
    for (let i = 1; i < size; i++) state[i] = Math.imul(1812433253, state[i - 1] ^ (state[i - 1] >>> 30)) + i
  }
  const mixed = (i, factor) => state[i] ^ Math.imul(state[i - 1] ^ (state[i - 1] >>> 30), factor)
  begin(19650218)
  let i = 1
  const turn = () => {
    i += 1
    if (i < size) return
    state[0] = state[size - 1]
    i = 1
  }
  for (let left = size; left; left--) {
    state[i] = mixed(i, 1664525) + seed
    turn()
  }
  for (let left = size - 1; left; left--) {
    state[i] = mixed(i, 1566083941) - i
    turn()
  }
  state[0] = 0x80000000
  let next = size
  const refill = () => {
    for (let k = 0; k < size; k++) {
      const bits = (state[k] & 0x80000000) | (state[(k + 1) % size] & 0x7fffffff)
      state[k] = state[(k + 397) % size] ^ (bits >>> 1) ^ (bits & 1 ? 0x9908b0df : 0)
    }
    next = 0
  }
  const whole = () => {
    if (next === size) refill()
    let bits = state[next++]
    bits ^= bits >>> 11
    bits ^= (bits << 7) & 0x9d2c5680
    bits ^= (bits << 15) & 0xefc60000
    return (bits ^ (bits >>> 18)) >>> 0
  }
  return () => {
    const high = whole() >>> 5
    return (high * 67108864 + (whole() >>> 6)) / 9007199254740992
  }
}

const drawn = new Map()

// How often each repository is drawn, for every resample; none where there are fewer than two.
export function draws(repositories) {
  if (repositories < 2) return []
  if (!drawn.has(repositories)) {
    const lot = twister(SEED)
    drawn.set(repositories, Array.from({ length: RESAMPLES }, () => {
      const weights = new Uint16Array(repositories)
      for (let i = 0; i < repositories; i++) weights[Math.floor(lot() * repositories)] += 1
      return weights
    }))
  }
  return drawn.get(repositories)
}

// `samples`: [{repo, value}]. {value, low, high, units, repositories}; null of none.
export function estimate(samples) {
  const repos = names(samples)
  const side = sums(samples, repos)
  const [low, high] = interval(draws(repos.length).map(weights => mean(side, weights)))
  return { value: mean(side), low, high, units: samples.length, repositories: repos.length }
}

// The mean of the second samples less that of the first, of the same drawn repositories.
export function difference(first, second) {
  const repos = names([...first, ...second])
  const one = sums(first, repos)
  const other = sums(second, repos)
  const less = weights => {
    const [low, high] = [mean(one, weights), mean(other, weights)]
    return low === null || high === null ? null : high - low
  }
  const [low, high] = interval(draws(repos.length).map(less))
  return { value: less(), low, high }
}

function names(samples) {
  return [...new Set(samples.map(sample => sample.repo))].sort()
}

function sums(samples, repos) {
  const place = new Map(repos.map((repo, i) => [repo, i]))
  const side = { totals: new Float64Array(repos.length), counts: new Uint32Array(repos.length) }
  for (const { repo, value } of samples) {
    side.totals[place.get(repo)] += value
    side.counts[place.get(repo)] += 1
  }
  return side
}

function mean({ totals, counts }, weights = null) {
  let total = 0
  let count = 0
  for (let i = 0; i < totals.length; i++) {
    const weight = weights ? weights[i] : 1
    total += weight * totals[i]
    count += weight * counts[i]
  }
  return count ? total / count : null
}

function interval(means) {
  const known = Float64Array.from(means.filter(one => one !== null)).sort()
  if (!known.length) return [null, null]
  const outside = Math.floor((OUTSIDE * known.length) / RESAMPLES)
  return [known[outside], known[known.length - 1 - outside]]
}
