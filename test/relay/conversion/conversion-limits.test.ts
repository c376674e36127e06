import { describe, expect, it } from 'vitest'
import { conversionLimitError } from '#relay/conversion/conversion-limits.ts'
import { convertCall } from '#relay/conversion/convert-call.ts'
import { ArgumentsSizeError } from '#relay/conversion/limit-json-in-texts.ts'
import { OPENAI } from '#relay/conversion/openai-chat/chat-extensions-of-provider.ts'
import {
  unwrapSignature,
  wrapSignature,
} from '#relay/conversion/wrap-signature-of-other-provider.ts'
import { relayErrorOf } from '#relay/pipeline/convert-request.ts'

const objectOf = (count: number, member: (index: number) => string): Buffer =>
  Buffer.from(`{${Array.from({ length: count }, (_none, index) => member(index)).join(',')}}`)

describe('the number of members of a request that is converted', () => {
  it.each([
    ['no spaces', (index: number) => `"k${index}":1`],
    ['a space before the colon', (index: number) => `"k${index}" :1`],
    ['a line break before the colon', (index: number) => `"k${index}"\n: {}`],
    ['keys that end with a backslash', (index: number) => `"k${index}\\\\":1`],
    ['keys that end with a quote', (index: number) => `"k${index}\\"":1`],
  ])('is limited with %s', (_case, member) => {
    expect(conversionLimitError(objectOf(40_000, member))).toBeNull()
    expect(conversionLimitError(objectOf(40_001, member))).toMatchObject({ code: 'json_too_wide' })
  })

  it.each(['{}', '[]'])('is limited also for empty values such as %s', (value) => {
    const listOf = (count: number) => Buffer.from(`{"a":[${Array(count).fill(value).join()}]}`)
    expect(conversionLimitError(listOf(79_998))).toBeNull()
    expect(conversionLimitError(listOf(80_000))).toMatchObject({ code: 'json_too_many_objects' })
  })

  it('does not count colons of texts', () => {
    const text = JSON.stringify({ content: [':', '":', ' "a" : 1 ', '\\":', 'é":'] })
    const body = Buffer.from(`{"messages":[${Array(20_000).fill(text).join()}]}`)
    expect(conversionLimitError(body)).toBeNull()
    // The bytes of a request may begin anywhere in a larger buffer.
    for (const offset of [1, 2, 3]) {
      const larger = Buffer.concat([Buffer.alloc(offset), body])
      expect(conversionLimitError(larger.subarray(offset))).toBeNull()
    }
  })
})

describe('the JSON in texts of a request that is converted', () => {
  const convert = (from: 'chat' | 'responses', body: object, format: 'messages' | 'gemini') => {
    const target = { format, model: 'm', outputTokensMax: 100, vendor: OPENAI } as const
    const bytes = Buffer.from(JSON.stringify(body))
    return JSON.parse(
      convertCall(from, bytes, { model: 'm', isStream: false }, target).body.toString(),
    )
  }
  const chatOf = (args: readonly string[], result = 'ok') => ({
    model: 'm',
    messages: [
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        tool_calls: args.map((each, index) => ({
          id: `c${index}`,
          type: 'function',
          function: { name: 'f', arguments: each },
        })),
      },
      ...args.map((_each, index) => ({ role: 'tool', tool_call_id: `c${index}`, content: result })),
    ],
  })
  const keys = (count: number) => objectOf(count, (index) => `"k${index}":1`).toString()
  const objects = (count: number) => `{"a":[${Array(count).fill('{}').join()}]}`

  it.each(['messages', 'gemini'] as const)('is limited in arguments for %s', (format) => {
    for (const args of [
      [keys(40_001)],
      [objects(40_001)],
      [`[${objects(40_001)}]`],
      Array(7).fill(keys(6_000)),
    ]) {
      expect(() => convert('chat', chatOf(args), format)).toThrow(ArgumentsSizeError)
      const input = args.map((each) => ({
        ...{ type: 'function_call', call_id: 'c', name: 'f' },
        arguments: ` ${each}`,
      }))
      expect(() => convert('responses', { model: 'm', input }, format)).toThrow(ArgumentsSizeError)
    }
  })

  it('is converted in a long history of an agent', () => {
    const args = JSON.stringify({ path: 'a', content: '{"a":[{}]}'.repeat(3_000) })
    const { messages } = convert('chat', chatOf(Array(100).fill(args)), 'messages')
    expect(messages[1].content).toHaveLength(100)
  })

  it('stays a text in results that are too large', () => {
    const resultOf = (text: string) =>
      convert('chat', chatOf(['{}'], text), 'gemini').contents[2].parts[0].functionResponse.response
    expect(resultOf(keys(1_000))).toEqual(JSON.parse(keys(1_000)))
    for (const text of [keys(40_001), objects(40_001)]) {
      expect(resultOf(text)).toEqual({ output: text })
    }
  })

  it('is not parsed in signatures that the gateway did not write', () => {
    expect(unwrapSignature(wrapSignature({ callId: 'c' }))).toEqual({ callId: 'c' })
    expect(unwrapSignature(wrapSignature(JSON.parse(keys(1_000))))).toBeNull()
  })

  it('gives the error of the limit', () => {
    const error = relayErrorOf(new ArgumentsSizeError('arguments', ''))
    expect(error).toMatchObject({ code: 'arguments_too_large', params: { subject: '40000' } })
  })
})
