import { describe, expect, it } from 'vitest'
import type { AnswerPart, CanonicalAnswer, StopReason } from '#relay/canonical/canonical-answer.ts'
import { readAnswer } from '#relay/conversion/anthropic-messages/read-answer.ts'
import { writeAnswer } from '#relay/conversion/anthropic-messages/write-answer.ts'
import { canonicalUsage } from './canonical-values.ts'

const ANSWER = {
  id: 'msg_01',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5-20250929',
  content: [
    { type: 'thinking', thinking: 'Two files.', signature: 'EqQB' },
    { type: 'redacted_thinking', data: 'EmwK' },
    { type: 'thinking', thinking: '', signature: 'omitted' },
    { type: 'text', text: 'Reading.' },
    { type: 'tool_use', id: 'toolu_A', name: 'read', input: { path: 'a' } },
    { type: 'tool_use', id: 'toolu_B', name: 'read', input: {} },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: {
    input_tokens: 10,
    cache_read_input_tokens: 20,
    cache_creation_input_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
    output_tokens: 40,
  },
}

const answerOf = (parts: readonly AnswerPart[], stop: StopReason): CanonicalAnswer => ({
  id: 'a',
  model: 'm',
  choices: [{ parts, stop, stopSequence: null, logprobs: null }],
  usage: null,
})

describe('an answer', () => {
  it('is the same after it was read and written', () => {
    expect(writeAnswer(readAnswer(ANSWER), 'unused')).toEqual(ANSWER)
  })

  it('is read with its parts in order', () => {
    expect(readAnswer(ANSWER)).toEqual({
      id: 'msg_01',
      model: 'claude-sonnet-4-5-20250929',
      choices: [
        {
          parts: [
            { kind: 'thinking', text: 'Two files.', signature: 'EqQB' },
            { kind: 'thinking', text: '', redacted: 'EmwK' },
            { kind: 'thinking', text: '', signature: 'omitted' },
            { kind: 'text', text: 'Reading.' },
            { kind: 'tool-call', id: 'toolu_A', name: 'read', argumentsJson: '{"path":"a"}' },
            { kind: 'tool-call', id: 'toolu_B', name: 'read', argumentsJson: '{}' },
          ],
          stop: 'tool-calls',
          stopSequence: null,
          logprobs: null,
        },
      ],
      usage: canonicalUsage({
        inputUncached: 10,
        cacheRead: 20,
        cacheWrite5m: 10,
        cacheWrite1h: 20,
        output: 40,
      }),
    })
  })

  it.each<[string, StopReason, string]>([
    ['end_turn', 'end', 'end_turn'],
    ['max_tokens', 'length', 'max_tokens'],
    ['model_context_window_exceeded', 'length', 'max_tokens'],
    ['stop_sequence', 'stop-sequence', 'stop_sequence'],
    ['tool_use', 'tool-calls', 'tool_use'],
    ['pause_turn', 'pause', 'pause_turn'],
    ['refusal', 'refusal', 'refusal'],
    ['network_error', 'interrupted', 'max_tokens'],
    ['constructor', 'end', 'end_turn'],
  ])(
    'that ends with %s has the stop reason %s, which is written as %s',
    (reason, stop, written) => {
      const answer = readAnswer({ content: [], stop_reason: reason, stop_sequence: 'END' })
      expect(answer.choices[0]).toMatchObject({ stop, stopSequence: 'END' })
      expect(writeAnswer(answer, 'x')).toMatchObject({ stop_reason: written, stop_sequence: 'END' })
    },
  )

  it('keeps the explanation of a refusal', () => {
    const details = { type: 'refusal', category: null, explanation: 'Not this.' }
    const body = { ...ANSWER, content: [], stop_reason: 'refusal', stop_details: details }
    const answer = readAnswer(body)
    expect(answer.choices[0]?.parts).toEqual([{ kind: 'refusal', text: 'Not this.' }])
    expect(writeAnswer(answer, 'unused')).toEqual(body)
  })
})

describe('reading an unusual answer', () => {
  it.each<[string, object]>([
    ['no members', {}],
    ['wrong types', { id: 1, model: [], content: 'hi', stop_reason: 5, usage: 'none' }],
    ['unusable blocks', { content: [null, 5, 'a', [], { type: 'text', text: 5 }, { type: {} }] }],
    ['an error', { type: 'error', error: { type: 'api_error', message: 'no' } }],
    ['blocks of the provider', { content: [{ type: 'server_tool_use', id: 'a', name: 'b' }] }],
  ])('has no parts and no usage for %s', (_, body) => {
    expect(readAnswer({ ...body })).toEqual({
      id: '',
      model: '',
      choices: [{ parts: [], stop: 'end', stopSequence: null, logprobs: null }],
      usage: null,
    })
  })

  it.each<[unknown, string]>([
    ['{"a":1}', '{"a":1}'],
    ['a', '{}'],
    [null, '{}'],
    [[1], '{}'],
    [JSON.parse(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`), '{}'],
  ])('has arguments that are an object', (input, argumentsJson) => {
    const answer = readAnswer({ content: [{ type: 'tool_use', id: 'x', name: 't', input }] })
    expect(answer.choices[0]).toMatchObject({ parts: [{ argumentsJson }], stop: 'tool-calls' })
  })

  it('reads a bounded number of parts', () => {
    const content = Array.from({ length: 10_000 }, () => ({ type: 'text', text: 'a' }))
    expect(readAnswer({ content }).choices[0]?.parts).toHaveLength(128)
  })
})

describe('writing an answer of another format', () => {
  const call = (id: string, argumentsJson: string): AnswerPart => ({
    kind: 'tool-call',
    id,
    name: 't',
    argumentsJson,
  })

  it('stops for tools or a refusal even if the provider reports a normal end', () => {
    expect(writeAnswer(answerOf([call('x', '')], 'end'), '')).toMatchObject({
      stop_reason: 'tool_use',
      content: [{ type: 'tool_use', id: 'x', name: 't', input: {} }],
    })
    expect(writeAnswer(answerOf([{ kind: 'refusal', text: 'No.' }], 'end'), '')).toMatchObject({
      stop_reason: 'refusal',
      stop_details: { explanation: 'No.' },
      content: [],
    })
  })

  it('makes up ids that stay the same', () => {
    const answer = answerOf([call('', '{}'), call('', '{"a":')], 'tool-calls')
    expect(writeAnswer({ ...answer, id: '' }, 'req.1')).toMatchObject({
      id: 'req.1',
      content: [
        { id: 'toolu_req_1_0', input: {} },
        { id: 'toolu_req_1_1', input: { INVALID_JSON: '{"a":' } },
      ],
    })
  })

  it('has a signature in each thinking block, as clients expect', () => {
    const { content } = writeAnswer(answerOf([{ kind: 'thinking', text: 'hm' }], 'end'), '')
    expect(content).toEqual([{ type: 'thinking', thinking: 'hm', signature: '' }])
  })

  it('is complete without a choice', () => {
    expect(writeAnswer({ id: 'a', model: 'm', choices: [], usage: null }, '')).toMatchObject({
      content: [],
      stop_reason: 'end_turn',
      usage: { input_tokens: 0, output_tokens: 0 },
    })
  })
})
