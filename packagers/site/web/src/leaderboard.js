// The place of the scores: there are none yet.

import { count, h } from './dom.js'

export function leaderboard(month) {
  const { rows, manifest_sha256: sum } = month.entry
  return h('div', { class: 'leaderboard' },
    h('h1', {}, 'Leaderboard'),
    h('div', { class: 'empty' },
      h('p', { class: 'big' }, 'No scores yet.'),
      h('p', {}, `Scores of agents on the ${count(rows.tasks)} tasks of ${month.name} will stand here, each for the tasks that were public only after the model’s training cutoff.`),
      h('p', {}, 'They will name the bytes that were scored by this manifest: ', h('code', {}, sum)),
    ),
  )
}
