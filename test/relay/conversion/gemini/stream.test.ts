import { describe, expect, it } from 'vitest'
import type { CanonicalEvent } from '#relay/canonical/canonical-answer.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { createStreamReader, readAnswer } from '#relay/conversion/gemini/read-answer-and-stream.ts'
import { createStreamWriter } from '#relay/conversion/gemini/write-stream.ts'
import { joinEventsToAnswer } from '#relay/conversion/join-canonical-events.ts'
import { ANSWER, CHUNKS } from './answers.ts'

function read(chunks: readonly JsonObject[]): CanonicalEvent[] {
  const reader = createStreamReader()
  return [...chunks.flatMap((chunk) => reader.read(chunk, '')), ...reader.finish()]
}

function write(events: readonly CanonicalEvent[]): string {
  const writer = createStreamWriter()
  return events.map((event) => writer.write(event)).join('')
}

const chunksOf = (text: string): JsonObject[] =>
  text
    .split('\n\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line.slice('data: '.length)))

const START: CanonicalEvent = { kind: 'start', id: 'i', model: 'm' }
const END: CanonicalEvent = { kind: 'end' }
const STOP = { kind: 'stop', choice: 0, stop: 'end', stopSequence: null } as const
const AT = { choice: 0, part: 0 }
const IDENTITY = { modelVersion: 'm', responseId: 'i' }

describe('reading a stream in Gemini’s format', () => {
  it('reads the events in order', () => {
    const events = read(CHUNKS).filter(({ kind }) => kind !== 'usage')
    expect(events).toEqual([
      { kind: 'start', id: 'xhjWaLmpFOuHz7IPl8mR4Aw', model: 'gemini-3.5-flash' },
      { kind: 'thinking', choice: 0, part: 0, text: 'Both must ' },
      { kind: 'thinking', choice: 0, part: 0, text: 'be read.' },
      { kind: 'text', choice: 0, part: 1, text: 'I read' },
      { kind: 'text', choice: 0, part: 1, text: ' them.' },
      {
        kind: 'tool-call',
        choice: 0,
        part: 2,
        id: 'c1',
        name: 'read',
        signature: 'c2lnbmF0dXJl',
      },
      { kind: 'tool-arguments', choice: 0, part: 2, json: '{"path":"a"}' },
      {
        kind: 'tool-call',
        choice: 0,
        part: 3,
        id: 'gemini_call_xhjWaLmpFOuHz7IPl8_0_3',
        name: 'list',
      },
      { kind: 'tool-arguments', choice: 0, part: 3, json: '{}' },
      { ...STOP, stop: 'tool-calls' },
      END,
    ])
  })

  it('reads the same answer as without a stream, with the last usage', () => {
    expect(joinEventsToAnswer(read(CHUNKS))).toEqual(readAnswer(ANSWER))
  })

  it('reports one stop if every chunk has one', () => {
    const chunk = (text: string) => ({
      candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP' }],
    })
    const events = read([chunk('a'), chunk('b')])
    expect(events.map(({ kind }) => kind)).toEqual(['start', 'text', 'text', 'stop', 'end'])
  })

  it('does not report the end of a stream that was cut', () => {
    expect(read(CHUNKS.slice(0, 3)).map(({ kind }) => kind)).not.toContain('end')
    expect(read([])).toEqual([])
    const two = [0, 1].map((index) => ({ index, content: { parts: [{ text: 'a' }] } }))
    const [first, second] = two
    const events = read([{ candidates: two }, { candidates: [{ ...first, finishReason: 'STOP' }] }])
    expect(events.at(-1)).toEqual(STOP)
    const rest = { candidates: [{ ...second, finishReason: 'STOP' }] }
    expect(
      read([{ candidates: [{ ...first, finishReason: 'STOP' }, second] }, rest]).at(-1),
    ).toEqual(END)
  })

  it('reads a blocked prompt', () => {
    const events = read([{ promptFeedback: { blockReason: 'SAFETY' } }])
    expect(events).toEqual([
      { kind: 'start', id: '', model: '' },
      { ...STOP, stop: 'refusal' },
      END,
    ])
  })

  it('reads an error and nothing after it', () => {
    const error = { code: 503, message: 'overloaded', status: 'UNAVAILABLE' }
    const events = read([...CHUNKS.slice(0, 1), { error }, ...CHUNKS.slice(1)])
    expect(events.map(({ kind }) => kind)).toEqual(['start', 'usage', 'thinking', 'error'])
    expect(events.at(-1)).toEqual({ kind: 'error', type: 'UNAVAILABLE', message: 'overloaded' })
    expect(read([{ error: {} }])).toEqual([{ kind: 'error', type: 'UNKNOWN', message: '' }])
  })

  it('begins no empty text for a signature after a call', () => {
    const parts = [{ functionCall: { name: 'f' } }, { text: '', thoughtSignature: 'c2ln' }]
    const kinds = read([{ candidates: [{ content: { parts } }] }]).map(({ kind }) => kind)
    expect(kinds).toEqual(['start', 'tool-call', 'tool-arguments'])
  })

  it('bounds the number of parts', () => {
    const chunk = {
      candidates: [{ content: { parts: [{ functionCall: { name: 'f' } }, { text: 'a' }] } }],
    }
    const events = read(Array.from({ length: 200 }, () => chunk))
    const parts = events.flatMap((event) => ('part' in event ? [event.part] : []))
    expect(Math.max(...parts)).toBe(127)
  })
})

describe('writing a stream in Gemini’s format', () => {
  it('is read as the same answer', () => {
    const events = read(CHUNKS)
    const chunks = chunksOf(write(events))
    expect(joinEventsToAnswer(read(chunks))).toEqual(joinEventsToAnswer(events))
    const contents = events.filter(({ kind }) => kind !== 'usage')
    expect(read(chunks).filter(({ kind }) => kind !== 'usage')).toEqual(contents)
    expect(write(read(chunks))).toBe(write(events))
  })

  it.each([
    { kind: 'tool-arguments', ...AT, json: 'x'.repeat(100_000) },
    { kind: 'thinking', choice: 0, part: 1, text: 'x'.repeat(100_000) },
  ] as const)('gives up on calls and thoughts that are too long to be kept ($kind)', (event) => {
    const writer = createStreamWriter()
    writer.write(START)
    const write40 = () => {
      for (let count = 0; count < 40; count += 1) writer.write(event)
    }
    const begin = () => writer.write({ kind: 'tool-call', ...AT, id: 'c', name: 'f' })
    begin()
    write40()
    writer.write({ kind: 'text', choice: 0, part: 2, text: 'So' })
    begin()
    write40()
    expect(writer.hasGivenUp).toBe(false)
    write40()
    expect(writer.hasGivenUp).toBe(true)
    expect(writer.write(END)).toBe('')
  })

  it('writes parallel calls when all their arguments are complete', () => {
    const call = (part: number) => ({
      kind: 'tool-call',
      choice: 0,
      part,
      id: `c${part}`,
      name: 'f',
    })
    const json = (part: number, text: string) => ({
      kind: 'tool-arguments',
      choice: 0,
      part,
      json: text,
    })
    const events = [
      START,
      { kind: 'text', ...AT, text: 'a' },
      call(2),
      json(2, '{"x"'),
      call(1),
      json(1, '{'),
      json(2, ':1}'),
      json(1, '}'),
      { ...STOP, stop: 'tool-calls' },
      END,
    ] as CanonicalEvent[]
    expect(chunksOf(write(events))).toMatchObject([
      { candidates: [{ content: { parts: [{ text: 'a' }] } }] },
      {
        candidates: [
          {
            content: {
              parts: [
                { functionCall: { id: 'c1', name: 'f', args: {} } },
                { functionCall: { id: 'c2', name: 'f', args: { x: 1 } } },
              ],
            },
          },
        ],
      },
      { candidates: [{ content: { parts: [{ text: '' }] }, finishReason: 'STOP' }] },
    ])
  })

  it('writes a call before the text after it', () => {
    const events: CanonicalEvent[] = [
      { kind: 'tool-call', ...AT, id: 'c', name: 'f' },
      { kind: 'text', choice: 0, part: 1, text: 'a' },
      END,
    ]
    const parts = chunksOf(write(events)).flatMap((chunk) => JSON.stringify(chunk))
    expect(parts[0]).toContain('"functionCall"')
    expect(parts[1]).toContain('"text":"a"')
  })

  it('has the stops of all choices and the usage in the last chunk', () => {
    const usage = readAnswer(ANSWER).usage ?? expect.fail()
    const events: CanonicalEvent[] = [
      START,
      { kind: 'text', choice: 1, part: 0, text: 'b' },
      { ...STOP, choice: 1, stop: 'length' },
      { kind: 'text', ...AT, text: 'a' },
      STOP,
      { kind: 'usage', usage },
      END,
    ]
    const chunks = chunksOf(write(events))
    expect(chunks).toHaveLength(3)
    expect(chunks[2]).toEqual({
      candidates: [
        { content: { parts: [{ text: '' }], role: 'model' }, index: 0, finishReason: 'STOP' },
        { content: { parts: [{ text: '' }], role: 'model' }, index: 1, finishReason: 'MAX_TOKENS' },
      ],
      usageMetadata: ANSWER.usageMetadata,
      ...IDENTITY,
    })
  })

  it('writes thoughts of another provider with what the provider needs again', () => {
    const events: CanonicalEvent[] = [
      START,
      { kind: 'thinking', ...AT, text: 'Hm' },
      { kind: 'thinking-signature', ...AT, signature: 'made by Claude' },
      { kind: 'thinking-redacted', choice: 0, part: 1, data: 'made by Claude too' },
      { kind: 'text', choice: 0, part: 2, text: 'Yes', signature: 'c2ln' },
      STOP,
      END,
    ]
    expect(read(chunksOf(write(events)))).toEqual(events)
  })

  it('writes an answer without parts', () => {
    const candidates = [{ content: { parts: [{ text: '' }] }, finishReason: 'STOP' }]
    expect(chunksOf(write([START, STOP, END]))).toMatchObject([{ candidates, ...IDENTITY }])
    expect(chunksOf(write([START, END]))).toMatchObject([{ candidates, ...IDENTITY }])
    expect(chunksOf(write([END]))).toMatchObject([{ candidates }])
  })

  it('writes an error with a status, and nothing after it', () => {
    const failing = (type: string): CanonicalEvent => ({ kind: 'error', type, message: 'm' })
    expect(write([START, failing('overloaded_error'), STOP, END])).toBe(
      'data: {"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}\n\n',
    )
    expect(chunksOf(write([failing('odd')]))).toEqual([
      { error: { code: 500, message: 'm', status: 'INTERNAL' } },
    ])
    expect(chunksOf(write([failing('RESOURCE_EXHAUSTED')]))).toMatchObject([
      { error: { code: 429 } },
    ])
  })
})
