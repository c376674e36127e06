import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream'
import type { ChatCompletion, ChatCompletionChunk } from 'openai/resources/chat/completions'
import { Stream } from 'openai/streaming'
import { describe, expect, it } from 'vitest'
import type { CanonicalEvent } from '#relay/canonical/canonical-answer.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { createStreamReader } from '#relay/conversion/openai-chat/read-stream.ts'
import type { AnswerOptions } from '#relay/conversion/openai-chat/write-answer.ts'
import { createStreamWriter } from '#relay/conversion/openai-chat/write-stream.ts'

const OPTIONS = { createdAt: 1_700_000_000, hasStreamUsage: true, usesFunctionCall: false }
const USAGE = {
  inputUncached: 10,
  cacheRead: 80,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  inputAudio: 0,
  inputImage: 0,
  output: 30,
  reasoning: 20,
  outputAudio: 0,
}
const START: CanonicalEvent = { kind: 'start', id: 'msg_1', model: 'm' }
const at = (part: number, choice = 0) => ({ choice, part })
const stop = (reason: 'end' | 'tool-calls' | 'refusal', choice = 0): CanonicalEvent => ({
  ...{ kind: 'stop', choice, stop: reason, stopSequence: null },
})

const ANSWER: readonly CanonicalEvent[] = [
  START,
  { kind: 'thinking', ...at(0), text: 'Two ' },
  { kind: 'thinking', ...at(0), text: 'files.' },
  { kind: 'thinking-signature', ...at(0), signature: 'c2ln' },
  { kind: 'thinking-redacted', ...at(1), data: 'b3BhcXVl' },
  { kind: 'text', ...at(2), text: 'I read ' },
  { kind: 'logprobs', choice: 0, tokens: [{ token: 'I read ', logprob: -1 }] },
  { kind: 'text', ...at(2), text: 'both.' },
  { kind: 'tool-call', ...at(3), id: 'a', name: 'f', signature: 'dGg=' },
  { kind: 'tool-call', ...at(4), id: 'b', name: 'g' },
  { kind: 'tool-arguments', ...at(3), json: '{"x"' },
  { kind: 'tool-arguments', ...at(4), json: '{}' },
  { kind: 'tool-arguments', ...at(3), json: ':1}' },
  stop('tool-calls'),
  { kind: 'text', ...at(0, 1), text: 'Other' },
  { kind: 'refusal', ...at(1, 1), text: 'No.' },
  stop('refusal', 1),
  { kind: 'usage', usage: USAGE },
  { kind: 'end' },
]

function written(events: readonly CanonicalEvent[], options: AnswerOptions = OPTIONS): string {
  const writer = createStreamWriter(options)
  return events.map((event) => writer.write(event)).join('')
}

const dataOf = (sse: string): readonly string[] =>
  sse.split('\n\n').flatMap((event) => (event === '' ? [] : event.replace(/^data: /, '')))

function readAgain(sse: string): readonly CanonicalEvent[] {
  const reader = createStreamReader()
  const chunks = dataOf(sse).filter((data) => data !== '[DONE]')
  const events = chunks.flatMap((data) => reader.read(JSON.parse(data) as JsonObject, ''))
  return [...events, ...reader.finish()]
}

/** Reads a stream with the official SDK and returns the answer that it puts together. */
async function finalAnswer(sse: string): Promise<ChatCompletion> {
  const response = new Response(sse, { headers: { 'content-type': 'text/event-stream' } })
  const stream = Stream.fromSSEResponse<ChatCompletionChunk>(response, new AbortController())
  return ChatCompletionStream.fromReadableStream(stream.toReadableStream()).finalChatCompletion()
}

describe('writing a stream', () => {
  it('gives the same events when it is read again', () => {
    expect(readAgain(written(ANSWER))).toEqual(ANSWER)
  })

  it('is put together by the official SDK', async () => {
    expect(await finalAnswer(written(ANSWER))).toMatchObject({
      id: 'msg_1',
      object: 'chat.completion',
      model: 'm',
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: 'I read both.',
            refusal: null,
            tool_calls: [
              { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
              { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
            ],
          },
        },
        {
          index: 1,
          finish_reason: 'stop',
          message: { role: 'assistant', content: 'Other', refusal: 'No.' },
        },
      ],
      usage: { prompt_tokens: 90, completion_tokens: 30, total_tokens: 120 },
    })
  })

  it('writes the input of a custom tool as it arrives', () => {
    const events: CanonicalEvent[] = [
      START,
      { kind: 'tool-call', ...at(0), id: 'a', name: 'patch' },
      { kind: 'tool-arguments', ...at(0), json: '{"input":"*** ' },
      { kind: 'tool-call', ...at(1), id: 'b', name: 'patch' },
      { kind: 'tool-arguments', ...at(0), json: 'Begin\\n"}' },
      stop('tool-calls'),
      { kind: 'end' },
    ]
    const sse = written(events, { ...OPTIONS, custom: new Set(['patch']) })
    const chunks = dataOf(sse).filter((data) => data !== '[DONE]')
    const calls = chunks.flatMap((data) => JSON.parse(data).choices[0]?.delta.tool_calls ?? [])
    expect(calls).toEqual([
      { index: 0, id: 'a', type: 'custom', custom: { name: 'patch', input: '' } },
      { index: 0, custom: { input: '*** ' } },
      { index: 1, id: 'b', type: 'custom', custom: { name: 'patch', input: '' } },
      { index: 0, custom: { input: 'Begin\n' } },
    ])
  })

  it('gives up on a custom tool with arguments that are held back and too long', () => {
    const writer = createStreamWriter({ ...OPTIONS, custom: new Set(['patch']) })
    const pieces = (json: string) => {
      for (let times = 0; times < 50; times += 1) {
        writer.write({ kind: 'tool-arguments', ...at(0), json })
      }
    }
    writer.write(START)
    writer.write({ kind: 'tool-call', ...at(0), id: 'a', name: 'patch' })
    pieces(' '.repeat(50_000))
    expect(writer.hasGivenUp).toBe(false)
    pieces(' '.repeat(50_000))
    expect(writer.hasGivenUp).toBe(true)
    expect(writer.write({ kind: 'end' })).toBe('')
  })

  it('writes the sequence of OpenAI', () => {
    const events: CanonicalEvent[] = [
      START,
      { kind: 'text', ...at(0), text: 'Hi' },
      stop('end'),
      { kind: 'usage', usage: USAGE },
      { kind: 'end' },
    ]
    const chunks = dataOf(written(events))
    expect(chunks.at(-1)).toBe('[DONE]')
    const common = {
      id: 'msg_1',
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: 'm',
    }
    const choice = (delta: object, finish_reason: string | null = null) => ({
      ...common,
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      usage: null,
    })
    expect(chunks.slice(0, -1).map((data) => JSON.parse(data))).toEqual([
      choice({ role: 'assistant', content: '', refusal: null }),
      choice({ content: 'Hi' }),
      choice({}, 'stop'),
      { ...common, choices: [], usage: expect.objectContaining({ prompt_tokens: 90 }) },
    ])
  })

  it('writes usage only for callers that want it, and only if there is one', () => {
    const events: CanonicalEvent[] = [START, stop('end'), { kind: 'usage', usage: USAGE }]
    const end: CanonicalEvent = { kind: 'end' }
    expect(written([...events, end], { ...OPTIONS, hasStreamUsage: false })).not.toContain('usage')
    expect(written([START, end])).not.toContain('prompt_tokens')
  })

  it.each([
    ['nothing', [], 'stop'],
    ['a start', [START], 'stop'],
    ['a call', [START, { kind: 'tool-call', ...at(0), id: 'a', name: 'f' }], 'tool_calls'],
  ] as const)(
    'ends a stream that has only %s so that the SDK accepts it',
    async (_, events, reason) => {
      const answer = await finalAnswer(written([...events, { kind: 'end' }]))
      expect(answer.choices).toMatchObject([{ index: 0, finish_reason: reason }])
      const calls = answer.choices[0]?.message.tool_calls ?? []
      for (const call of calls) expect(call).toMatchObject({ function: { arguments: '{}' } })
    },
  )

  it('ends with an error that the SDK throws', async () => {
    const sse = written([
      START,
      { kind: 'error', type: 'overloaded', message: 'Busy' },
      { kind: 'text', ...at(0), text: 'late' },
      { kind: 'end' },
    ])
    expect(dataOf(sse).at(-1)).toBe(
      '{"error":{"message":"Busy","type":"overloaded","param":null,"code":null}}',
    )
    await expect(finalAnswer(sse)).rejects.toThrow('Busy')
  })

  it('writes one call in the older form', async () => {
    const sse = written(ANSWER, { ...OPTIONS, usesFunctionCall: true })
    expect(sse).not.toContain('tool_calls')
    const { choices } = await finalAnswer(sse)
    expect(choices[0]).toMatchObject({
      finish_reason: 'function_call',
      message: { function_call: { name: 'f', arguments: '{"x":1}' } },
    })
  })

  it('ignores events after the end of a choice or of the stream', () => {
    const late: CanonicalEvent = { kind: 'text', ...at(0), text: 'late' }
    const sse = written([START, stop('end'), late, { kind: 'end' }, late, { kind: 'end' }])
    expect(sse).not.toContain('late')
    expect(sse.split('[DONE]')).toHaveLength(2)
  })
})
