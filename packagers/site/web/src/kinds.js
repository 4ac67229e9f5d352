// The kind of a task: its track if it asks for single tests of a change, else its family.

export const TRACKS = ['generation', 'update', 'extension', 'repair']
export const FAMILIES = ['maintenance', 'implement', 'class', 'file', 'function', 'module']

// As headings of scores.
export const TITLES = {
  generation: 'Test generation', update: 'Test update', extension: 'Test extension', repair: 'Test repair',
  maintenance: 'Maintenance of a test file', implement: 'Code for given tests',
  class: 'Tests of a class', file: 'Tests of a source file', function: 'Tests of a function', module: 'Tests of a package',
}

// What is asked for, in a sentence.
const ASKED = {
  generation: 'Write the tests that the change needs.',
  update: 'Update the tests that the change broke.',
  extension: 'Extend tests that pass before and after, so that they notice the change.',
  repair: 'Repair tests that were wrong, while the code stays.',
  maintenance: 'Maintain the whole test file: what the change breaks is updated, the rest stays.',
  implement: 'Write the code of the change, of which the new tests are given.',
  class: 'Write the tests of a class that has none yet.',
  file: 'Write, complete, repair or update the test file of a source file.',
  function: 'Write the tests of one function.',
  module: 'Write the tests of a package of several files.',
}

export function kindOf({ family, track }) {
  return family && family !== 'coevolution' ? family : track
}

export function sentence(kind) {
  return ASKED[kind] ?? null
}

// The tests that a task names: its targets, or those for which code is to be written.
export function testsOf({ test_methods: targets, demanded }) {
  if (targets.length || !demanded) return targets
  return demanded.filter(one => one.role === 'target').map(one => one.test_method)
}

// The tests of a task in few words; `most` of them by name.
export function told(names, kind, most = Infinity) {
  if (!names.length) return kind === 'maintenance' ? 'the whole file' : 'a suite'
  const simple = names.slice(0, most).map(name => name.split('#').at(-1)).join(', ')
  const given = kind === 'implement' ? `code for ${simple}` : simple
  return names.length > most ? `${given} and ${names.length - most} more` : given
}
