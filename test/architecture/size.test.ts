import { describe, expect, it } from 'vitest'
import { functionsOf } from './function-lengths.ts'
import { WIDTH_MAX, wideLines } from './source-checks.ts'
import { sourceFiles } from './source-tree.ts'

const LINES_MAX = 400
const TEST_LINES_MAX = 600
const FUNCTION_LINES_MAX = 60

const files = sourceFiles()
const isTest = (path: string): boolean => path.startsWith('test/')

describe('sizes', () => {
  it(`no file is over ${LINES_MAX} lines (tests ${TEST_LINES_MAX})`, () => {
    const long = files
      .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
      .filter(({ path, lines }) => lines > (isTest(path) ? TEST_LINES_MAX : LINES_MAX))
    expect(long).toEqual([])
  })

  it(`no function is over ${FUNCTION_LINES_MAX} lines`, () => {
    const long = files
      .filter(({ path }) => !isTest(path))
      .flatMap((file) => functionsOf(file))
      .filter(({ lines }) => lines > FUNCTION_LINES_MAX)
    expect(long).toEqual([])
  })

  it('sees functions at all', () => {
    const text = `export function long() {\n${'  work()\n'.repeat(70)}}\n`
    expect(functionsOf({ path: 'x.ts', text })).toEqual([
      { path: 'x.ts', name: 'long', line: 1, lines: 72 },
    ])
  })

  it(`no line is wider than ${WIDTH_MAX}`, () => {
    expect(files.flatMap(wideLines)).toEqual([])
  })
})
