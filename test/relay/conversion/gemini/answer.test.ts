import { describe, expect, it } from 'vitest'
import type { CanonicalAnswer, StopReason } from '#relay/canonical/canonical-answer.ts'
import { createStreamReader, readAnswer } from '#relay/conversion/gemini/read-answer-and-stream.ts'
import { readRequest } from '#relay/conversion/gemini/read-request.ts'
import { writeAnswer } from '#relay/conversion/gemini/write-answer.ts'
import { ANSWER } from './answers.ts'

const candidate = (parts: unknown, rest = {}) => ({
  candidates: [{ content: { role: 'model', parts }, ...rest }],
})
const choiceOf = (body: Record<string, unknown>) => readAnswer(body).choices[0]
const MADE_UP = 'gemini_call_xhjWaLmpFOuHz7IPl8_0_3'

describe('reading an answer in Gemini’s format', () => {
  it('reads thoughts, texts, calls and usage', () => {
    expect(readAnswer(ANSWER)).toEqual({
      id: 'xhjWaLmpFOuHz7IPl8mR4Aw',
      model: 'gemini-3.5-flash',
      choices: [
        {
          parts: [
            { kind: 'thinking', text: 'Both must be read.' },
            { kind: 'text', text: 'I read them.' },
            {
              kind: 'tool-call',
              id: 'c1',
              name: 'read',
              argumentsJson: '{"path":"a"}',
              signature: 'c2lnbmF0dXJl',
            },
            { kind: 'tool-call', id: MADE_UP, name: 'list', argumentsJson: '{}' },
          ],
          stop: 'tool-calls',
          stopSequence: null,
          logprobs: null,
        },
      ],
      usage: {
        inputUncached: 40,
        cacheRead: 60,
        cacheWrite5m: 0,
        cacheWrite1h: 0,
        inputAudio: 0,
        inputImage: 0,
        output: 50,
        reasoning: 30,
        outputAudio: 0,
      },
    })
    expect(MADE_UP.length).toBeLessThanOrEqual(40)
  })

  it('reads pictures as Markdown, but no drafts and no other data', () => {
    const data = (mimeType: string) => ({ inlineData: { mimeType, data: 'aQ==' } })
    const draft = { ...data('image/png'), thought: true }
    const odd = [data('audio/wav'), data('image/png)'), { inlineData: { mimeType: 'image/png' } }]
    const parts = [draft, { text: 'Here:\n' }, data('image/png'), ...odd]
    const text = 'Here:\n![image](data:image/png;base64,aQ==)'
    expect(choiceOf(candidate(parts))?.parts).toEqual([{ kind: 'text', text }])
  })

  it.each<[string, StopReason]>([
    ['STOP', 'end'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'refusal'],
    ['RECITATION', 'refusal'],
    ['PROHIBITED_CONTENT', 'refusal'],
    ['SPII', 'refusal'],
    ['BLOCKLIST', 'refusal'],
    ['LANGUAGE', 'refusal'],
    ['OTHER', 'interrupted'],
    ['SOMETHING_NEW', 'end'],
  ])('reads the end %s as %s', (finishReason, stop) => {
    expect(choiceOf(candidate([{ text: 'a' }], { finishReason }))?.stop).toBe(stop)
  })

  it.each([
    ['MALFORMED_FUNCTION_CALL', 'Malformed', 'Malformed'],
    ['MALFORMED_RESPONSE', '', 'The answer of the model ended with MALFORMED_RESPONSE.'],
  ])('reads a fault of the model as an error: %s', (finishReason, finishMessage, message) => {
    const body = candidate([{ text: 'a' }], { finishReason, finishMessage })
    expect(() => readAnswer(body)).toThrow(message)
    const reader = createStreamReader()
    reader.read(body, '')
    expect(reader.finish()).toEqual([{ kind: 'error', type: 'INTERNAL', message, isOfModel: true }])
  })

  it('reads a blocked prompt as a refusal', () => {
    const usageMetadata = { promptTokenCount: 5 }
    const body = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata }
    expect(readAnswer(body)).toMatchObject({
      choices: [{ parts: [], stop: 'refusal' }],
      usage: { inputUncached: 5, output: 0 },
    })
  })

  it('keeps signatures of texts and thoughts', () => {
    const parts = [
      { text: 'Hm', thought: true },
      { text: '', thought: true, thoughtSignature: 'b25l' },
      { text: 'Yes' },
      { text: '', thoughtSignature: 'dHdv' },
    ]
    expect(choiceOf(candidate(parts))?.parts).toEqual([
      { kind: 'thinking', text: 'Hm', signature: 'gemini:b25l' },
      { kind: 'text', text: 'Yes', signature: 'dHdv' },
    ])
  })

  it('reads several choices and their log probabilities', () => {
    const logprobsResult = {
      chosenCandidates: [{ token: 'é', tokenId: 5, logProbability: -0.5 }],
      topCandidates: [{ candidates: [{ token: 'e', logProbability: -1 }] }],
    }
    const body = {
      candidates: [
        { index: 1, content: { parts: [{ text: 'b' }] }, finishReason: 'MAX_TOKENS' },
        { index: 0, content: { parts: [{ text: 'a' }] }, finishReason: 'STOP', logprobsResult },
      ],
    }
    const { choices } = readAnswer(body)
    expect(choices).toMatchObject([{ stop: 'end' }, { stop: 'length', logprobs: null }])
    expect(choices[0]?.logprobs).toEqual([
      {
        token: 'é',
        logprob: -0.5,
        bytes: [0xc3, 0xa9],
        top_logprobs: [{ token: 'e', logprob: -1, bytes: [0x65] }],
      },
    ])
  })

  it.each([
    [{}],
    [{ candidates: 'x' }],
    [{ candidates: [null, 1, 'x', []] }],
    [{ candidates: [{ index: -1 }, { index: 1e9 }, { index: 0.5 }, { index: 'x' }] }],
    [candidate(null)],
    [candidate('x')],
    [candidate([null, 1, {}, { text: 1 }, { functionCall: 'x' }, { functionCall: {} }])],
    [candidate([{ functionCall: { name: 'f', args: 'x' } }, { inlineData: {} }])],
    [candidate([{ text: 'a', thought: true, thoughtSignature: 'cHJvdmlkZXI6' }])],
    [candidate([{ text: 'a', thoughtSignature: {} }], { finishReason: 5, logprobsResult: [1] })],
    [{ candidates: [{ logprobsResult: { chosenCandidates: [null, {}], topCandidates: 'x' } }] }],
    [{ usageMetadata: 'x', responseId: 5, modelVersion: null, promptFeedback: 'x' }],
    [{ error: { code: 500, message: 5 } }],
  ])('never throws: %j', (body) => {
    expect(() => readAnswer(body)).not.toThrow()
  })

  it('bounds the numbers of choices and parts', () => {
    const call = { functionCall: { name: 'f' } }
    const body = {
      candidates: [
        { index: 0, content: { parts: Array.from({ length: 200_000 }, () => call) } },
        ...Array.from({ length: 300 }, (_, index) => ({ index })),
      ],
    }
    const { choices } = readAnswer(body)
    expect(choices.length).toBeLessThanOrEqual(128)
    expect(choices[0]?.parts).toHaveLength(128)
  })
})

describe('writing an answer in Gemini’s format', () => {
  it('writes an answer as it was read', () => {
    expect(writeAnswer(readAnswer(ANSWER))).toEqual(ANSWER)
  })

  it('writes a text part for an answer without parts', () => {
    const answer: CanonicalAnswer = {
      id: 'i',
      model: 'm',
      choices: [{ parts: [], stop: 'refusal', stopSequence: null, logprobs: null }],
      usage: null,
    }
    expect(writeAnswer(answer)).toEqual({
      candidates: [
        { content: { parts: [{ text: '' }], role: 'model' }, finishReason: 'SAFETY', index: 0 },
      ],
      modelVersion: 'm',
      responseId: 'i',
    })
  })

  it.each<[StopReason, string]>([
    ['end', 'STOP'],
    ['tool-calls', 'STOP'],
    ['stop-sequence', 'STOP'],
    ['length', 'MAX_TOKENS'],
    ['refusal', 'SAFETY'],
    ['pause', 'OTHER'],
  ])('writes the end %s as %s', (stop, finishReason) => {
    const choice = { parts: [], stop, stopSequence: 'x', logprobs: null }
    const answer = { id: '', model: '', choices: [choice], usage: null }
    expect(writeAnswer(answer)).toMatchObject({ candidates: [{ finishReason }] })
  })

  it('writes log probabilities as they were read', () => {
    const logprobsResult = {
      chosenCandidates: [{ token: 'a', logProbability: -0.5 }],
      topCandidates: [{ candidates: [{ token: 'b', logProbability: -1 }] }],
    }
    const body = candidate([{ text: 'a' }], { logprobsResult })
    expect(writeAnswer(readAnswer(body))).toMatchObject({ candidates: [{ logprobsResult }] })
  })

  it('lets a caller send back the thoughts of another provider', () => {
    const parts = [
      { kind: 'thinking', text: 'Hm', signature: 'made by Claude' },
      { kind: 'thinking', text: '', redacted: 'made by Claude too' },
      { kind: 'refusal', text: 'No' },
      { kind: 'tool-call', id: 'toolu_1', name: 'f', argumentsJson: '' },
      { kind: 'tool-call', id: 'toolu_2', name: 'f', argumentsJson: '{"a' },
    ] as const
    const choice = { parts, stop: 'end', stopSequence: null, logprobs: null } as const
    const { candidates } = writeAnswer({ id: '', model: '', choices: [choice], usage: null }) as {
      candidates: { content: { parts: { thoughtSignature?: string }[] } }[]
    }
    const content = candidates[0]?.content
    expect(content?.parts[0]?.thoughtSignature).toMatch(/^[A-Za-z0-9+/]+=*$/)
    const request = readRequest({ contents: [content] }, { model: 'm', isStream: false })
    expect(request.value.messages).toEqual([
      {
        role: 'assistant',
        parts: [
          parts[0],
          parts[1],
          { kind: 'text', text: 'No' },
          { ...parts[3], argumentsJson: '{}' },
          { ...parts[4], argumentsJson: '{"invalidJson":"{\\"a"}' },
        ],
      },
    ])
  })
})
