import { expect, it } from 'vitest'
import { formRowStarts } from '#console/features/settings/form-row-starts.ts'

const startsOf = (kinds: string) => [
  ...formRowStarts(
    [...kinds].map((kind) => ({ type: { kind: kind === 's' ? 'flag' : 'integer' } })),
  ),
]

// `s` is a switch, and `n` is a number field.
it.each([
  ['nnnnnnssnn', [0, 6, 8]],
  ['snsn', [0, 2]],
  ['snn', [0, 1]],
  ['ssn', [0, 2]],
  ['sssnsn', [0, 4]],
  ['ns', [0, 1]],
  ['', []],
])('a form with the fields %s starts its rows at %j', (kinds, starts) => {
  expect(startsOf(kinds)).toEqual(starts)
})
