import { describe, expect, it } from 'vitest'
import { readUsage, UsageReports, writeUsage } from '#relay/conversion/anthropic-messages/usage.ts'
import { canonicalUsage } from './canonical-values.ts'

describe('reading usage', () => {
  it('counts the cache beside the input, and thinking within the output', () => {
    const usage = {
      input_tokens: 10,
      cache_read_input_tokens: 2000,
      cache_creation_input_tokens: 700,
      cache_creation: { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 400 },
      output_tokens: 50,
      output_tokens_details: { thinking_tokens: 20 },
      server_tool_use: { web_search_requests: 1 },
    }
    expect(readUsage(usage)).toEqual(
      canonicalUsage({
        inputUncached: 10,
        cacheRead: 2000,
        cacheWrite5m: 300,
        cacheWrite1h: 400,
        output: 50,
        reasoning: 20,
      }),
    )
  })

  it.each<[string, object, number, number]>([
    ['only a total', { cache_creation_input_tokens: 9 }, 9, 0],
    ['only a split', { cache_creation: { ephemeral_1h_input_tokens: 9 } }, 0, 9],
    [
      'a total above the split',
      { cache_creation_input_tokens: 9, cache_creation: { ephemeral_1h_input_tokens: 4 } },
      5,
      4,
    ],
    [
      'a total below the split',
      {
        cache_creation_input_tokens: 3,
        cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 4 },
      },
      0,
      3,
    ],
    [
      'a total of 0 beside a split',
      { cache_creation_input_tokens: 0, cache_creation: { ephemeral_5m_input_tokens: 5 } },
      5,
      0,
    ],
  ])('divides the cache writes with %s', (_, usage, cacheWrite5m, cacheWrite1h) => {
    expect(readUsage(usage)).toEqual(canonicalUsage({ cacheWrite5m, cacheWrite1h }))
  })

  it.each([null, undefined, 'many', 5, []])('has no usage in %o', (usage) => {
    expect(readUsage(usage)).toBe(null)
  })

  it.each<[unknown, number]>([
    [-5, 0],
    ['7', 0],
    [null, 0],
    [Number.NaN, 0],
    [Number.POSITIVE_INFINITY, 0],
    [2.9, 2],
    [1e300, Number.MAX_SAFE_INTEGER],
  ])('reads the count %o as %i', (count, expected) => {
    expect(readUsage({ input_tokens: count, output_tokens: count })).toEqual(
      canonicalUsage({ inputUncached: expected, output: expected }),
    )
  })

  it('never has more thinking than output', () => {
    const details = { thinking_tokens: 9 }
    expect(readUsage({ output_tokens: 4, output_tokens_details: details })?.reasoning).toBe(4)
  })
})

describe('the usage reports of a stream', () => {
  const split = { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 40 }
  const first = {
    input_tokens: 100,
    cache_read_input_tokens: 50,
    cache_creation_input_tokens: 100,
    cache_creation: split,
    output_tokens: 1,
  }
  const afterFirst = { inputUncached: 100, cacheRead: 50, cacheWrite5m: 60, cacheWrite1h: 40 }

  function lastOf(...usages: unknown[]) {
    const reports = new UsageReports()
    return usages.map((usage) => reports.add(usage)).at(-1)
  }

  it.each<[string, object, object]>([
    ['only has the output', { output_tokens: 9 }, { ...afterFirst, output: 9 }],
    [
      'repeats the input without the split of cache writes',
      { ...first, cache_creation: undefined, output_tokens: 9 },
      { ...afterFirst, output: 9 },
    ],
    [
      'has null for the input',
      { input_tokens: null, cache_read_input_tokens: null, output_tokens: 9 },
      { ...afterFirst, output: 9 },
    ],
    [
      'has an input of 0 everywhere',
      {
        input_tokens: 0,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        output_tokens: 9,
      },
      { ...afterFirst, output: 9 },
    ],
    [
      'corrects the input',
      {
        input_tokens: 10,
        cache_read_input_tokens: 240,
        cache_creation_input_tokens: 0,
        output_tokens: 9,
      },
      { inputUncached: 10, cacheRead: 240, output: 9 },
    ],
    ['has a negative output', { output_tokens: -9 }, { ...afterFirst, output: 1 }],
  ])('are replaced, never added, by a later one that %s', (_, later, expected) => {
    expect(lastOf(first, later)).toEqual(canonicalUsage(expected))
  })

  it('take the input from a later report if the first has none', () => {
    expect(lastOf({ input_tokens: 0, output_tokens: 0 }, { ...first, output_tokens: 9 })).toEqual(
      canonicalUsage({ ...afterFirst, output: 9 }),
    )
  })

  it('are null for any other value', () => {
    expect(lastOf(first, 'many')).toBe(null)
  })
})

describe('writing usage', () => {
  it('excludes the cache from the input, and includes audio and images', () => {
    const usage = canonicalUsage({
      inputUncached: 1,
      cacheRead: 2,
      cacheWrite5m: 4,
      cacheWrite1h: 8,
      inputAudio: 16,
      inputImage: 32,
      output: 64,
      reasoning: 5,
      outputAudio: 7,
    })
    expect(writeUsage(usage)).toEqual({
      input_tokens: 49,
      cache_read_input_tokens: 2,
      cache_creation_input_tokens: 12,
      cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 8 },
      output_tokens: 64,
      output_tokens_details: { thinking_tokens: 5 },
    })
  })

  it('is read as the same usage', () => {
    const usage = canonicalUsage({
      inputUncached: 1,
      cacheRead: 2,
      cacheWrite5m: 3,
      cacheWrite1h: 4,
      output: 5,
      reasoning: 5,
    })
    expect(readUsage(writeUsage(usage))).toEqual(usage)
  })

  it('has zeros if there is no usage, because the format requires counts', () => {
    expect(writeUsage(null)).toMatchObject({ input_tokens: 0, output_tokens: 0 })
  })
})
