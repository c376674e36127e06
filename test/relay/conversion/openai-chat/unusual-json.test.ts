import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ConversionError } from '#relay/canonical/canonical-request.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { OPEN_ROUTER, OPENAI } from '#relay/conversion/openai-chat/chat-extensions-of-provider.ts'
import { readAnswer } from '#relay/conversion/openai-chat/read-answer.ts'
import { readRequest } from '#relay/conversion/openai-chat/read-request.ts'
import { createStreamReader } from '#relay/conversion/openai-chat/read-stream.ts'
import { writeAnswer } from '#relay/conversion/openai-chat/write-answer.ts'
import { writeRequest } from '#relay/conversion/openai-chat/write-request.ts'

/** Returns objects whose members are sometimes right and sometimes any JSON. */
const members = (right: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<JsonObject> =>
  fc.record(
    Object.fromEntries(
      Object.entries(right).map(([name, value]) => [
        name,
        fc.oneof({ weight: 6, arbitrary: value }, { weight: 1, arbitrary: fc.jsonValue() }),
      ]),
    ),
    { requiredKeys: [] },
  )
const text = fc.constantFrom('', 'x', '{}', '{"a":1}', '__proto__', 'constructor')
const list = (element: fc.Arbitrary<unknown>) => fc.array(element, { maxLength: 3 })

const call = members({
  index: fc.integer({ min: -1, max: 200 }),
  id: text,
  type: fc.constantFrom('function', 'custom'),
  function: members({ name: text, arguments: text }),
  extra_content: members({ google: members({ thought_signature: text }) }),
})
const detail = members({
  type: fc.constantFrom('reasoning.text', 'reasoning.summary', 'reasoning.encrypted'),
  text,
  summary: text,
  data: text,
  signature: text,
  format: text,
  id: text,
  index: fc.integer({ min: 0, max: 3 }),
})
const part = members({
  type: fc.constantFrom('text', 'image_url', 'input_audio', 'file', 'refusal', 'thinking'),
  text,
  image_url: members({ url: fc.constantFrom('https://a.b', 'data:;base64,', 'data:,') }),
  input_audio: members({ data: text, format: text }),
  file: members({ file_id: text, file_data: text, filename: text }),
  cache_control: members({ type: fc.constant('ephemeral'), ttl: fc.constantFrom('5m', '1h') }),
})
const message = members({
  role: fc.constantFrom('system', 'developer', 'user', 'assistant', 'tool', 'function'),
  content: fc.oneof(text, list(part)),
  refusal: text,
  reasoning: text,
  reasoning_content: text,
  reasoning_details: list(detail),
  tool_calls: list(call),
  function_call: members({ name: text, arguments: text }),
  tool_call_id: text,
  name: text,
  audio: members({ transcript: text }),
})

describe('unusual JSON', () => {
  it('of a caller is converted or refused with the path of a member', () => {
    const request = members({
      model: text,
      messages: list(message),
      tools: list(members({ type: fc.constant('function'), function: members({ name: text }) })),
      tool_choice: fc.constantFrom('auto', 'none', 'required'),
      response_format: members({ type: fc.constantFrom('text', 'json_object', 'json_schema') }),
      reasoning: members({ effort: fc.constantFrom('none', 'high'), max_tokens: fc.integer() }),
    })
    fc.assert(
      fc.property(request, (body) => {
        try {
          const { value } = readRequest(body)
          for (const vendor of [OPENAI, OPEN_ROUTER]) readRequest(writeRequest(value, vendor).value)
        } catch (error) {
          expect(error).toBeInstanceOf(ConversionError)
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('of a provider never fails, and ends a stream once', () => {
    const choice = members({
      index: fc.integer({ min: -1, max: 200 }),
      message,
      delta: message,
      finish_reason: fc.constantFrom(null, 'stop', 'length', 'tool_calls'),
      logprobs: members({ content: list(fc.jsonValue()) }),
    })
    const body = members({ id: text, model: text, choices: list(choice), usage: fc.object() })
    const options = { createdAt: 1, hasStreamUsage: true, usesFunctionCall: false }
    fc.assert(
      fc.property(fc.array(body, { maxLength: 5 }), (chunks) => {
        const reader = createStreamReader()
        const events = chunks.flatMap((chunk) => reader.read(chunk, ''))
        const all = [...events, ...reader.finish()]
        expect(all.filter(({ kind }) => kind === 'end')).toHaveLength(1)
        for (const chunk of chunks) {
          const answer = readAnswer(chunk)
          expect(readAnswer(writeAnswer(answer, options)).choices).toHaveLength(
            answer.choices.length,
          )
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('of a provider gives parts in order, of which only tool calls are interleaved', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), (deltas) => {
        const reader = createStreamReader()
        const chunks = deltas.map((delta) => ({ choices: [{ index: 0, delta }] }))
        const events = chunks.flatMap((chunk) => reader.read(chunk, ''))
        const partsSeen: string[] = []
        for (const event of [...events, ...reader.finish()]) {
          if (!('part' in event)) continue
          const isCall = event.kind.startsWith('tool-')
          const kind = isCall ? 'tool-call' : event.kind.replace(/-.*/, '')
          partsSeen[event.part] ??= kind
          expect(partsSeen[event.part]).toBe(kind)
          expect(event.part).toBeLessThan(partsSeen.length)
          const later = partsSeen.slice(event.part + 1)
          expect(later.every((each) => isCall && each === 'tool-call')).toBe(true)
          expect(Object.keys(partsSeen)).toHaveLength(partsSeen.length)
        }
      }),
      { numRuns: 1000 },
    )
  })
})
