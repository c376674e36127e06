import { describe, expect, it } from 'vitest'
import { inputTokensOf, NO_USAGE } from '#domain/pricing/usage.ts'
import { TOKEN_COUNT_MAX } from '#relay/conversion/limit-ids-model-names-and-token-counts.ts'
import { readUsage, writeUsage } from '#relay/conversion/openai-chat/usage.ts'

const read = (usage: unknown, rest = {}) => readUsage({ usage, ...rest })

const NONE = {
  inputUncached: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  inputAudio: 0,
  inputImage: 0,
  output: 0,
  reasoning: 0,
  outputAudio: 0,
}

describe('reading usage', () => {
  it('takes cached, audio and image tokens out of the prompt count', () => {
    const usage = {
      prompt_tokens: 1000,
      completion_tokens: 200,
      total_tokens: 1200,
      prompt_tokens_details: {
        cached_tokens: 600,
        cache_write_tokens: 100,
        audio_tokens: 50,
        image_tokens: 30,
      },
      completion_tokens_details: { reasoning_tokens: 120, audio_tokens: 40 },
    }
    expect(read(usage)).toEqual({
      ...NONE,
      inputUncached: 220,
      cacheRead: 600,
      cacheWrite5m: 100,
      inputAudio: 50,
      inputImage: 30,
      output: 200,
      reasoning: 120,
      outputAudio: 40,
    })
  })

  it.each([
    ['DeepSeek', { prompt_cache_hit_tokens: 60, prompt_cache_miss_tokens: 40 }, {}],
    ['Zhipu', { cached_tokens: 60 }, {}],
    ['llama.cpp', {}, { timings: { cache_n: 60 } }],
  ])('reads the cached tokens of %s', (_, members, outer) => {
    const usage = { prompt_tokens: 100, completion_tokens: 1, ...members }
    expect(read(usage, outer)).toMatchObject({ inputUncached: 40, cacheRead: 60, output: 1 })
  })

  it('reads the usage in a choice, as Moonshot sends it', () => {
    const choices = [{ index: 0, usage: { prompt_tokens: 3, completion_tokens: 4 } }]
    expect(readUsage({ choices })).toMatchObject({ inputUncached: 3, output: 4 })
  })

  it('splits cache writes by lifetime, as Qwen reports them', () => {
    const details = {
      cache_creation_input_tokens: 70,
      cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 50 },
    }
    const usage = read({ prompt_tokens: 100, prompt_tokens_details: details })
    expect(usage).toMatchObject({ inputUncached: 30, cacheWrite5m: 20, cacheWrite1h: 50 })
  })

  it('adds the reasoning at xAI, whose completion count excludes it', () => {
    const details = { completion_tokens_details: { reasoning_tokens: 300 } }
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 315, ...details }
    expect(read(usage)).toMatchObject({ output: 305, reasoning: 300 })
    expect(read({ ...usage, total_tokens: 15 })).toMatchObject({ output: 5, reasoning: 5 })
  })

  it('leaves no uncached tokens if the cached tokens exceed the prompt', () => {
    const usage = { prompt_tokens: 10, prompt_tokens_details: { cached_tokens: 90 } }
    expect(read(usage)).toMatchObject({ inputUncached: 0, cacheRead: 90 })
  })

  it('counts a cached token of audio once', () => {
    const details = { cached_tokens: 80, audio_tokens: 50 }
    const usage = read({ prompt_tokens: 100, prompt_tokens_details: details })
    expect(usage).toMatchObject({ cacheRead: 80, inputAudio: 20, inputUncached: 0 })
  })

  it.each([
    [{ prompt_tokens: -5, completion_tokens: -1 }, 0, 0],
    [{ prompt_tokens: 1.5, completion_tokens: '7' }, 2, 7],
    [{ prompt_tokens: 'x', completion_tokens: null }, 0, 0],
    [{ prompt_tokens: 1e300, completion_tokens: 3 }, TOKEN_COUNT_MAX, 3],
    [{ prompt_tokens_details: 'none', completion_tokens_details: [1] }, 0, 0],
    [{}, 0, 0],
  ])('reads the wrong counts %j as integers from 0', (usage, inputUncached, output) => {
    expect(read(usage)).toEqual({ ...NONE, inputUncached, output })
  })

  it.each([[null], [undefined], ['many'], [[1]]])('reads %j as no usage', (usage) => {
    expect(read(usage)).toBeNull()
  })
})

describe('writing usage', () => {
  it('includes every input token in the prompt count', () => {
    const usage = {
      inputUncached: 7,
      cacheRead: 600,
      cacheWrite5m: 100,
      cacheWrite1h: 10,
      inputAudio: 50,
      inputImage: 30,
      output: 200,
      reasoning: 120,
      outputAudio: 40,
    }
    const written = writeUsage(usage)
    expect(written).toMatchObject({
      prompt_tokens: 797,
      completion_tokens: 200,
      total_tokens: 997,
      prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 110, audio_tokens: 50 },
      completion_tokens_details: { reasoning_tokens: 120, audio_tokens: 40 },
    })
    expect(inputTokensOf({ ...NO_USAGE, ...usage })).toBe(written.prompt_tokens)
    expect(read(written)).toEqual(usage)
  })

  it('keeps the images of an answer, up to the rest of its tokens', () => {
    const usage = { ...NONE, output: 50, outputAudio: 20, outputImage: 30 }
    const written = writeUsage(usage)
    expect(written).toMatchObject({ completion_tokens_details: { image_tokens: 30 } })
    expect(read(written)).toEqual(usage)
    const details = { audio_tokens: 20, image_tokens: 70 }
    expect(read({ completion_tokens: 50, completion_tokens_details: details })).toEqual(usage)
  })

  it('writes no usage of zeros as anything else', () => {
    expect(writeUsage(NONE)).toEqual({
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
    })
  })
})
