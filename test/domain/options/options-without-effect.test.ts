import { expect, it } from 'vitest'
import { OPTIONS } from '#domain/options/option-registry.ts'
import { sourceFiles } from '../../architecture/source-tree.ts'

const PARTS = /^(domain(?!\/options\/)|write-api|projections|read-api|relay|infra\/(?!demo))/
/** Files that name options only to describe them. */
const WORDS = /^read-api\/(contract\/option-translations|options\/option-labels-and-help-texts)/
const read = sourceFiles()
  .filter(({ path }) => PARTS.test(path) && !WORDS.test(path))
  .map(({ text }) => text)
  .join('\n')

/** Options of channel health are read by the second part of their key. */
const isRead = (key: string): boolean =>
  read.includes(`'${key}'`) || read.includes(`number('${key.replace('channel_health.', '')}')`)

it.each([...OPTIONS.values()])('$key is read by code, or is marked', ({ key, hasNoEffect }) => {
  expect(isRead(key)).toBe(hasNoEffect !== true)
})
