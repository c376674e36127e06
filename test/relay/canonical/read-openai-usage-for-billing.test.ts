import { describe, expect, it } from 'vitest'
import { NO_USAGE } from '#domain/pricing/usage.ts'
import type { UsageReport } from '#relay/canonical/provider-usage-report.ts'
import {
  readOpenAiUsage,
  readResponsesUsage,
} from '#relay/canonical/read-openai-usage-for-billing.ts'
import { usageInAnswer } from '#relay/dialects/openai-chat/usage-in-answer.ts'

const BOUNDS = { inputCeiling: 102_000, outputCeiling: 102_000 }
const read = (raw: unknown) => readOpenAiUsage(raw, BOUNDS)

const inputOf = (report: UsageReport): number => {
  const { inputUncached, cacheRead, cacheWrite5m, inputAudio, inputImage } = report.usage
  return inputUncached + cacheRead + cacheWrite5m + inputAudio + inputImage
}

const otherInputOf = (report: UsageReport): number =>
  report.otherInterpretation === null
    ? 0
    : inputOf({ ...report, usage: report.otherInterpretation })

describe('usage in OpenAI’s format', () => {
  it.each([
    ...['prompt_tokens', 'completion_tokens', 'total_tokens', 'cached_tokens'],
    ...['prompt_tokens_details', 'completion_tokens_details'],
  ])('is not trusted, but read, if `%s` can not be converted to a number', (name) => {
    const values: unknown[] = [
      { toString: 1 },
      { cached_tokens: { toString: 1 }, audio_tokens: [{}] },
    ]
    for (const value of values) {
      const raw = { prompt_tokens: 100, completion_tokens: 50, [name]: value }
      const report = readOpenAiUsage(raw, BOUNDS, true)
      expect(inputOf(report)).toBe(name === 'prompt_tokens' ? 0 : 100)
    }
    const raw = { prompt_tokens: { toString: 1 }, completion_tokens: 5 }
    expect(read(raw)).toMatchObject({ isTrusted: false, anomaly: 'not-a-number' })
  })

  it('includes cached, audio and image tokens in the prompt', () => {
    const raw = {
      prompt_tokens: 100,
      completion_tokens: 50,
      prompt_tokens_details: {
        cached_tokens: 40,
        audio_tokens: 10,
        image_tokens: 5,
        cache_write_tokens: 7,
      },
      completion_tokens_details: { reasoning_tokens: 20, audio_tokens: 8 },
    }
    expect(read(raw)).toMatchObject({
      isTrusted: true,
      usage: {
        inputUncached: 38,
        cacheRead: 40,
        cacheWrite5m: 7,
        inputAudio: 10,
        inputImage: 5,
        output: 50,
        reasoning: 20,
        outputAudio: 8,
      },
    })
  })

  it.each([
    [{ prompt_cache_hit_tokens: 9 }, { cacheRead: 9 }],
    [{ prompt_tokens_details: { cached_tokens: 9 } }, { cacheRead: 9 }],
    [{ prompt_tokens_details: { cache_write_tokens: 9 } }, { cacheWrite5m: 9 }],
    [
      { prompt_tokens_details: { cached_tokens: 9, cache_write_tokens: 2, audio_tokens: 3 } },
      { inputUncached: 2, cacheRead: 9, cacheWrite5m: 2, inputAudio: 3 },
    ],
    [
      { prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 5 } },
      { cacheRead: 4, cacheWrite5m: 5 },
    ],
  ])('reads a cache larger than the prompt within it, or else beside it: %j', (cache, kinds) => {
    const raw = { prompt_tokens: 5, completion_tokens: 1, ...cache }
    const otherInterpretation = { inputUncached: 5, cacheRead: 0, cacheWrite5m: 0, ...kinds }
    const report = read(raw)
    expect(report).toMatchObject({
      otherInterpretation,
      isTrusted: true,
      anomaly: 'parts-exceed-whole',
    })
    expect(inputOf(report)).toBe(5)
    expect(report.usage.inputUncached).toBe(0)
  })

  it('keeps cache writes, which cost more than reads, if both exceed the prompt', () => {
    const prompt_tokens_details = { cached_tokens: 600, cache_write_tokens: 401 }
    const raw = { prompt_tokens: 1_000, completion_tokens: 1, prompt_tokens_details }
    const usage = { inputUncached: 0, cacheRead: 599, cacheWrite5m: 401 }
    expect(read(raw)).toMatchObject({ usage, anomaly: 'parts-exceed-whole' })
  })

  it.each(['cached_tokens', 'cache_write_tokens'])(
    'bounds %s beyond the prompt by the ceiling of the input',
    (name) => {
      const raw = { prompt_tokens: 100, completion_tokens: 1 }
      const lie = read({ ...raw, prompt_tokens_details: { [name]: 9_000_000 } })
      expect(lie).toMatchObject({ isTrusted: true, anomaly: 'parts-exceed-whole' })
      expect(inputOf(lie)).toBe(100)
      expect(lie.otherInterpretation?.inputUncached).toBe(100)
      expect(otherInputOf(lie)).toBe(BOUNDS.inputCeiling)
      const truth = read({ ...raw, prompt_tokens_details: { [name]: 100 } })
      expect(truth).toMatchObject({ isTrusted: true, anomaly: null })
      expect(inputOf(truth)).toBe(100)
    },
  )

  it('gives no discount for the cache in a report with another impossible count', () => {
    const prompt_tokens_details = { cached_tokens: 90 }
    const raw = { prompt_tokens: 100, completion_tokens: -1, prompt_tokens_details }
    const usage = { inputUncached: 100, cacheRead: 0 }
    expect(read(raw)).toMatchObject({ isTrusted: false, usage, anomaly: 'negative' })
  })

  it.each(['audio_tokens', 'image_tokens'])(
    'bounds %s by the prompt tokens and reports the anomaly',
    (name) => {
      const raw = { prompt_tokens: 100, completion_tokens: 1 }
      const lie = read({ ...raw, prompt_tokens_details: { [name]: 9_000_000 } })
      expect(lie).toMatchObject({ isTrusted: true, anomaly: 'parts-exceed-whole' })
      expect(inputOf(lie)).toBe(100)
      const truth = read({ ...raw, prompt_tokens_details: { [name]: 100 } })
      expect(truth).toMatchObject({ isTrusted: true, anomaly: null })
      expect(inputOf(truth)).toBe(100)
    },
  )

  it('cuts overlapping parts to the prompt and keeps the cheapest part whole', () => {
    const parts = { cached_tokens: 60, audio_tokens: 50, image_tokens: 40 }
    const raw = { prompt_tokens: 100, completion_tokens: 1, prompt_tokens_details: parts }
    const usage = { inputUncached: 0, cacheRead: 60, inputAudio: 40, inputImage: 0 }
    expect(read(raw)).toMatchObject({ usage, anomaly: 'parts-exceed-whole' })
  })

  it('bounds reasoning and audio in the answer by the length of the answer', () => {
    const completion_tokens_details = { reasoning_tokens: 70, audio_tokens: 80 }
    const raw = { prompt_tokens: 1, completion_tokens: 50, completion_tokens_details }
    const usage = { output: 50, reasoning: 50, outputAudio: 50 }
    expect(read(raw)).toMatchObject({ usage, anomaly: 'parts-exceed-whole' })
  })

  it('has image tokens in the answer, which are limited to the rest of the answer', () => {
    const withImages = (image_tokens: unknown) =>
      read({
        ...{ prompt_tokens: 1, completion_tokens: 50 },
        completion_tokens_details: { audio_tokens: 20, image_tokens },
      })
    const usage = { output: 50, outputAudio: 20, outputImage: 30 }
    expect(withImages(30)).toMatchObject({ usage, anomaly: null })
    expect(withImages(31)).toMatchObject({ usage, anomaly: 'parts-exceed-whole' })
    expect(withImages('30')).toMatchObject({ usage, isTrusted: false })
    expect(withImages(-1)).toMatchObject({ isTrusted: false, anomaly: 'negative' })
    for (const none of [0, undefined, null, -1, 'x']) {
      expect(withImages(none).usage).not.toHaveProperty('outputImage')
    }
  })

  it('has the image tokens of an answer of the Responses API', () => {
    const raw = {
      ...{ input_tokens: 1, output_tokens: 50 },
      output_tokens_details: { image_tokens: 30 },
    }
    const context = { ...BOUNDS, body: Buffer.alloc(0), isOutputTotalLessPrompt: false }
    const usage = { output: 50, outputImage: 30 }
    expect(readResponsesUsage(raw, context)).toMatchObject({ usage, anomaly: null })
  })

  it('lowers an output beyond the ceiling of the answer to the ceiling', () => {
    const raw = { prompt_tokens: 10, completion_tokens: 3, total_tokens: 9_000_000 }
    const report = readOpenAiUsage(raw, BOUNDS, true)
    expect(report).toMatchObject({ usage: { output: 102_000 }, anomaly: 'absurd' })
  })

  it.each([
    [
      { prompt_tokens: 102_001, completion_tokens: 1 },
      { inputUncached: 102_000, output: 1 },
    ],
    [
      { prompt_tokens: 9_000_000, completion_tokens: 1 },
      { inputUncached: 102_000, output: 1 },
    ],
    [
      { prompt_tokens: 1, completion_tokens: 102_001 },
      { inputUncached: 1, output: 102_000 },
    ],
  ])('charges a count beyond its ceiling at the ceiling: %j', (raw, usage) => {
    expect(read(raw)).toMatchObject({ isTrusted: false, usage, anomaly: 'absurd' })
  })

  it('takes the total less the prompt as the output where the provider omits reasoning', () => {
    const raw = { prompt_tokens: 10, completion_tokens: 3, total_tokens: 40 }
    expect(readOpenAiUsage(raw, BOUNDS, true)).toMatchObject({ usage: { output: 30 } })
    expect(read(raw)).toMatchObject({ usage: { output: 3 } })
  })

  it('does not subtract a prompt beyond its ceiling from the total', () => {
    const raw = { prompt_tokens: 1e12, completion_tokens: 3, total_tokens: 90_000 }
    const report = readOpenAiUsage(raw, BOUNDS, true)
    expect(report).toMatchObject({ usage: { output: 90_000 }, anomaly: 'absurd' })
  })

  it.each([null, 'text', 3])('%j counts as missing usage', (raw) => {
    const anomaly = 'missing'
    expect(read(raw)).toEqual({
      usage: NO_USAGE,
      otherInterpretation: null,
      isTrusted: false,
      anomaly,
    })
  })

  const CEILING = 102_000
  it.each([
    ['{}', 'missing', 0, 0],
    ['{"prompt_tokens":1}', 'missing', 1, 0],
    ['{"completion_tokens":20000}', 'missing', 0, 20_000],
    ['{"prompt_tokens":-1,"completion_tokens":1}', 'negative', 0, 1],
    ['{"prompt_tokens":700.5,"completion_tokens":20000}', 'fraction', 701, 20_000],
    ['{"prompt_tokens":1,"completion_tokens":0.5}', 'fraction', 1, 1],
    ['{"prompt_tokens":"700","completion_tokens":"20000"}', 'not-a-number', 700, 20_000],
    ['{"prompt_tokens":true,"completion_tokens":[9]}', 'not-a-number', 0, 0],
    ['{"prompt_tokens":1e9,"completion_tokens":1}', 'absurd', CEILING, 1],
    ['{"prompt_tokens":1,"completion_tokens":10000001}', 'absurd', 1, CEILING],
    ['{"prompt_tokens":1,"completion_tokens":1e999}', 'absurd', 1, CEILING],
  ])('reads the valid counts of %s and reports it as %s', (...row) => {
    const [json, anomaly, input, output] = row
    const report = read(JSON.parse(json))
    expect(report).toMatchObject({ isTrusted: false, anomaly, usage: { output } })
    expect(inputOf(report)).toBe(input)
  })

  it.each([
    [{ cached_tokens: -1 }, 'negative'],
    [{ cached_tokens: 50.5 }, 'fraction'],
    [{ cached_tokens: '50' }, 'not-a-number'],
  ])('gives no discount for %j', (prompt_tokens_details, anomaly) => {
    const raw = { prompt_tokens: 100, completion_tokens: 1, prompt_tokens_details }
    const usage = { inputUncached: 100, cacheRead: 0 }
    expect(read(raw)).toMatchObject({ isTrusted: false, usage, anomaly })
  })

  it('gives no discount for an absurd cache, which may be beside the prompt', () => {
    const prompt_tokens_details = { cached_tokens: 1e9 }
    const raw = { prompt_tokens: 100, completion_tokens: 1, prompt_tokens_details }
    const report = read(raw)
    const usage = { inputUncached: 100, cacheRead: 0 }
    expect(report).toMatchObject({ usage, isTrusted: false, anomaly: 'absurd' })
    expect(otherInputOf(report)).toBe(CEILING)
  })

  it('gives no discount for the cache of a prompt that was cut', () => {
    const prompt_tokens_details = { cached_tokens: 400_000 }
    const raw = { prompt_tokens: 500_000, completion_tokens: 1, prompt_tokens_details }
    const usage = { inputUncached: CEILING, cacheRead: 0 }
    expect(read(raw)).toMatchObject({ usage, anomaly: 'absurd' })
  })
})

describe('usage in a plain answer', () => {
  const find = (value: unknown) => usageInAnswer(Buffer.from(JSON.stringify(value)))

  it('is found at the start or the end without parsing the whole answer', () => {
    const usage = { prompt_tokens: 1, details: { text: 'a } " \\ {' } }
    expect(find({ choices: [{}], usage })).toEqual(usage)
    expect(find({ usage, choices: [{}] })).toEqual(usage)
  })

  it('is the outermost one, whatever the answer’s text contains', () => {
    const usage = { prompt_tokens: 1 }
    const content = JSON.stringify({ usage: { prompt_tokens: 99 } })
    expect(find({ choices: [{ message: { content } }], usage })).toEqual(usage)
    expect(find({ choices: [{ usage: { prompt_tokens: 99 } }], usage })).toEqual(usage)
  })

  it('is undefined when there is none', () => {
    expect(find({ choices: [] })).toBeUndefined()
    expect(usageInAnswer(Buffer.from('{"usage":{"a":1'))).toBeUndefined()
  })
})
