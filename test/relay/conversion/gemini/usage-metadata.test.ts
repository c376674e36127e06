import { describe, expect, it } from 'vitest'
import { readUsage, writeUsage } from '#relay/conversion/gemini/usage-metadata.ts'

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

describe('reading Gemini’s usage', () => {
  it('takes cached tokens out of the prompt, and adds tool results and thoughts', () => {
    const usage = readUsage({
      promptTokenCount: 1000,
      cachedContentTokenCount: 600,
      toolUsePromptTokenCount: 50,
      candidatesTokenCount: 200,
      thoughtsTokenCount: 300,
      totalTokenCount: 1550,
    })
    expect(usage).toEqual({
      ...NONE,
      inputUncached: 450,
      cacheRead: 600,
      output: 500,
      reasoning: 300,
    })
  })

  it('counts audio and images once, even if they are cached', () => {
    const usage = readUsage({
      promptTokenCount: 100,
      cachedContentTokenCount: 40,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 30 },
        { modality: 'AUDIO', tokenCount: 50 },
        { modality: 'IMAGE', tokenCount: 20 },
      ],
      cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 40 }],
      candidatesTokenCount: 9,
      candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 8 }],
    })
    expect(usage).toEqual({
      ...NONE,
      inputUncached: 30,
      cacheRead: 40,
      inputAudio: 10,
      inputImage: 20,
      output: 9,
      outputAudio: 8,
    })
  })

  it('keeps the total input when the details exceed the prompt', () => {
    const usage = readUsage({
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      promptTokensDetails: [
        { modality: 'AUDIO', tokenCount: 30 },
        { modality: 'IMAGE', tokenCount: 70 },
      ],
    })
    expect(usage).toMatchObject({ cacheRead: 60, inputAudio: 30, inputImage: 10, inputUncached: 0 })
  })

  it('leaves no negative remainder when more is cached than sent', () => {
    const usage = readUsage({ promptTokenCount: 10, cachedContentTokenCount: 15 })
    expect(usage).toEqual({ ...NONE, cacheRead: 15 })
  })

  it('finds the answer’s tokens in the total if their count is missing', () => {
    const usage = { promptTokenCount: 10, thoughtsTokenCount: 3, totalTokenCount: 20 }
    expect(readUsage(usage)).toMatchObject({ output: 10, reasoning: 3 })
    expect(readUsage({ ...usage, candidatesTokenCount: 0 })).toMatchObject({ output: 3 })
    expect(readUsage({ ...usage, totalTokenCount: 5 })).toMatchObject({ output: 3 })
  })

  it.each([
    [-5, 0],
    [1.2, 2],
    ['17', 17],
    ['many', 0],
    [null, 0],
    [Number.NaN, 0],
    [Number.POSITIVE_INFINITY, 2 ** 31 - 1],
    [[3], 0],
  ])('reads the count %j as %d', (value, expected) => {
    const usage = readUsage({ promptTokenCount: value, candidatesTokenCount: 0 })
    expect(usage).toMatchObject({ inputUncached: expected })
  })

  it('ignores details that are no lists of counts', () => {
    const odd = { promptTokenCount: 4, promptTokensDetails: 'AUDIO', cacheTokensDetails: [null, 1] }
    expect(readUsage(odd)).toEqual({ ...NONE, inputUncached: 4 })
  })

  it.each([[undefined], [null], ['x'], [[]]])('reports no usage for %j', (value) => {
    expect(readUsage(value)).toBeNull()
  })
})

describe('writing Gemini’s usage', () => {
  it('includes every kind of input in the prompt, and keeps thoughts beside the answer', () => {
    const usage = {
      inputUncached: 1,
      cacheRead: 20,
      cacheWrite5m: 300,
      cacheWrite1h: 4000,
      inputAudio: 50_000,
      inputImage: 600_000,
      output: 70,
      reasoning: 30,
      outputAudio: 10,
    }
    expect(writeUsage(usage)).toEqual({
      promptTokenCount: 654_321,
      cachedContentTokenCount: 20,
      candidatesTokenCount: 40,
      thoughtsTokenCount: 30,
      totalTokenCount: 654_391,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 4321 },
        { modality: 'IMAGE', tokenCount: 600_000 },
        { modality: 'AUDIO', tokenCount: 50_000 },
      ],
      candidatesTokensDetails: [
        { modality: 'TEXT', tokenCount: 30 },
        { modality: 'AUDIO', tokenCount: 10 },
      ],
    })
  })

  it('is read again as the same usage', () => {
    const usage = {
      ...NONE,
      inputUncached: 5,
      cacheRead: 7,
      inputAudio: 11,
      inputImage: 13,
      output: 17,
      reasoning: 4,
      outputAudio: 2,
      outputImage: 3,
    }
    expect(readUsage(writeUsage(usage))).toEqual(usage)
    expect(readUsage(writeUsage(NONE))).toEqual(NONE)
  })
})
