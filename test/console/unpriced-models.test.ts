import { describe, expect, it } from 'vitest'
import {
  addMissingEntries,
  createUnpricedFilter,
} from '#console/api/unpriced-models-and-preset-prices.ts'

describe('added prices of unpriced models', () => {
  it.each([
    ['nothing yet', '', '{\n  "b": 0.15\n}'],
    ['an empty object', '{}', '{\n  "b": 0.15\n}'],
    ['digits that a number would lose', '{"a": 0.1000000000000000055}', null],
    ['several lines', '{\n  "4": 1,\n  "a": 2.50\n}', null],
  ])('keep the other prices as they are: %s', (_name, before, whole) => {
    const after = addMissingEntries(before, [['b', '0.15']])
    expect(JSON.parse(after)).toMatchObject({ b: 0.15 })
    if (whole !== null) return expect(after).toBe(whole)
    expect(after.startsWith(before.slice(0, -1).trimEnd())).toBe(true)
    expect(after.endsWith('  "b": 0.15\n}')).toBe(true)
  })

  it('never replace an existing price', () => {
    const before = '{"b": 7}'
    expect(addMissingEntries(before, [['b', '0.15']])).toBe(before)
  })
})

it('a warning of missing prices leaves out only known moderations, which are free', () => {
  const options = new Map([
    ['ModelPrice', '{"draw":0.04}'],
    ['ModelRatio', '{"gpt-4o":1.25}'],
  ])
  const moderations = [
    'omni-moderation-latest',
    'text-moderation-stable',
    'mistral-moderation-2411',
  ]
  // Chats with a model of a similar name are refused until it has a price.
  const others = ['unpriced', 'content-moderation-gpt4o', 'text-moderations']
  const models = ['draw', 'gpt-4o', ...moderations, 'openai/omni-moderation-latest', ...others]
  expect(createUnpricedFilter(options)(models)).toEqual(others)
})
