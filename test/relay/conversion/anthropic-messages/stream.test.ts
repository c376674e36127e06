import { describe, expect, it } from 'vitest'
import type { CanonicalEvent } from '#relay/canonical/canonical-answer.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { createStreamReader } from '#relay/conversion/anthropic-messages/read-answer-stream.ts'
import { createStreamWriter } from '#relay/conversion/anthropic-messages/write-answer-stream.ts'
import { canonicalUsage } from './canonical-values.ts'

/** Reads events, with the pings and unknown events that a provider may send between them. */
function read(events: readonly JsonObject[]): CanonicalEvent[] {
  const reader = createStreamReader()
  const read = events.flatMap((event) => [
    ...reader.read({ type: 'ping' }, 'ping'),
    ...reader.read(event, String(event.type)),
    ...reader.read({ type: 'new_event', index: 0 }, 'new_event'),
  ])
  // `announce-first-part.test.ts` tests when a part is announced.
  return [...read, ...reader.finish()].filter(({ kind }) => kind !== 'part-begun')
}

function write(events: readonly CanonicalEvent[]): JsonObject[] {
  const writer = createStreamWriter('msg_fallback')
  const text = events.map((event) => writer.write(event)).join('')
  if (text === '') return []
  return text
    .replace(/\n\n$/, '')
    .split('\n\n')
    .map((message) => {
      const [, name, data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(message) ?? []
      const event = JSON.parse(data) as JsonObject
      expect(event.type).toBe(name)
      return event
    })
}

const FIRST_USAGE = {
  input_tokens: 10,
  cache_creation_input_tokens: 30,
  cache_read_input_tokens: 20,
  cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
  output_tokens: 1,
}
const messageStart = {
  type: 'message_start',
  message: {
    id: 'msg_01',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: FIRST_USAGE,
  },
}
const blockStart = (index: number, block: JsonObject) => ({
  type: 'content_block_start',
  index,
  content_block: block,
})
const blockDelta = (index: number, delta: JsonObject) => ({
  type: 'content_block_delta',
  index,
  delta,
})
const blockStop = (index: number) => ({ type: 'content_block_stop', index })
const messageDelta = (reason: string, usage: JsonObject = FIRST_USAGE, more: JsonObject = {}) => ({
  type: 'message_delta',
  delta: { stop_reason: reason, stop_sequence: null, ...more },
  usage,
})
const messageStop = { type: 'message_stop' }
const toolUse = (id: string) => ({ type: 'tool_use', id, name: 'read', input: {} })
const jsonDelta = (index: number, json: string) =>
  blockDelta(index, { type: 'input_json_delta', partial_json: json })

/** Thinking, redacted thinking, a text and two calls: an answer with everything. */
const STREAM: readonly JsonObject[] = [
  messageStart,
  blockStart(0, { type: 'thinking', thinking: '', signature: '' }),
  blockDelta(0, { type: 'thinking_delta', thinking: 'Two ' }),
  blockDelta(0, { type: 'thinking_delta', thinking: 'files.' }),
  blockDelta(0, { type: 'signature_delta', signature: 'EqQB' }),
  blockStop(0),
  blockStart(1, { type: 'redacted_thinking', data: 'EmwK' }),
  blockStop(1),
  blockStart(2, { type: 'text', text: '' }),
  blockDelta(2, { type: 'text_delta', text: 'Reading.' }),
  blockStop(2),
  blockStart(3, toolUse('toolu_A')),
  jsonDelta(3, '{"path":'),
  jsonDelta(3, '"a"}'),
  blockStop(3),
  blockStart(4, toolUse('toolu_B')),
  jsonDelta(4, '{}'),
  blockStop(4),
  messageDelta('tool_use', { ...FIRST_USAGE, output_tokens: 40 }),
  messageStop,
]

const START: CanonicalEvent = { kind: 'start', id: 'msg_01', model: 'claude-sonnet-4-5' }
const firstUsage = canonicalUsage({
  inputUncached: 10,
  cacheRead: 20,
  cacheWrite5m: 10,
  cacheWrite1h: 20,
  output: 1,
})
const USAGE: CanonicalEvent = { kind: 'usage', usage: firstUsage }
const END: CanonicalEvent = { kind: 'end' }
const at = (part: number) => ({ choice: 0, part })
const stopped = (stop: 'end' | 'tool-calls' | 'refusal'): CanonicalEvent => ({
  kind: 'stop',
  choice: 0,
  stop,
  stopSequence: null,
})
const text = (part: number, value: string): CanonicalEvent => ({
  kind: 'text',
  ...at(part),
  text: value,
})
const call = (part: number, id: string): CanonicalEvent => ({
  kind: 'tool-call',
  ...at(part),
  id,
  name: 'read',
})
const json = (part: number, value: string): CanonicalEvent => ({
  kind: 'tool-arguments',
  ...at(part),
  json: value,
})

describe('a stream', () => {
  it('is read event by event', () => {
    expect(read(STREAM)).toEqual([
      START,
      USAGE,
      { kind: 'thinking', ...at(0), text: 'Two ' },
      { kind: 'thinking', ...at(0), text: 'files.' },
      { kind: 'thinking-signature', ...at(0), signature: 'EqQB' },
      { kind: 'thinking-redacted', ...at(1), data: 'EmwK' },
      text(2, 'Reading.'),
      call(3, 'toolu_A'),
      json(3, '{"path":'),
      json(3, '"a"}'),
      call(4, 'toolu_B'),
      json(4, '{}'),
      stopped('tool-calls'),
      { kind: 'usage', usage: { ...firstUsage, output: 40 } },
      END,
    ])
  })

  it('is the same after it was read and written', () => {
    expect(write(read(STREAM))).toEqual(STREAM)
  })

  it('keeps a stop sequence and the explanation of a refusal', () => {
    const refused = [
      messageStart,
      messageDelta('refusal', FIRST_USAGE, {
        stop_details: { type: 'refusal', category: null, explanation: 'Not this.' },
      }),
      messageStop,
    ]
    const sequence = [
      messageStart,
      messageDelta('stop_sequence', FIRST_USAGE, { stop_sequence: 'END' }),
      messageStop,
    ]
    expect(read(refused)).toContainEqual({ kind: 'refusal', ...at(0), text: 'Not this.' })
    expect(write(read(refused))).toEqual(refused)
    expect(write(read(sequence))).toEqual(sequence)
  })

  it('ends with an error, after which nothing is read or written', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    const failed = [...STREAM.slice(0, 4), error]
    const event: CanonicalEvent = { kind: 'error', type: 'overloaded_error', message: 'Overloaded' }
    expect(read([...failed, ...STREAM]).at(-1)).toEqual(event)
    expect(write([...read(failed), text(1, 'more'), END])).toEqual(failed)
  })
})

describe('reading an unusual stream', () => {
  it('finds the type of an event in its name', () => {
    const { type: _, ...members } = messageStart
    expect(createStreamReader().read(members, 'message_start')).toEqual([START, USAGE])
  })

  it('numbers only parts that it can read', () => {
    const events = [
      blockStart(0, { type: 'server_tool_use', id: 'srv', name: 'web_search', input: {} }),
      jsonDelta(0, '{"query":"a"}'),
      blockStop(0),
      blockStart(1, { type: 'web_search_tool_result', tool_use_id: 'srv', content: [] }),
      blockStop(1),
      blockStart(2, { type: 'text', text: '' }),
      blockStop(2),
      blockStart(3, { type: 'text', text: 'H' }),
      blockDelta(3, { type: 'citations_delta', citation: {} }),
      blockDelta(3, { type: 'text_delta', text: 'i' }),
      blockDelta(3, { type: 'thinking_delta', thinking: 'hm' }),
      blockStop(3),
    ]
    expect(read(events)).toEqual([text(0, 'H'), text(0, 'i')])
  })

  it('reads a text whose start is missing', () => {
    const delta = blockDelta(0, { type: 'text_delta', text: 'a' })
    expect(read([delta, delta, jsonDelta(1, '{}')])).toEqual([text(0, 'a'), text(0, 'a')])
  })

  it('begins a new part when a provider uses an index again', () => {
    const one = [
      blockStart(0, { type: 'text', text: '' }),
      blockDelta(0, { type: 'text_delta', text: 'a' }),
      blockStop(0),
    ]
    expect(read([...one, ...one])).toEqual([text(0, 'a'), text(1, 'a')])
  })

  it.each<[string, JsonObject[], string[]]>([
    ['no deltas', [], ['{}']],
    ['an empty delta', [jsonDelta(0, '')], ['{}']],
    ['deltas', [jsonDelta(0, '{"a"'), jsonDelta(0, ':1}')], ['{"a"', ':1}']],
  ])('reads the arguments of a call with %s', (_, deltas, expected) => {
    const events = [blockStart(0, toolUse('x')), ...deltas, blockStop(0)]
    expect(read(events)).toEqual([call(0, 'x'), ...expected.map((value) => json(0, value))])
  })

  it('reads arguments that come with the start of a call once', () => {
    const start = blockStart(0, { ...toolUse('x'), input: { a: 1 } })
    expect(read([start, jsonDelta(0, '{"a":1}'), blockStop(0)])).toEqual([
      call(0, 'x'),
      json(0, '{"a":1}'),
    ])
  })

  it('has an end for a stream without message_stop only after the stop reason', () => {
    expect(read([messageStart, messageDelta('end_turn')]).at(-1)).toEqual(END)
    expect(read([messageStart])).toEqual([START, USAGE])
  })

  it('has one stop reason, also if the provider sends none or several', () => {
    expect(read([messageStart, messageStop, messageStop]).slice(2)).toEqual([stopped('end'), END])
    const twice = [messageDelta('refusal'), messageDelta('end_turn'), messageStop]
    expect(read(twice).filter(({ kind }) => kind === 'stop')).toEqual([stopped('refusal')])
  })

  it('starts once', () => {
    const kinds = read([messageStart, messageStart]).map(({ kind }) => kind)
    expect(kinds).toEqual(['start', 'usage', 'usage'])
  })

  it('reads a bounded number of parts and of open blocks', () => {
    const starts = Array.from({ length: 5000 }, (_, index) => [
      blockStart(index, { type: 'text', text: 'a' }),
      blockStart(-index, toolUse('x')),
      blockDelta(index, { type: 'text_delta', text: 'b' }),
    ])
    const parts = new Set(
      read(starts.flat()).flatMap((event) => ('part' in event ? [event.part] : [])),
    )
    expect(parts.size).toBe(128)
    expect(Math.max(...parts)).toBe(127)
  })

  it.each<JsonObject>([
    {},
    { type: 5 },
    { type: 'message_start' },
    { type: 'message_start', message: 'a' },
    { type: 'content_block_start', index: {}, content_block: null },
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 5 } },
    { type: 'content_block_delta', index: null, delta: [] },
    { type: 'content_block_delta', index: '__proto__', delta: { type: 'text_delta', text: {} } },
    { type: 'content_block_stop' },
    { type: 'message_delta', delta: 5, usage: -1 },
    { type: 'error', error: 'no' },
  ])('survives %o', (event) => {
    expect(() => read([event, event])).not.toThrow()
  })
})

describe('writing a stream of another format', () => {
  const started = { ...messageStart.message, id: 'chatcmpl-1', model: 'gpt' }
  const zeros = {
    input_tokens: 0,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: 0,
  }
  const start: CanonicalEvent = { kind: 'start', id: 'chatcmpl-1', model: 'gpt' }
  const startedWithoutUsage = { ...messageStart, message: { ...started, usage: zeros } }

  it('has the usage that arrives after the stop reason in its last report', () => {
    expect(write([start, text(0, 'Hi'), stopped('end'), USAGE, END])).toEqual([
      startedWithoutUsage,
      blockStart(0, { type: 'text', text: '' }),
      blockDelta(0, { type: 'text_delta', text: 'Hi' }),
      blockStop(0),
      messageDelta('end_turn'),
      messageStop,
    ])
  })

  it('writes a text at once', () => {
    const writer = createStreamWriter('x')
    expect(writer.write(start)).toBe('')
    expect(writer.write(text(0, 'Hi'))).toMatch(/message_start.*content_block_start.*Hi/s)
    expect(writer.write(text(0, '!'))).toMatch(/^event: content_block_delta\n.*!"\}\}\n\n$/)
  })

  it('is complete for an empty answer, also without a start', () => {
    const closing = [messageDelta('end_turn', zeros), messageStop]
    expect(write([start, END])).toEqual([startedWithoutUsage, ...closing])
    expect(write([END])).toEqual([
      { ...messageStart, message: { ...started, id: 'msg_fallback', model: '', usage: zeros } },
      ...closing,
    ])
  })

  it('begins with an error if nothing came before', () => {
    const error: CanonicalEvent = { kind: 'error', type: 'server_error', message: 'no' }
    expect(write([error, start, text(0, 'a'), END])).toEqual([
      { type: 'error', error: { type: 'api_error', message: 'no' } },
    ])
  })

  it('has no blocks for empty texts, other choices, log probabilities and refusals', () => {
    const events: CanonicalEvent[] = [
      start,
      text(0, ''),
      { ...text(0, 'b'), choice: 1 } as CanonicalEvent,
      { kind: 'logprobs', choice: 0, tokens: [] },
      { kind: 'stop', choice: 1, stop: 'length', stopSequence: null },
      { kind: 'refusal', ...at(1), text: 'N' },
      { kind: 'refusal', ...at(1), text: 'o.' },
      stopped('end'),
      END,
    ]
    const details = { type: 'refusal', category: null, explanation: 'No.' }
    expect(write(events)).toEqual([
      startedWithoutUsage,
      messageDelta('refusal', zeros, { stop_details: details }),
      messageStop,
    ])
  })

  it('makes up ids of calls', () => {
    const [, block] = write([start, call(0, ''), END])
    expect(block).toMatchObject({ content_block: { id: 'toolu_chatcmpl-1_0' } })
  })

  it('puts interleaved calls in order', () => {
    const events: CanonicalEvent[] = [
      start,
      call(0, 'a'),
      call(1, 'b'),
      json(0, '{"s":"}'),
      json(1, '{"b"'),
      call(2, 'c'),
      json(2, '{}'),
      json(1, ':1}'),
      json(0, '\\""}'),
      text(3, 'Done.'),
      stopped('tool-calls'),
      END,
    ]
    expect(write(events)).toEqual([
      startedWithoutUsage,
      blockStart(0, toolUse('a')),
      jsonDelta(0, '{"s":"}'),
      jsonDelta(0, '\\""}'),
      blockStop(0),
      blockStart(1, toolUse('b')),
      jsonDelta(1, '{"b"'),
      jsonDelta(1, ':1}'),
      blockStop(1),
      blockStart(2, toolUse('c')),
      jsonDelta(2, '{}'),
      blockStop(2),
      blockStart(3, { type: 'text', text: '' }),
      blockDelta(3, { type: 'text_delta', text: 'Done.' }),
      blockStop(3),
      messageDelta('tool_use', zeros),
      messageStop,
    ])
  })

  it('writes calls that wait for a call without arguments at the end', () => {
    const events = [start, call(0, 'a'), call(1, 'b'), json(1, '{}'), stopped('tool-calls'), END]
    expect(write(events).slice(1, -2)).toEqual([
      blockStart(0, toolUse('a')),
      blockStop(0),
      blockStart(1, toolUse('b')),
      jsonDelta(1, '{}'),
      blockStop(1),
    ])
  })

  it('passes calls one after the other without delay', () => {
    const writer = createStreamWriter('x')
    for (const event of [start, call(0, 'a'), json(0, '{"a":[1]}')]) writer.write(event)
    expect(writer.write(call(1, 'b'))).toMatch(/content_block_stop.*content_block_start/s)
    expect(writer.write(json(1, '{'))).toMatch(/input_json_delta/)
  })

  it('gives up and writes nothing more if the calls that wait are too long', () => {
    const chunk = json(1, 'x'.repeat(1024 * 1024))
    const events = [
      start,
      call(0, 'a'),
      call(1, 'b'),
      ...Array.from({ length: 9 }, () => chunk),
      END,
    ]
    const writer = createStreamWriter('x')
    const written = events.map((event) => writer.write(event))
    expect(writer.hasGivenUp).toBe(true)
    expect(written.slice(-3).join('')).toBe('')
  })

  it('is read as the same events again', () => {
    const events: CanonicalEvent[] = [
      START,
      USAGE,
      { kind: 'thinking', ...at(0), text: 'hm' },
      text(1, 'a'),
      call(2, 'x'),
      json(2, '{"a":1}'),
      call(3, 'y'),
      json(3, '{}'),
      stopped('tool-calls'),
      USAGE,
      END,
    ]
    expect(read(write(events))).toEqual(events)
  })
})
