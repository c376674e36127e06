import fc from 'fast-check'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import type { CanonicalEvent } from '#relay/canonical/canonical-answer.ts'
import { createStreamReader } from '#relay/conversion/openai-responses/read-stream.ts'
import { createStreamWriter } from '#relay/conversion/openai-responses/write-stream.ts'

const SETTINGS = { custom: new Set<string>(), namespaced: new Map(), repeated: {} }
const OPTIONS = { ...SETTINGS, createdAt: 1, isStored: true }

/** Events that end a stream are rare, because nothing after them is read. */
const LAST = ['completed', 'incomplete', 'failed']
const TYPES = [
  ...['created', 'output_item.added', 'output_item.done', 'output_text.delta'],
  ...['output_text.done', 'refusal.delta', 'reasoning_text.delta'],
  ...['reasoning_summary_text.delta', 'function_call_arguments.delta'],
  ...['function_call_arguments.done', '__proto__'],
]
const eventType = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom(...TYPES) },
  { weight: 1, arbitrary: fc.constantFrom(...LAST) },
)
const index = fc.oneof(fc.integer({ min: -1, max: 3 }), fc.constantFrom(1e9, 0.5, 'a', null))
const item = fc.record(
  {
    type: fc.constantFrom('message', 'reasoning', 'function_call', 'custom_tool_call', 'x', 3),
    id: fc.constantFrom('a', 'b', '', null),
    call_id: fc.constantFrom('a', 'b', '', {}),
    name: fc.constantFrom('f', '', '__proto__'),
    arguments: fc.oneof(fc.string(), fc.constant({ a: 1 })),
    content: fc.oneof(fc.array(fc.record({ type: fc.string(), text: fc.string() })), fc.string()),
    summary: fc.oneof(fc.array(fc.record({ text: fc.string() })), fc.string()),
    encrypted_content: fc.oneof(fc.string(), fc.constant(7)),
  },
  { requiredKeys: ['type'] },
)
const response = fc.record({
  output: fc.array(item, { maxLength: 3 }),
  usage: fc.jsonValue(),
})
const providerEvent = fc.record(
  {
    type: eventType.map((type) => `response.${type}`),
    output_index: index,
    content_index: index,
    summary_index: index,
    delta: fc.oneof(fc.string(), fc.jsonValue()),
    text: fc.string(),
    item,
    response: fc.oneof(
      { weight: 5, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: response },
    ),
  },
  { requiredKeys: ['type', 'output_index', 'delta', 'item', 'response'] },
)

/** Checks that parts are numbered by their beginning, and that only calls are interleaved. */
function checkOrder(events: readonly CanonicalEvent[]): void {
  const kinds: string[] = []
  let current = -1
  for (const event of events) {
    if (!('part' in event)) continue
    const isCall = event.kind.startsWith('tool-')
    if (event.part === kinds.length) kinds.push(isCall ? 'call' : event.kind)
    expect(event.part).toBeLessThan(kinds.length)
    if (event.part < current) {
      expect(kinds.slice(event.part, current + 1).every((kind) => kind === 'call')).toBe(true)
    }
    current = Math.max(current, event.part)
  }
}

type Part = { readonly kind: 'text' | 'refusal' | 'thinking' | 'calls'; readonly texts: string[] }
const text = fc.string({ minLength: 1, maxLength: 8 })
const answerPart: fc.Arbitrary<Part> = fc.record({
  kind: fc.constantFrom('text', 'refusal', 'thinking', 'calls'),
  texts: fc.array(text, { minLength: 1, maxLength: 3 }),
})

/** Returns the events of an answer. The arguments of neighbouring calls are interleaved. */
function eventsOf(parts: readonly Part[]): CanonicalEvent[] {
  const events: CanonicalEvent[] = [{ kind: 'start', id: 'resp_1', model: 'm' }]
  let part = 0
  for (const { kind, texts } of parts) {
    if (kind === 'calls') {
      const first = part
      for (const name of texts) {
        events.push({ kind: 'tool-call', choice: 0, part, id: `call_${part}`, name })
        part += 1
      }
      for (const json of ['{"a"', ':1}']) {
        for (const at of texts.keys()) {
          events.push({ kind: 'tool-arguments', choice: 0, part: first + at, json })
        }
      }
    } else {
      for (const each of texts) events.push({ kind, choice: 0, part, text: each })
      if (kind === 'thinking') {
        events.push({ kind: 'thinking-signature', choice: 0, part, signature: 'openai:x' })
      }
      part += 1
    }
  }
  const hasCalls = parts.some(({ kind }) => kind === 'calls')
  const isRefused = parts.some(({ kind }) => kind === 'refusal')
  const stop = hasCalls ? 'tool-calls' : isRefused ? 'refusal' : 'end'
  return [...events, { kind: 'stop', choice: 0, stop, stopSequence: null }, { kind: 'end' }]
}

function readAgain(stream: string): CanonicalEvent[] {
  const reader = createStreamReader()
  const lines = stream.split('\n').filter((line) => line.startsWith('data: '))
  const events = lines.flatMap((line) => [...reader.read(JSON.parse(line.slice(6)), '')])
  // `announce-first-part.test.ts` tests when a part is announced.
  return events.filter(({ kind }) => kind !== 'part-begun')
}

async function outputFromSdk(stream: string) {
  const headers = { 'content-type': 'text/event-stream' }
  const fetch = async (): Promise<Response> => new Response(stream, { headers })
  const client = new OpenAI({ apiKey: 'k', baseURL: 'http://localhost', fetch })
  return (await client.responses.stream({ model: 'm', input: 'a' }).finalResponse()).output
}

describe('streams in OpenAI’s responses format', () => {
  it('are read in order, whatever a provider sends', () => {
    fc.assert(
      fc.property(fc.array(providerEvent, { maxLength: 30 }), (sent) => {
        const reader = createStreamReader()
        const events = sent.flatMap((data) => [...reader.read(data, '')])
        checkOrder(events)
        const writer = createStreamWriter(OPTIONS)
        for (const event of events) writer.write(event)
      }),
      { numRuns: 1_000 },
    )
  })

  it('are accepted by OpenAI’s SDK and give the same events when they are read again', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(answerPart, { maxLength: 6 }), async (parts) => {
        const events = eventsOf(parts)
        const writer = createStreamWriter(OPTIONS)
        const stream = events.map((event) => writer.write(event)).join('')
        expect(readAgain(stream)).toEqual(events)
        await outputFromSdk(stream)
      }),
      { numRuns: 100 },
    )
  })
})
