import fc from 'fast-check'
import { describe, it } from 'vitest'
import type { CanonicalEvent } from '#relay/canonical/canonical-answer.ts'
import { ConversionError } from '#relay/canonical/canonical-request.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { createStreamReader, readAnswer } from '#relay/conversion/gemini/read-answer-and-stream.ts'
import { SchemaCopies } from '#relay/conversion/gemini/schema-copies.ts'
import { writeAnswer } from '#relay/conversion/gemini/write-answer.ts'
import { toGeminiSchema } from '#relay/conversion/gemini/write-gemini-schema.ts'
import { writeRequest } from '#relay/conversion/gemini/write-request.ts'
import { createStreamWriter } from '#relay/conversion/gemini/write-stream.ts'
import { ANSWER, CHUNKS } from './answers.ts'
import { AGENT_REQUEST, BODY, read } from './requests.ts'

const RUNS = { numRuns: 300 }

/** JSON in which one value, at any depth, is replaced by another. */
const damaged = (json: JsonObject): fc.Arbitrary<JsonObject> =>
  fc
    .tuple(fc.nat(200), fc.oneof(fc.jsonValue(), fc.constantFrom(-1, 0.5, 1e30, '', '__proto__')))
    .map(([target, replacement]) => {
      let count = -1
      return JSON.parse(JSON.stringify(json), (_, value) => {
        count += 1
        return count === target ? replacement : value
      })
    })
    .filter((value) => typeof value === 'object' && value !== null && !Array.isArray(value))

describe('damaged JSON', () => {
  it('is read as an answer without a fault, and can be written', () => {
    fc.assert(
      fc.property(damaged(ANSWER), (body) => {
        JSON.stringify(writeAnswer(readAnswer(body)))
      }),
      RUNS,
    )
  })

  it('is read as a stream without a fault, and can be written', () => {
    fc.assert(
      fc.property(damaged({ chunks: CHUNKS }), ({ chunks }) => {
        const reader = createStreamReader()
        const writer = createStreamWriter()
        const write = (events: readonly CanonicalEvent[]) => events.map(writer.write, writer)
        for (const chunk of Array.isArray(chunks) ? chunks : []) {
          if (typeof chunk === 'object' && chunk !== null) write(reader.read(chunk, ''))
        }
        write(reader.finish())
      }),
      RUNS,
    )
  })

  it('is read as a request, or refused with the path of the fault', () => {
    fc.assert(
      fc.property(damaged(AGENT_REQUEST), (body) => {
        try {
          writeRequest(read(body).value, BODY)
        } catch (error) {
          if (!(error instanceof ConversionError) || error.param === '') throw error
        }
      }),
      RUNS,
    )
  })

  it('is written as a schema with a type', () => {
    const schema = {
      type: 'object',
      properties: { a: { $ref: '#/$defs/b' }, c: { type: 'array', items: { enum: ['x'] } } },
      required: ['a'],
      anyOf: [{ type: 'null' }],
      $defs: { b: { allOf: [{ type: 'string' }, { $ref: '#' }] } },
    }
    fc.assert(
      fc.property(fc.oneof(damaged(schema), fc.jsonValue()), (value) => {
        const written = toGeminiSchema(value, 's', new SchemaCopies(64_000, BODY.length)).value
        if (written.type === undefined && !Array.isArray(written.anyOf)) throw new Error('no type')
      }),
      RUNS,
    )
  })
})
