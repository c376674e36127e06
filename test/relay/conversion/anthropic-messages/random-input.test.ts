import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CanonicalEvent } from '#relay/canonical/canonical-answer.ts'
import { ConversionError } from '#relay/canonical/canonical-request.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { readAnswer } from '#relay/conversion/anthropic-messages/read-answer.ts'
import { createStreamReader } from '#relay/conversion/anthropic-messages/read-answer-stream.ts'
import { readRequest } from '#relay/conversion/anthropic-messages/read-request.ts'
import { writeAnswer } from '#relay/conversion/anthropic-messages/write-answer.ts'
import { createStreamWriter } from '#relay/conversion/anthropic-messages/write-answer-stream.ts'
import { writeRequest } from '#relay/conversion/anthropic-messages/write-request.ts'

/** Objects whose members have the names and some of the values of the format. */
function objectsLike(names: readonly string[], values: readonly unknown[]) {
  const { object } = fc.letrec<{ object: JsonObject; value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(...values),
      fc.jsonValue({ maxDepth: 1 }),
      fc.array(tie('object'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 8 }),
  }))
  return object
}

const BLOCK_TYPES = ['text', 'thinking', 'redacted_thinking', 'tool_use', 'tool_result', 'image']
const BLOCK_NAMES = ['type', 'text', 'thinking', 'signature', 'data', 'id', 'name', 'input']
const answers = objectsLike(
  [...BLOCK_NAMES, 'content', 'model', 'stop_reason', 'stop_details', 'usage', 'input_tokens'],
  [...BLOCK_TYPES, 'refusal', -1, 1.5],
)
const events = objectsLike(
  [...BLOCK_NAMES, 'index', 'delta', 'content_block', 'message', 'usage', 'error', 'partial_json'],
  [
    ...BLOCK_TYPES,
    ...['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop'],
    ...['message_delta', 'message_stop', 'error', 'text_delta', 'input_json_delta', 0, 1],
  ],
)
const requests = objectsLike(
  [
    ...BLOCK_NAMES,
    'model',
    'messages',
    'role',
    'content',
    'source',
    'media_type',
    'tools',
    'system',
  ],
  [...BLOCK_TYPES, 'base64', 'user', 'assistant', 'system', 'claude-opus-5'],
)

describe('random input', () => {
  it('is read as an answer, which can be written', () => {
    fc.assert(
      fc.property(answers, (body) => {
        JSON.stringify(writeAnswer(readAnswer(body), 'x'))
      }),
    )
  })

  it('is read as a stream, which can be written', () => {
    fc.assert(
      fc.property(fc.array(events, { maxLength: 20 }), (stream) => {
        const reader = createStreamReader()
        const writer = createStreamWriter('x')
        const found = [...stream.flatMap((event) => reader.read(event, '')), ...reader.finish()]
        for (const event of found) writer.write(event)
      }),
    )
  })

  it('is read as a request, or is refused with the path of a member', () => {
    fc.assert(
      fc.property(requests, (members) => {
        const body = { model: 'm', messages: [{ role: 'user', content: [members] }], ...members }
        try {
          JSON.stringify(writeRequest(readRequest(body).value, { default: 10, max: null }))
        } catch (error) {
          expect(error).toBeInstanceOf(ConversionError)
          expect((error as ConversionError).param).not.toBe('')
        }
      }),
    )
  })
})

describe('tool calls that are interleaved in any way', () => {
  const texts = fc.array(fc.json(), { minLength: 1, maxLength: 5 })
  const order = fc.infiniteStream(fc.nat({ max: 99 }))

  it('keep their arguments', () => {
    fc.assert(
      fc.property(texts, order, (values, picks) => {
        const inputs = values.map((value) => `{"a":${value}}`)
        const events = interleave(inputs, picks)
        const writer = createStreamWriter('x')
        const reader = createStreamReader()
        const found = [...events, { kind: 'end' } as const]
          .map((event) => writer.write(event))
          .join('')
          .split('\n')
          .filter((line) => line.startsWith('data: '))
          .flatMap((line) => reader.read(JSON.parse(line.slice(6)) as JsonObject, ''))
        const written = inputs.map((_, part) =>
          found
            .map((event) =>
              event.kind === 'tool-arguments' && event.part === part ? event.json : '',
            )
            .join(''),
        )
        expect(written).toEqual(inputs)
      }),
    )
  })

  /** Cuts each input into pieces, and mixes them as the picks say. Calls begin in their order. */
  function interleave(inputs: readonly string[], picks: Iterable<number>): CanonicalEvent[] {
    const rests = [...inputs]
    const events: CanonicalEvent[] = []
    let begun = 0
    for (const pick of picks) {
      if (begun < inputs.length && (begun === 0 || pick % 3 === 0)) {
        events.push({ kind: 'tool-call', choice: 0, part: begun, id: `c${begun}`, name: 't' })
        begun += 1
        continue
      }
      const part = pick % begun
      const rest = rests[part] ?? ''
      const length = 1 + (pick % 7)
      const json = rest.slice(0, length)
      if (json !== '') events.push({ kind: 'tool-arguments', choice: 0, part, json })
      rests[part] = rest.slice(length)
      if (begun === inputs.length && rests.every((one) => one === '')) return events
    }
    return events
  }
})
