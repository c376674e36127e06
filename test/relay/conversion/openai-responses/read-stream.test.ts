import { describe, expect, it } from 'vitest'
import type { CanonicalEvent } from '#relay/canonical/canonical-answer.ts'
import { createStreamReader } from '#relay/conversion/openai-responses/read-stream.ts'

function readAll(...events: object[]): CanonicalEvent[] {
  const reader = createStreamReader()
  const read = events.flatMap((data) => reader.read(data as Record<string, unknown>, ''))
  // `announce-first-part.test.ts` tests when a part is announced.
  return [...read, ...reader.finish()].filter(({ kind }) => kind !== 'part-begun')
}

const START = { kind: 'start', id: 'resp_1', model: 'gpt-5.1' }
const response = (members: object = {}) => ({ id: 'resp_1', model: 'gpt-5.1', ...members })
const CREATED = { type: 'response.created', response: response({ status: 'in_progress' }) }
const completed = (members: object = {}) => ({
  type: 'response.completed',
  response: response({ status: 'completed', ...members }),
})
const stop = (reason: string) => ({ kind: 'stop', choice: 0, stop: reason, stopSequence: null })
const END = { kind: 'end' }
const text = (part: number, value: string) => ({ kind: 'text', choice: 0, part, text: value })
const at = (type: string, output_index: number, members: object) => ({
  type: `response.${type}`,
  output_index,
  ...members,
})
const added = (index: number, item: object) => at('output_item.added', index, { item })
const done = (index: number, item: object) => at('output_item.done', index, { item })
const textDelta = (index: number, delta: string) =>
  at('output_text.delta', index, { content_index: 0, delta })
const call = (id: string, args = '') => ({
  ...{ id: `fc_${id}`, type: 'function_call', call_id: id, name: 'f', arguments: args },
})

describe('reading a stream in OpenAI’s responses format', () => {
  it('reads thinking, a text and parallel calls', () => {
    const summary = [{ text: 'One.' }, { text: 'Two.' }]
    const events = readAll(
      CREATED,
      { type: 'response.in_progress', response: response() },
      added(0, { id: 'rs_1', type: 'reasoning', summary: [] }),
      at('reasoning_summary_part.added', 0, { summary_index: 0, part: { text: '' } }),
      at('reasoning_summary_text.delta', 0, { summary_index: 0, delta: 'One.' }),
      at('reasoning_summary_text.done', 0, { summary_index: 0, text: 'One.' }),
      at('reasoning_summary_text.delta', 0, { summary_index: 1, delta: 'Two.' }),
      done(0, { id: 'rs_1', type: 'reasoning', summary, encrypted_content: 'gAAA' }),
      added(1, { id: 'msg_1', type: 'message', content: [] }),
      at('content_part.added', 1, { content_index: 0, part: { type: 'output_text', text: '' } }),
      textDelta(1, 'Hel'),
      textDelta(1, 'lo'),
      at('output_text.done', 1, { content_index: 0, text: 'Hello' }),
      done(1, { id: 'msg_1', type: 'message', content: [{ type: 'output_text', text: 'Hello' }] }),
      added(2, call('a')),
      added(3, call('b')),
      at('function_call_arguments.delta', 2, { delta: '{"x"' }),
      at('function_call_arguments.delta', 3, { delta: '{}' }),
      at('function_call_arguments.delta', 2, { delta: ':1}' }),
      at('function_call_arguments.done', 2, { arguments: '{"x":1}' }),
      done(3, call('b', '{}')),
      done(2, call('a', '{"x":1}')),
      completed({ usage: { input_tokens: 5, output_tokens: 7 } }),
    )
    expect(events).toMatchObject([
      START,
      { kind: 'thinking', part: 0, text: 'One.' },
      { kind: 'thinking', part: 0, text: '\n\nTwo.' },
      { kind: 'thinking-signature', part: 0, signature: 'openai:gAAA' },
      text(1, 'Hel'),
      text(1, 'lo'),
      { kind: 'tool-call', part: 2, id: 'a', name: 'f' },
      { kind: 'tool-call', part: 3, id: 'b', name: 'f' },
      { kind: 'tool-arguments', part: 2, json: '{"x"' },
      { kind: 'tool-arguments', part: 3, json: '{}' },
      { kind: 'tool-arguments', part: 2, json: ':1}' },
      { kind: 'usage', usage: { inputUncached: 5, output: 7 } },
      stop('tool-calls'),
      END,
    ])
  })

  it('reads reasoning that is only encrypted', () => {
    const item = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'gAAA' }
    expect(readAll(CREATED, added(0, item), done(0, item), completed())).toEqual([
      START,
      { kind: 'thinking-redacted', choice: 0, part: 0, data: 'openai:gAAA' },
      stop('end'),
      END,
    ])
  })

  it('reads a text only once when a provider sends reasoning in two members', () => {
    const events = readAll(
      CREATED,
      added(0, { type: 'reasoning', summary: [] }),
      at('reasoning_text.delta', 0, { content_index: 0, delta: 'Raw.' }),
      at('reasoning_summary_text.delta', 0, { summary_index: 0, delta: 'Short.' }),
      done(0, { type: 'reasoning', summary: [{ text: 'Short.' }], content: [{ text: 'Raw.' }] }),
    )
    expect(events).toMatchObject([START, { kind: 'thinking', part: 0, text: 'Raw.' }])
  })

  it('reads from later events what had no deltas', () => {
    const message = { id: 'm', type: 'message', content: [{ type: 'output_text', text: 'Hi' }] }
    const events = readAll(
      CREATED,
      done(0, message),
      completed({ output: [message, call('a', '{"x":1}')] }),
    )
    expect(events).toMatchObject([
      START,
      text(0, 'Hi'),
      { kind: 'tool-call', part: 1, id: 'a' },
      { kind: 'tool-arguments', part: 1, json: '{"x":1}' },
      stop('tool-calls'),
      END,
    ])
  })

  it('reads the rest of a text that had deltas only at its beginning', () => {
    const content = [{ type: 'output_text', text: 'Hello' }]
    const events = readAll(
      CREATED,
      textDelta(0, 'Hel'),
      completed({ output: [{ type: 'message', content }] }),
    )
    expect(events).toEqual([START, text(0, 'Hel'), text(0, 'lo'), stop('end'), END])
  })

  it('begins a new part for a text that continues after another part', () => {
    const events = readAll(CREATED, textDelta(0, 'a'), textDelta(1, 'b'), textDelta(0, 'c'))
    expect(events).toEqual([START, text(0, 'a'), text(1, 'b'), text(2, 'c')])
  })

  it('reads the input of a custom tool as arguments', () => {
    const item = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c', name: 'p', input: '' }
    const events = readAll(
      CREATED,
      added(0, item),
      at('custom_tool_call_input.delta', 0, { delta: 'x' }),
      done(0, { ...item, input: 'x"y' }),
      completed(),
    )
    expect(events).toMatchObject([
      START,
      { kind: 'tool-call', part: 0, id: 'c', name: 'p' },
      { kind: 'tool-arguments', part: 0, json: '{"input":"x\\"y"}' },
      stop('tool-calls'),
      END,
    ])
  })

  it('finds an item by its id if the index is missing', () => {
    const item = { id: 'msg_1', type: 'message', content: [] }
    const delta = { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'a' }
    const events = readAll(CREATED, { type: 'response.output_item.added', item }, delta)
    expect(events).toEqual([START, text(0, 'a')])
  })

  it('reads refusals and log probabilities', () => {
    const logprobs = [{ token: 'a', logprob: -1 }]
    const events = readAll(
      CREATED,
      at('output_text.delta', 0, { content_index: 0, delta: 'a', logprobs }),
      at('refusal.delta', 0, { content_index: 1, delta: 'No' }),
      at('refusal.done', 0, { content_index: 1, refusal: 'No.' }),
      completed(),
    )
    expect(events).toEqual([
      START,
      text(0, 'a'),
      { kind: 'logprobs', choice: 0, tokens: logprobs },
      { kind: 'refusal', choice: 0, part: 1, text: 'No' },
      { kind: 'refusal', choice: 0, part: 1, text: '.' },
      stop('refusal'),
      END,
    ])
  })

  it.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'refusal'],
  ])('reads the usage and the reason %s of an incomplete response', (reason, expected) => {
    const usage = { input_tokens: 1, output_tokens: 2 }
    const incomplete_details = { reason }
    const last = { type: 'response.incomplete', response: response({ usage, incomplete_details }) }
    expect(readAll(CREATED, last)).toMatchObject([
      START,
      { kind: 'usage', usage: { inputUncached: 1, output: 2 } },
      stop(expected),
      END,
    ])
  })

  it('reads an error once, and the usage of the response that failed', () => {
    const error = { type: 'server_error', code: 'overloaded', message: 'Busy.' }
    const usage = { input_tokens: 1, output_tokens: 2 }
    const failed = { type: 'response.failed', response: response({ error, usage }) }
    const event = { kind: 'error', type: 'overloaded', message: 'Busy.' }
    const counts = { kind: 'usage', usage: { inputUncached: 1, output: 2 } }
    expect(readAll(CREATED, { type: 'error', error }, failed)).toMatchObject([START, event, counts])
    expect(readAll(CREATED, failed, failed)).toMatchObject([START, counts, event, counts])
    expect(readAll({ type: 'error', code: 'overloaded', message: 'Busy.' })).toEqual([event])
    expect(readAll({ error })).toEqual([event])
  })

  it('has no end if the stream was cut', () => {
    expect(readAll(CREATED, textDelta(0, 'a'))).toEqual([START, text(0, 'a')])
    expect(readAll()).toEqual([])
  })

  it('reads no more than 128 parts', () => {
    const calls = Array.from({ length: 300 }, (_, index) => added(index, call(`c${index}`)))
    const texts = Array.from({ length: 300 }, (_, index) => [
      at('output_text.delta', 0, { content_index: index, delta: 'a' }),
    ])
    expect(readAll(CREATED, ...calls)).toHaveLength(129)
    expect(readAll(CREATED, ...texts.flat())).toHaveLength(129)
  })

  it('skips what it can’t read', () => {
    const odd: object[] = [
      {},
      { type: 7 },
      { type: '__proto__', output_index: 0 },
      added(0, { type: 'function_call' }),
      at('function_call_arguments.delta', 0, { delta: 'x' }),
      added(-1, { type: 'message' }),
      at('output_text.delta', -1, { content_index: 'a', delta: {} }),
      at('output_text.delta', 0, { delta: 'a text for a call' }),
      at('reasoning_text.delta', 0, { delta: 'a thought for a call' }),
      { type: 'response.output_item.done', item: [] },
      { type: 'response.output_text.delta', delta: 'no item' },
      { type: 'keepalive' },
    ]
    expect(readAll(...odd)).toEqual([{ kind: 'start', id: '', model: '' }])
  })
})
