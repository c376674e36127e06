import { describe, expect, it } from 'vitest'
import { readUsage, writeUsage } from '#relay/conversion/openai-responses/usage.ts'

const NONE = {
  ...{ inputUncached: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 },
  ...{ inputAudio: 0, inputImage: 0, output: 0, reasoning: 0, outputAudio: 0 },
}

describe('usage in OpenAI’s responses format', () => {
  it('counts each input token once, because the input count includes cached tokens', () => {
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
      output_tokens: 50,
      output_tokens_details: { reasoning_tokens: 20 },
      total_tokens: 150,
    }
    const read = readUsage({ usage })
    const counts = { inputUncached: 30, cacheRead: 60, cacheWrite5m: 10 }
    expect(read).toEqual({ ...NONE, ...counts, output: 50, reasoning: 20 })
    expect(writeUsage(read ?? NONE)).toEqual(usage)
  })

  it('counts tokens that are written for 12 hours as written for an hour', () => {
    const details = { cache_write_tokens: 10, cache_write_tokens_details: { ttl_12h_tokens: 4 } }
    const usage = { input_tokens: 10, input_tokens_details: details, output_tokens: 0 }
    expect(readUsage({ usage })).toEqual({ ...NONE, cacheWrite5m: 6, cacheWrite1h: 4 })
  })

  it('includes all input tokens in the input count of other formats’ usage', () => {
    const usage = {
      ...{ inputUncached: 1, cacheRead: 2, cacheWrite5m: 4, cacheWrite1h: 8 },
      ...{ inputAudio: 16, inputImage: 32, output: 64, reasoning: 5, outputAudio: 3 },
    }
    expect(writeUsage(usage)).toEqual({
      input_tokens: 63,
      input_tokens_details: { cached_tokens: 2, cache_write_tokens: 12 },
      output_tokens: 64,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: 127,
    })
  })

  it('keeps the images of an answer, up to its tokens', () => {
    const usage = (image_tokens: unknown) => ({
      usage: { output_tokens: 50, output_tokens_details: { image_tokens } },
    })
    const read = readUsage(usage(30)) ?? NONE
    expect(read).toEqual({ ...NONE, output: 50, outputImage: 30 })
    expect(writeUsage(read)).toMatchObject(usage(30).usage)
    expect(readUsage(usage(70))).toEqual({ ...NONE, output: 50, outputImage: 50 })
    expect(readUsage(usage(-1))).toEqual({ ...NONE, output: 50 })
  })

  it('leaves no uncached tokens when more tokens are cached than there were', () => {
    const usage = { input_tokens: 10, input_tokens_details: { cached_tokens: 30 } }
    expect(readUsage({ usage })).toMatchObject({ inputUncached: 0, cacheRead: 30 })
  })

  it.each([
    [-5, 0],
    [1.5, 2],
    ['7', 7],
    ['many', 0],
    [null, 0],
    [Number.POSITIVE_INFINITY, 10_000_000],
    [{}, 0],
  ])('reads the count %j as %d', (reported, count) => {
    const usage = { input_tokens: reported, output_tokens: reported }
    expect(readUsage({ usage })).toEqual({ ...NONE, inputUncached: count, output: count })
  })

  it('limits reasoning to the output', () => {
    const usage = { output_tokens: 5, output_tokens_details: { reasoning_tokens: 9 } }
    expect(readUsage({ usage })).toMatchObject({ output: 5, reasoning: 5 })
  })

  it.each([undefined, null, 'none', [], 7])('reads no usage from %j', (usage) => {
    expect(readUsage({ usage })).toBeNull()
  })
})
