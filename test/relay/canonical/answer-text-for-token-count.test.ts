import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  DeliveredText,
  estimateTokens,
  textOfAnswer,
} from '#relay/canonical/answer-text-for-token-count.ts'
import { readCandidateTexts } from '#relay/dialects/gemini/read-candidate-texts.ts'
import { readChatTexts } from '#relay/dialects/openai-chat/read-chat-texts.ts'

const answer = (...messages: object[]) =>
  Buffer.from(JSON.stringify({ choices: messages.map((message, index) => ({ index, message })) }))
const event = (...choices: object[]) => Buffer.from(`data: ${JSON.stringify({ choices })}\n\n`)
const delta = (index: number, words: object) => event({ index, delta: words })

const textOf = (body: Buffer) => textOfAnswer(body, readChatTexts)

function streamed(...events: Buffer[]) {
  const delivered = new DeliveredText(readChatTexts)
  for (const one of events) delivered.add(one)
  return delivered.read()
}

/** Its texts without names and data, in the order in which they stand. */
const wordsIn = (value: unknown, key = ''): string => {
  if (typeof value === 'string') return ['type', 'id', 'format', 'data'].includes(key) ? '' : value
  if (typeof value !== 'object' || value === null) return ''
  return Object.entries(value).reduce((text, [name, inner]) => text + wordsIn(inner, name), '')
}

describe('counted text of an answer, plain and streamed', () => {
  it('is the same for several choices in any order', () => {
    const plain = textOf(answer({ content: 'one two' }, { content: 'three four' }))
    const stream = streamed(
      delta(1, { content: 'three' }),
      delta(0, { content: 'one ' }),
      event({ index: 1, delta: { content: ' four' } }, { index: 0, delta: { content: 'two' } }),
    )
    expect(plain.text).toBe('one twothree four')
    expect(stream).toEqual(plain)
  })

  it('is the same for reasoning, content and tool calls that arrive in pieces', () => {
    const call = (name: string, text: string) => ({ function: { name, arguments: text } })
    const plain = textOf(
      answer({
        reasoning_content: 'so it is',
        content: 'yes',
        tool_calls: [call('find', '{"a":1}'), call('put', '{"b":2}')],
      }),
    )
    const piece = (index: number, part: object) => ({ tool_calls: [{ index, function: part }] })
    const stream = streamed(
      delta(0, { content: 'y', reasoning_content: 'so ' }),
      delta(0, piece(1, { name: 'put', arguments: '{"b"' })),
      delta(0, piece(0, { name: 'find', arguments: '{"a"' })),
      delta(0, { content: 'es' }),
      delta(0, piece(1, { arguments: ':2}' })),
      delta(0, piece(0, { arguments: ':1}' })),
      delta(0, { reasoning_content: 'it is' }),
    )
    expect(plain.text).toBe('so it isyesfind{"a":1}put{"b":2}')
    expect(stream).toEqual(plain)
  })

  it.each([
    ['an older function call', { function_call: { name: 'find', arguments: '{"a":1}' } }],
    [
      'parts',
      {
        content: [
          { type: 'text', text: 'one ' },
          { type: 'text', text: 'two' },
        ],
      },
    ],
    ['details', { reasoning_details: [{ type: 'reasoning.text', text: 'so', format: 'v1' }] }],
    ['a transcript', { audio: { id: 'audio_1', data: 'UklGRg==', transcript: 'spoken' } }],
    ['a custom tool', { tool_calls: [{ id: 'c', custom: { name: 'run', input: 'ls' } }] }],
    ['any other member', { extra: { deep: [[{ text: 'deep' }]], note: 'note' } }],
  ])('is the same for %s', (_name, message) => {
    const plain = textOf(answer({ role: 'assistant', ...message }))
    expect(plain.text).toBe(wordsIn(message))
    expect(streamed(delta(0, { role: 'assistant' }), delta(0, message))).toEqual({
      text: plain.text,
      tokens: 'audio' in message ? 1 : 0,
    })
  })

  it('is the same for a text that is longer than the stored part', () => {
    const text = 'héllo 你好 🎉 '.repeat(40_000)
    const pieces = text.match(/.{1,977}/gs) ?? []
    const plain = textOf(answer({ content: text }))
    expect(plain.text.length).toBe(256 * 1024)
    expect(plain.tokens).toBeGreaterThan(10_000)
    expect(streamed(...pieces.map((content) => delta(0, { content })))).toEqual(plain)
  })
})

describe('counted text of a delivered stream', () => {
  it('is bounded, whatever choice indexes a provider sends', () => {
    const delivered = new DeliveredText(readChatTexts)
    for (let index = 0; index < 2_000; index += 1) delivered.add(delta(index * 7, { content: 'x' }))
    for (const index of [-1, 0.5, Number.MAX_VALUE]) delivered.add(delta(index, { content: 'x' }))
    expect(delivered.read()).toEqual({ text: 'x'.repeat(2_003), tokens: 0 })
  })

  it('contains a text once that a provider sends under two names', () => {
    const twice = { reasoning: 'so', reasoning_details: [{ type: 'reasoning.text', text: 'so' }] }
    expect(streamed(delta(0, twice), delta(0, twice)).text).toBe('soso')
  })

  it('counts base64 data by its length, and a long text as words under any member name', () => {
    const data = 'QUJD'.repeat(1_000)
    const url = `data:image/png;base64,${data}`
    const sound = streamed(delta(0, { audio: { data } }), delta(0, { audio: { data } }))
    expect(sound).toEqual({ text: '', tokens: 8 })
    const picture = streamed(delta(0, { images: [{ image_url: { url } }] }))
    expect(picture).toEqual({ text: '', tokens: 5, imageTokens: 5 })
    const words = 'word '.repeat(100)
    for (const name of ['data', 'id', 'type', 'role', 'format', 'signature']) {
      expect(streamed(delta(0, { [name]: words, inner: [{ [name]: words }] })).text).toBe(
        words.repeat(2),
      )
    }
  })

  it('never has more estimated tokens than the bound that is computed from its bytes', () => {
    const piece = fc.string({ unit: 'grapheme', maxLength: 40 })
    const ofPiece = fc.record({ content: piece, isEscaped: fc.boolean(), isParsed: fc.boolean() })
    fc.assert(
      fc.property(fc.array(ofPiece, { maxLength: 30 }), (pieces) => {
        const delivered = new DeliveredText(readChatTexts)
        for (const { content, isEscaped, isParsed } of pieces) {
          const bytes = delta(0, { content }).toString()
          delivered.add(Buffer.from(isEscaped ? withEscapes(bytes) : bytes))
          if (isParsed) delivered.estimateTokens()
        }
        const most = delivered.tokensUpperBound()
        const estimated = delivered.estimateTokens()
        expect(most).toBeGreaterThanOrEqual(estimated)
        expect(delivered.tokensUpperBound()).toBe(estimated)
        expect(estimated).toBe(estimateTokens(pieces.map(({ content }) => content).join('')))
      }),
      { numRuns: 300 },
    )
  })

  it('contains a text at any depth of nesting', () => {
    const nested = `${'['.repeat(100_000)}"deep"${']'.repeat(100_000)}`
    const body = Buffer.from(`data: {"choices":[{"delta":{"content":${nested}}}]}\n\n`)
    expect(streamed(body).text).toBe('deep')
  })

  it('is the whole answer, or the whole event, if it can not be read', () => {
    const fails = () => {
      throw new TypeError('a bug')
    }
    expect(textOfAnswer(Buffer.from('{"a":"b"}'), fails).text).toBe('{"a":"b"}')
    const delivered = new DeliveredText(fails)
    delivered.add(Buffer.from('data: {"a":"b"}\n\n'))
    expect(delivered.read().text).toBe('{"a":"b"}')
  })

  it('counts inline data whose media type is no text', () => {
    const inlineData = { mimeType: { toString: 1 }, data: 'A'.repeat(64) }
    const body = { candidates: [{ content: { parts: [{ inlineData }, { text: 'Hi' }] } }] }
    const { text, tokens } = textOfAnswer(Buffer.from(JSON.stringify(body)), readCandidateTexts)
    expect([text, tokens > 0]).toEqual(['Hi', true])
  })

  it('is empty for invalid JSON and for events without content', () => {
    const nothing = [Buffer.from('data: {broken\n\n: ping\n\n'), event({ index: 0 })]
    expect(streamed(...nothing)).toEqual({ text: '', tokens: 0 })
  })
})

/** Escapes each UTF-16 code unit outside ASCII, as many JSON libraries do. */
const withEscapes = (json: string): string =>
  json.replace(/[\u0080-\uffff]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
