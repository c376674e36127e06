import { describe, expect, it } from 'vitest'
import { readOpenAiUsage } from '#relay/canonical/usage-report.ts'
import { usageInAnswer } from '#relay/dialects/openai-chat/usage-in-answer.ts'

const BOUNDS = { inputTokensMax: 1_000, outputTokensMax: 1_000 }
const read = (raw: unknown) => readOpenAiUsage(raw, BOUNDS)

describe('usage as OpenAI counts it', () => {
  it('has cached, audio and image tokens inside the prompt', () => {
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

  it('never has a remainder below zero', () => {
    const raw = { prompt_tokens: 5, completion_tokens: 1, prompt_cache_hit_tokens: 9 }
    expect(read(raw)).toMatchObject({ usage: { inputUncached: 0, cacheRead: 9 } })
  })

  it('takes the output to be the total less the prompt where reasoning is left out', () => {
    const raw = { prompt_tokens: 10, completion_tokens: 3, total_tokens: 40 }
    expect(readOpenAiUsage(raw, BOUNDS, true)).toMatchObject({ usage: { output: 30 } })
    expect(read(raw)).toMatchObject({ usage: { output: 3 } })
  })

  it.each([
    [null, 'missing'],
    ['text', 'missing'],
    [{}, 'missing'],
    [{ prompt_tokens: 1 }, 'missing'],
    [{ prompt_tokens: -1, completion_tokens: 1 }, 'negative'],
    [{ prompt_tokens: 1, completion_tokens: 0.5 }, 'fraction'],
    [{ prompt_tokens: '1', completion_tokens: 1 }, 'not-a-number'],
    [{ prompt_tokens: 1e9, completion_tokens: 1 }, 'absurd'],
    [{ prompt_tokens: 1, completion_tokens: 1e9 }, 'absurd'],
    [{ prompt_tokens: 1, completion_tokens: 1, prompt_cache_hit_tokens: -1 }, 'negative'],
  ])('%j is not believed: %s', (raw, anomaly) => {
    expect(read(raw)).toEqual({ isTrusted: false, anomaly })
  })
})

describe('the usage in a plain answer', () => {
  const find = (value: unknown) => usageInAnswer(Buffer.from(JSON.stringify(value)))

  it('is found without building the answer, in front or at the end', () => {
    const usage = { prompt_tokens: 1, details: { text: 'a } " \\ {' } }
    expect(find({ choices: [{}], usage })).toEqual(usage)
    expect(find({ usage, choices: [{}] })).toEqual(usage)
  })

  it('is the outermost one, whatever the answer’s own words hold', () => {
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
