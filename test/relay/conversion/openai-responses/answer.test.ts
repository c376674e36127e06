import { describe, expect, it } from 'vitest'
import { type CanonicalAnswer, FailedAnswer } from '#relay/canonical/canonical-answer.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { readAnswer, readFailure } from '#relay/conversion/openai-responses/read-answer.ts'
import { readAnswerSettings, readRequest } from '#relay/conversion/openai-responses/read-request.ts'
import { writeAnswer } from '#relay/conversion/openai-responses/write-answer.ts'

const optionsFor = (request: JsonObject = {}) => ({
  ...readAnswerSettings(request),
  ...{ createdAt: 1_700, isStored: true },
})
const OPTIONS = optionsFor()

const RESPONSE = {
  id: 'resp_0123',
  object: 'response',
  created_at: 1_700,
  status: 'completed',
  model: 'gpt-5.1',
  output: [
    {
      id: 'rs_1',
      type: 'reasoning',
      summary: [
        { type: 'summary_text', text: 'First.' },
        { type: 'summary_text', text: 'Second.' },
      ],
      encrypted_content: 'gAAA',
    },
    { id: 'ws_1', type: 'web_search_call', status: 'completed' },
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hello.', annotations: [], logprobs: [] }],
    },
    { id: 'fc_1', type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":1}' },
    { id: 'fc_2', type: 'function_call', call_id: 'c2', name: 'g', arguments: '' },
  ],
  usage: {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 4 },
    output_tokens: 6,
    output_tokens_details: { reasoning_tokens: 2 },
    total_tokens: 16,
  },
}

const answerWith = (choice: Partial<CanonicalAnswer['choices'][number]>): CanonicalAnswer => ({
  id: 'msg_01',
  model: 'claude',
  choices: [{ parts: [], stop: 'end', stopSequence: null, logprobs: null, ...choice }],
  usage: null,
})

describe('answers in OpenAI’s responses format', () => {
  it('reads the parts in their order, without what the provider executed', () => {
    const { choices, usage, ...rest } = readAnswer(RESPONSE)
    expect(rest).toEqual({ id: 'resp_0123', model: 'gpt-5.1' })
    expect(choices).toEqual([
      {
        parts: [
          { kind: 'thinking', text: 'First.\n\nSecond.', signature: 'openai:gAAA' },
          { kind: 'text', text: 'Hello.' },
          { kind: 'tool-call', id: 'c1', name: 'f', argumentsJson: '{"a":1}' },
          { kind: 'tool-call', id: 'c2', name: 'g', argumentsJson: '{}' },
        ],
        stop: 'tool-calls',
        stopSequence: null,
        logprobs: null,
      },
    ])
    expect(usage).toMatchObject({ inputUncached: 6, cacheRead: 4, output: 6, reasoning: 2 })
  })

  it('reads the answer that it wrote', () => {
    const answer = readAnswer(RESPONSE)
    const written = writeAnswer(answer, OPTIONS)
    expect(readAnswer(written)).toEqual(answer)
    expect(written).toMatchObject({ id: 'resp_0123', created_at: 1_700, status: 'completed' })
    expect(written.output).toMatchObject([
      { id: 'rs_resp0123_0', encrypted_content: 'gAAA' },
      { id: 'msg_resp0123_1', role: 'assistant', content: [{ annotations: [] }] },
      { id: 'fc_resp0123_2', call_id: 'c1' },
      { id: 'fc_resp0123_3', call_id: 'c2', arguments: '{}' },
    ])
  })

  it.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'refusal'],
  ])('keeps that an answer is incomplete because of %s', (reason, stop) => {
    const body = { ...RESPONSE, status: 'incomplete', incomplete_details: { reason } }
    const answer = readAnswer(body)
    expect(answer.choices[0]?.stop).toBe(stop)
    const written = writeAnswer(answer, OPTIONS)
    expect(written).toMatchObject({ status: 'incomplete', incomplete_details: { reason } })
    const statuses = (written.output as { status?: string }[]).map(({ status }) => status)
    expect(statuses).toEqual([undefined, 'completed', 'completed', 'incomplete'])
  })

  it('reads and writes a refusal', () => {
    const content = [{ type: 'refusal', refusal: 'No.' }]
    const answer = readAnswer({ ...RESPONSE, output: [{ type: 'message', content }] })
    expect(answer.choices[0]).toMatchObject({
      parts: [{ kind: 'refusal', text: 'No.' }],
      stop: 'refusal',
    })
    const written = writeAnswer(answer, OPTIONS)
    expect(written).toMatchObject({ status: 'completed', output: [{ content }] })
  })

  it('gives a caller the thinking of another provider to send it back unchanged', () => {
    const parts = [
      { kind: 'thinking', text: 'Hm.', signature: 'Ep4B' },
      { kind: 'thinking', text: '', redacted: 'hidden' },
      { kind: 'thinking', text: '', signature: 'omitted' },
      { kind: 'text', text: 'a' },
      { kind: 'tool-call', id: 'c', name: 'f', argumentsJson: '{}', signature: 'gemini' },
    ] as const
    const { output } = writeAnswer(answerWith({ parts, stop: 'tool-calls' }), OPTIONS)
    const { value, losses } = readRequest({ model: 'm', input: output })
    expect(losses).toEqual([])
    expect(value.messages).toEqual([{ role: 'assistant', parts }])
  })

  it('writes the call of a custom tool, and of a tool in a namespace', () => {
    const request = {
      tools: [
        { type: 'custom', name: 'apply_patch' },
        { type: 'namespace', name: 'mail', tools: [{ type: 'function', name: 'send' }] },
      ],
    }
    const call = { kind: 'tool-call', id: 'c1', name: 'apply_patch' } as const
    const parts = [
      { ...call, argumentsJson: '{"input":"*** Begin"}' },
      { ...call, id: 'c2', argumentsJson: '*** Raw' },
      { kind: 'tool-call', id: 'c3', name: 'mail__send', argumentsJson: '{}' },
    ] as const
    const { output } = writeAnswer(answerWith({ parts }), optionsFor(request))
    const custom = { type: 'custom_tool_call', name: 'apply_patch', status: 'completed' }
    expect(output).toEqual([
      { ...custom, id: 'ctc_msg01_0', call_id: 'c1', input: '*** Begin' },
      { ...custom, id: 'ctc_msg01_1', call_id: 'c2', input: '*** Raw' },
      {
        ...{ id: 'fc_msg01_2', type: 'function_call', status: 'completed', call_id: 'c3' },
        ...{ namespace: 'mail', name: 'send', arguments: '{}' },
      },
    ])
  })

  it('repeats settings of the request', () => {
    const request = { temperature: 0.3, tool_choice: 'none', metadata: { a: 'b' }, tools: [] }
    expect(writeAnswer(answerWith({}), optionsFor(request))).toMatchObject({
      ...request,
      id: 'resp_msg_01',
      output: [],
      usage: null,
    })
  })

  it('keeps log probabilities', () => {
    const logprobs = [{ token: 'a', logprob: -0.1, bytes: [97], top_logprobs: [] }]
    const answer = answerWith({ parts: [{ kind: 'text', text: 'a' }], logprobs })
    expect(readAnswer(writeAnswer(answer, OPTIONS)).choices[0]?.logprobs).toEqual(logprobs)
  })

  it('reads the error of a response that failed', () => {
    const error = { code: 'server_error', message: 'Broken.' }
    const failure = { type: 'server_error', message: 'Broken.' }
    expect(readFailure({ status: 'failed', error })).toEqual(failure)
    expect(readFailure({ status: 'cancelled', error: null })?.type).toBe('cancelled')
    expect(readFailure(RESPONSE)).toBeNull()
    expect(() => readAnswer({ ...RESPONSE, status: 'failed', error })).toThrow(FailedAnswer)
  })

  it.each([
    [{}],
    [{ output: 'text', usage: [], id: 5, model: {} }],
    [{ output: [null, 7, 'a', [], {}, { type: 'message' }, { type: 'function_call' }] }],
    [{ output: [{ type: 'message', content: [null, { type: 'output_text', text: 3 }] }] }],
    [{ output: [{ type: 'reasoning', summary: [{ text: {} }], encrypted_content: [] }] }],
    [{ output: [{ type: '__proto__' }, { type: 'constructor', name: 'x' }] }],
  ])('skips what it can’t read in %j', (body) => {
    expect(readAnswer(body).choices).toMatchObject([{ parts: [], stop: 'end' }])
    expect(() => writeAnswer(readAnswer(body), OPTIONS)).not.toThrow()
  })

  it('makes up the id of a call from the answer, and reads arguments that are an object', () => {
    const call = { type: 'function_call', name: 'f', arguments: { a: 1 } }
    expect(readAnswer({ id: 'resp_1', output: [call] }).choices[0]?.parts).toMatchObject([
      { id: 'call_resp1_0', argumentsJson: '{"a":1}' },
    ])
  })

  it('reads a limited number of parts', () => {
    const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
    const output = Array.from({ length: 500 }, () => call)
    expect(readAnswer({ output }).choices[0]?.parts).toHaveLength(128)
  })
})
