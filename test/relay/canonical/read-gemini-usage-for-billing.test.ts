import { describe, expect, it } from 'vitest'
import { inputTokensOf, NO_USAGE } from '#domain/pricing/usage.ts'
import {
  candidatesCount,
  combineGeminiUsage,
  readGeminiUsage,
} from '#relay/canonical/read-gemini-usage-for-billing.ts'

const BOUNDS = { inputCeiling: 102_000, outputCeiling: 102_000 }
const read = (raw: unknown) => readGeminiUsage(raw, BOUNDS)
const USAGE = { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 }
const detail = (modality: string, tokenCount: unknown) => ({ modality, tokenCount })

describe('usage in Gemini’s format', () => {
  it('is read and combined although its counts can not be converted to numbers', () => {
    const hostile = { toString: 1 }
    for (const name of Object.keys(USAGE)) {
      const raw = { promptTokenCount: 100, totalTokenCount: 120, [name]: hostile }
      expect(() => [read(raw), candidatesCount(raw)]).not.toThrow()
    }
    const details = [detail('TEXT', hostile), detail('TEXT', null)]
    const earlier = { ...USAGE, candidatesTokensDetails: [detail('TEXT', 5)] }
    const combined = combineGeminiUsage(earlier, { ...USAGE, candidatesTokensDetails: details })
    expect(read(combined).isTrusted).toBe(false)
  })

  it('has thoughts beside the candidates, and the prompts of tools beside the prompt', () => {
    const raw = { ...USAGE, thoughtsTokenCount: 30, toolUsePromptTokenCount: 7 }
    expect(read(raw)).toEqual({
      usage: { ...NO_USAGE, inputUncached: 107, output: 50, reasoning: 30 },
      otherInterpretation: null,
      isTrusted: true,
      anomaly: null,
    })
  })

  it('divides the prompt by modality, without the cached part of each', () => {
    const raw = {
      ...USAGE,
      cachedContentTokenCount: 60,
      promptTokensDetails: [
        detail('TEXT', 40),
        detail('AUDIO', 30),
        detail('IMAGE', 20),
        detail('VIDEO', 10),
      ],
      cacheTokensDetails: [detail('TEXT', 30), detail('AUDIO', 20), detail('IMAGE', 10)],
      candidatesTokensDetails: [detail('TEXT', 12), detail('AUDIO', 8)],
    }
    expect(read(raw)).toMatchObject({
      anomaly: null,
      usage: {
        ...{ inputUncached: 20, cacheRead: 60, inputAudio: 10, inputImage: 10 },
        ...{ output: 20, outputAudio: 8 },
      },
    })
  })

  it('divides the answer by modality, without its thoughts', () => {
    const candidatesTokensDetails = [detail('IMAGE', 12), detail('AUDIO', 3), detail('TEXT', 5)]
    expect(read({ ...USAGE, thoughtsTokenCount: 30, candidatesTokensDetails })).toMatchObject({
      anomaly: null,
      usage: { output: 50, reasoning: 30, outputAudio: 3, outputImage: 12 },
    })
    expect(read(USAGE).usage).not.toHaveProperty('outputImage')
  })

  it.each([
    [1_000, 'parts-exceed-whole', 20],
    [-5, 'negative', 0],
    ['12', 'not-a-number', 12],
    ['x', 'not-a-number', 0],
    [1e12, 'absurd', 20],
    [11.5, 'fraction', 12],
  ])('a count of %j image tokens is %s, and at most the answer', (count, anomaly, images) => {
    const report = read({ ...USAGE, candidatesTokensDetails: [detail('IMAGE', count)] })
    expect(report).toMatchObject({ anomaly, usage: { output: 20 } })
    expect(report.usage.outputImage ?? 0).toBe(images)
    expect(report.isTrusted).toBe(anomaly === 'parts-exceed-whole')
  })

  it.each([
    ['no candidates, as the total says', { candidatesTokenCount: undefined, totalTokenCount: 100 }],
    ['zero candidates', { candidatesTokenCount: 0 }],
  ])('a count of %s is a zero', (_name, others) => {
    expect(read({ ...USAGE, ...others })).toMatchObject({
      isTrusted: true,
      anomaly: null,
      usage: { output: 0 },
    })
  })

  it.each([
    ['negative', { promptTokenCount: -1 }, 'negative'],
    ['fractional', { candidatesTokenCount: 1.5 }, 'fraction'],
    ['text', { thoughtsTokenCount: '9' }, 'not-a-number'],
    ['absurd', { candidatesTokenCount: 1e12 }, 'absurd'],
    ['missing', { promptTokenCount: undefined }, 'missing'],
    ['missing beside a larger total', { candidatesTokenCount: undefined }, 'missing'],
    ['negative in the details', { promptTokensDetails: [detail('AUDIO', -5)] }, 'negative'],
  ])('a %s count is not trusted', (_name, others, anomaly) => {
    const report = read({ ...USAGE, ...others })
    expect(report).toMatchObject({ isTrusted: false, anomaly })
    expect(inputTokensOf(report.usage)).toBeLessThanOrEqual(100)
  })

  it('a cached count above the prompt is reduced to it', () => {
    const report = read({ ...USAGE, cachedContentTokenCount: 500 })
    expect(report).toMatchObject({
      isTrusted: true,
      anomaly: 'parts-exceed-whole',
      usage: { inputUncached: 0, cacheRead: 100 },
      otherInterpretation: null,
    })
  })

  it('parts above the whole are reduced', () => {
    const promptTokensDetails = [detail('AUDIO', 80), detail('IMAGE', 80)]
    const report = read({ ...USAGE, promptTokensDetails })
    expect(report).toMatchObject({
      anomaly: 'parts-exceed-whole',
      usage: { inputAudio: 80, inputImage: 20, inputUncached: 0 },
    })
  })

  it.each([null, undefined, 5, 'x'])('%j is no usage', (raw) => {
    expect(read(raw)).toMatchObject({ isTrusted: false, anomaly: 'missing', usage: NO_USAGE })
  })

  it('the last chunk counts, and a lower or missing count does not lower the bill', () => {
    const first = { promptTokenCount: 100, candidatesTokenCount: 5, cachedContentTokenCount: 10 }
    const last = { promptTokenCount: 100, candidatesTokenCount: 9, thoughtsTokenCount: 3 }
    const combined = combineGeminiUsage(combineGeminiUsage(undefined, first), last)
    expect(combined).toEqual({ ...first, ...last })
    expect(combineGeminiUsage(combined, { promptTokenCount: 0 })).toEqual({ ...first, ...last })
  })

  it.each([-5, 1.5, 'x'])('an invalid count of %j in a later list of details is kept', (count) => {
    const details = (images: unknown) => ({
      candidatesTokensDetails: [detail('TEXT', 5), detail('IMAGE', images)],
    })
    const combined = combineGeminiUsage({ ...USAGE, ...details(12) }, details(count))
    const report = read(combined)
    expect(report.isTrusted).toBe(false)
    expect(report.usage.outputImage).toBeGreaterThanOrEqual(12)
  })

  it('a later list of details does not hide images of an earlier one', () => {
    const details = (...candidatesTokensDetails: object[]) => ({ candidatesTokensDetails })
    const early = details(detail('TEXT', 5), detail('IMAGE', 1120))
    const late = details(detail('TEXT', 9), detail('IMAGE', 0), detail('AUDIO', 2))
    expect(combineGeminiUsage(early, late)).toEqual(
      details(detail('TEXT', 9), detail('IMAGE', 1120), detail('AUDIO', 2)),
    )
    expect(combineGeminiUsage(early, {})).toEqual(early)
    expect(combineGeminiUsage(undefined, late)).toEqual(late)
  })
})
