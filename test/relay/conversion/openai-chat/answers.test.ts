import { describe, expect, it } from 'vitest'
import type { CanonicalAnswer } from '#relay/canonical/canonical-answer.ts'
import { readAnswer } from '#relay/conversion/openai-chat/read-answer.ts'
import { writeAnswer } from '#relay/conversion/openai-chat/write-answer.ts'

const OPTIONS = { createdAt: 1_700_000_000, hasStreamUsage: false, usesFunctionCall: false }
const answerOf = (message: unknown, choice = {}) =>
  readAnswer({ id: 'chatcmpl-1', model: 'm', choices: [{ index: 0, message, ...choice }] })
const choiceOf = (message: unknown, choice = {}) => answerOf(message, choice).choices[0]

const ANSWER: CanonicalAnswer = {
  id: 'msg_1',
  model: 'm',
  choices: [
    {
      parts: [
        { kind: 'thinking', text: 'First, ', signature: 'c2ln' },
        { kind: 'thinking', text: '', redacted: 'b3BhcXVl' },
        { kind: 'text', text: 'Both files.' },
        { kind: 'tool-call', id: 'a', name: 'f', argumentsJson: '{"x":1}', signature: 'dGg=' },
        { kind: 'tool-call', id: 'b', name: 'f', argumentsJson: '{}' },
      ],
      stop: 'tool-calls',
      stopSequence: null,
      logprobs: [{ token: 'Both', logprob: -0.1, bytes: null, top_logprobs: [] }],
    },
    {
      parts: [{ kind: 'refusal', text: 'No.' }],
      ...{ stop: 'refusal', stopSequence: null, logprobs: null },
    },
    { parts: [], stop: 'length', stopSequence: null, logprobs: null },
  ],
  usage: {
    inputUncached: 10,
    cacheRead: 80,
    cacheWrite5m: 5,
    cacheWrite1h: 0,
    inputAudio: 0,
    inputImage: 0,
    output: 30,
    reasoning: 20,
    outputAudio: 0,
  },
}

describe('an answer in OpenAI’s chat format', () => {
  it('is the same after writing and reading', () => {
    expect(readAnswer(writeAnswer(ANSWER, OPTIONS))).toEqual(ANSWER)
  })

  it('is written as clients expect it', () => {
    expect(writeAnswer(ANSWER, OPTIONS)).toMatchObject({
      id: 'msg_1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'm',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Both files.',
            refusal: null,
            reasoning_content: 'First, ',
            reasoning_details: [
              { type: 'reasoning.text', text: 'First, ', signature: 'c2ln', index: 0 },
              { type: 'reasoning.encrypted', data: 'b3BhcXVl', index: 1 },
            ],
            tool_calls: [
              { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
              { id: 'b', type: 'function', function: { name: 'f', arguments: '{}' } },
            ],
          },
          finish_reason: 'tool_calls',
        },
        {
          index: 1,
          message: { content: null, refusal: 'No.' },
          logprobs: null,
          finish_reason: 'stop',
        },
        { index: 2, message: { content: '', refusal: null }, finish_reason: 'length' },
      ],
      usage: { prompt_tokens: 95, completion_tokens: 30, total_tokens: 125 },
    })
  })

  it('has the call of a custom tool with a text as its input', () => {
    const call = { kind: 'tool-call', id: 'a', name: 'p', argumentsJson: '{"input":"x"}' } as const
    const parts = [call, { ...call, id: 'b', name: 'f', argumentsJson: '{}' }]
    const choice = { parts, stop: 'tool-calls', stopSequence: null, logprobs: null } as const
    const answer = { ...ANSWER, choices: [choice] }
    const written = writeAnswer(answer, { ...OPTIONS, custom: new Set(['p']) })
    expect(written.choices).toMatchObject([
      {
        message: {
          tool_calls: [
            { id: 'a', type: 'custom', custom: { name: 'p', input: 'x' } },
            { id: 'b', type: 'function', function: { name: 'f', arguments: '{}' } },
          ],
        },
      },
    ])
  })

  it('has one call in the older form, and no usage if there is none', () => {
    const written = writeAnswer({ ...ANSWER, usage: null }, { ...OPTIONS, usesFunctionCall: true })
    expect(written).toMatchObject({
      choices: [
        {
          message: { function_call: { name: 'f', arguments: '{"x":1}' } },
          finish_reason: 'function_call',
        },
        {},
        {},
      ],
    })
    expect(JSON.stringify(written)).not.toMatch(/tool_calls|usage/)
  })

  it.each([
    ['end', 'stop'],
    ['length', 'length'],
    ['tool-calls', 'tool_calls'],
    ['stop-sequence', 'stop'],
    ['refusal', 'content_filter'],
    ['pause', 'stop'],
  ] as const)('ends with %s as %s', (stop, reason) => {
    const choice = { parts: [], stop, stopSequence: null, logprobs: null }
    const written = writeAnswer({ ...ANSWER, choices: [choice] }, OPTIONS)
    expect(written.choices).toMatchObject([{ finish_reason: reason }])
  })
})

describe('reading an answer', () => {
  it.each([
    ['stop', 'end'],
    ['length', 'length'],
    ['model_length', 'length'],
    ['content_filter', 'refusal'],
    ['sensitive', 'refusal'],
    ['unheard-of', 'end'],
    [null, 'end'],
  ])('reads the reason %j as %s', (reason, stop) => {
    expect(choiceOf({ content: 'x' }, { finish_reason: reason })?.stop).toBe(stop)
  })

  it('reads the stop sequence that vLLM reports', () => {
    const choice = choiceOf({ content: 'x' }, { finish_reason: 'stop', stop_reason: 'END' })
    expect(choice).toMatchObject({ stop: 'stop-sequence', stopSequence: 'END' })
  })

  it('reads tool calls without ids, with arguments as an object, and a wrong reason', () => {
    const calls = [
      { function: { name: 'f', arguments: { x: 1 } } },
      { id: '', function: { name: 'g' } },
      { id: 'c', function: { arguments: '{}' } },
      'call',
    ]
    const choice = choiceOf({ content: '', tool_calls: calls }, { finish_reason: 'stop' })
    expect(choice).toMatchObject({
      stop: 'tool-calls',
      parts: [
        { id: 'call_chatcmpl1_0_0', name: 'f', argumentsJson: '{"x":1}' },
        { id: 'call_chatcmpl1_0_1', name: 'g', argumentsJson: '{}' },
      ],
    })
  })

  it('reads a call in the older form', () => {
    const message = { content: null, function_call: { name: 'f', arguments: '{}' } }
    expect(choiceOf(message, { finish_reason: 'function_call' })).toMatchObject({
      stop: 'tool-calls',
      parts: [{ kind: 'tool-call', name: 'f' }],
    })
  })

  it.each([
    [{ reasoning_content: 'hm', content: 'x' }],
    [{ reasoning: 'hm', content: 'x' }],
    [
      {
        reasoning: 'hm',
        reasoning_details: [{ type: 'reasoning.text', text: 'hm' }],
        content: 'x',
      },
    ],
    [
      {
        content: [
          { type: 'thinking', thinking: [{ text: 'hm' }] },
          { type: 'text', text: 'x' },
        ],
      },
    ],
  ])('reads the thinking in %j', (message) => {
    expect(choiceOf(message)?.parts).toEqual([
      { kind: 'thinking', text: 'hm' },
      { kind: 'text', text: 'x' },
    ])
  })

  it('reads the transcript of a spoken answer', () => {
    const audio = { id: 'a', data: 'QUJD', transcript: 'hello' }
    expect(choiceOf({ content: null, audio })?.parts).toEqual([{ kind: 'text', text: 'hello' }])
  })

  it('sorts choices by their index', () => {
    const choices = [1, 0].map((index) => ({ index, message: { content: `${index}` } }))
    const texts = readAnswer({ choices }).choices.map(({ parts }) => parts[0])
    expect(texts).toMatchObject([{ text: '0' }, { text: '1' }])
  })

  it('reads no more choices and parts than OpenAI has', () => {
    const calls = Array.from({ length: 500 }, () => ({ function: { name: 'f' } }))
    const choices = Array.from({ length: 500 }, () => ({ message: { tool_calls: calls } }))
    const answer = readAnswer({ choices })
    expect(answer.choices).toHaveLength(128)
    expect(answer.choices[0]?.parts).toHaveLength(128)
  })

  it.each([
    [{}],
    [{ choices: 'none' }],
    [{ choices: [null, 3, { message: null }] }],
    [{ choices: [{ index: 'x', message: { content: 3, tool_calls: {}, refusal: [] } }] }],
    [{ choices: [{ message: { reasoning_details: [null, { type: 7 }, {}], audio: 'x' } }] }],
    [
      {
        choices: [{ message: { tool_calls: [{ function: { name: '__proto__' } }] }, logprobs: 1 }],
      },
    ],
    [{ id: 5, model: null, usage: 'x', choices: [{ logprobs: { content: [1] } }] }],
  ])('never throws: %j', (body) => {
    const answer = readAnswer(body)
    expect(answer.usage).toBeNull()
    expect(writeAnswer(answer, OPTIONS).object).toBe('chat.completion')
  })
})
