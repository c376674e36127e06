import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CanonicalAnswer, CanonicalEvent } from '#relay/canonical/canonical-answer.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { createStreamReader } from '#relay/conversion/openai-chat/read-stream.ts'
import { createStreamWriter } from '#relay/conversion/openai-chat/write-stream.ts'

const OPTIONS = { createdAt: 1, hasStreamUsage: true, usesFunctionCall: false }
type Part = CanonicalAnswer['choices'][number]['parts'][number]

const words = fc.string({ minLength: 1, maxLength: 12, unit: 'binary' })
const opening: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ kind: fc.constant('text' as const), text: words }),
  fc.record({ kind: fc.constant('refusal' as const), text: words }),
  fc.record({ kind: fc.constant('thinking' as const), text: words }),
  fc.record({ kind: fc.constant('thinking' as const), text: words, signature: words }),
  fc.record({ kind: fc.constant('thinking' as const), text: fc.constant(''), redacted: words }),
)
const call: fc.Arbitrary<Part> = fc.record({
  kind: fc.constant('tool-call' as const),
  id: fc.uuid(),
  name: words,
  argumentsJson: fc.dictionary(words, words).map((value) => JSON.stringify(value)),
})

/** Texts of the same kind that follow each other are one part in this format. */
const isDistinct = (parts: readonly Part[]): boolean =>
  parts.every(({ kind }, at) => kind === 'thinking' || kind !== parts[at - 1]?.kind)
const parts = fc
  .tuple(fc.array(opening, { maxLength: 6 }).filter(isDistinct), fc.array(call, { maxLength: 4 }))
  .map(([before, calls]) => [...before, ...calls])

/** Cuts a text into pieces of `length` characters. */
const pieces = (text: string, length: number): readonly string[] =>
  Array.from({ length: Math.ceil(text.length / length) }, (_, at) =>
    text.slice(at * length, (at + 1) * length),
  )

function partEvents(part: Part, number: number, choice: number): readonly CanonicalEvent[] {
  const place = { choice, part: number }
  if (part.kind === 'tool-call') {
    const deltas = pieces(part.argumentsJson, 3)
    return [
      { kind: 'tool-call', ...place, id: part.id, name: part.name },
      ...deltas.map((json) => ({ kind: 'tool-arguments' as const, ...place, json })),
    ]
  }
  if (part.kind !== 'thinking') {
    return pieces(part.text, 3).map((text) => ({ kind: part.kind, ...place, text }))
  }
  const { text, signature, redacted } = part
  if (redacted !== undefined) return [{ kind: 'thinking-redacted', ...place, data: redacted }]
  const deltas = pieces(text, 3).map((each) => ({
    kind: 'thinking' as const,
    ...place,
    text: each,
  }))
  if (signature === undefined) return deltas
  return [...deltas, { kind: 'thinking-signature', ...place, signature }]
}

function choiceEvents(list: readonly Part[], choice: number): readonly CanonicalEvent[] {
  const has = (kind: Part['kind']) => list.some((part) => part.kind === kind)
  const stop = has('tool-call') ? 'tool-calls' : has('refusal') ? 'refusal' : 'end'
  return [
    ...list.flatMap((part, number) => partEvents(part, number, choice)),
    { kind: 'stop', choice, stop, stopSequence: null },
  ]
}

function written(events: readonly CanonicalEvent[]): readonly JsonObject[] {
  const writer = createStreamWriter(OPTIONS)
  return events
    .map((event) => writer.write(event))
    .join('')
    .split('\n\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as JsonObject)
}

function read(chunks: readonly JsonObject[]): readonly CanonicalEvent[] {
  const reader = createStreamReader()
  const events = chunks.flatMap((chunk) => reader.read(chunk, ''))
  return [...events, ...reader.finish()]
}

describe('a stream that is written and read again', () => {
  it('has the same events, for any answer with several choices', () => {
    fc.assert(
      fc.property(fc.array(parts, { minLength: 1, maxLength: 3 }), (choices) => {
        const events: readonly CanonicalEvent[] = [
          { kind: 'start', id: 'id', model: 'm' },
          ...choices.flatMap(choiceEvents),
          { kind: 'end' },
        ]
        expect(read(written(events))).toEqual(events)
      }),
    )
  })
})
