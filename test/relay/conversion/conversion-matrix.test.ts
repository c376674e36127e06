import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { matrixLines } from './conversion-matrix.ts'

it('the matrix of conversions in relay/README.md is what the code does', () => {
  const readme = readFileSync('relay/README.md', 'utf8')
  expect(readme).toContain(matrixLines().join('\n'))
})
