import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HOUR_CACHE } from '#domain/channels/restricted-request-members.ts'
import {
  requestsHourCache,
  withAllowedCache,
} from '#relay/dialects/detect-and-shorten-one-hour-caching.ts'
import type { ChatRequest } from '#relay/dialects/wire-format.ts'
import { budget, threadCpuMs } from '#test/support/time-limit.ts'

const NOTHING: ReadonlySet<string> = new Set()
const HOUR = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const FIVE_MINUTES = { cache_control: { type: 'ephemeral', ttl: '5m' } }

const requestOf = (body: unknown): ChatRequest =>
  ({ body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) }) as ChatRequest

/** Returns the request that a channel without a permission gets. */
function sent(body: unknown): unknown {
  const request = requestOf(body)
  const before = request.body.toString()
  const { request: changed } = withAllowedCache(request, NOTHING)
  expect(changed.body).toHaveLength(request.body.length)
  expect(request.body.toString()).toBe(before)
  return JSON.parse(changed.body.toString())
}

const MARKED: readonly (readonly [string, unknown, unknown])[] = [
  ['the whole request', HOUR, FIVE_MINUTES],
  ['a part of a message', { messages: [{ content: [HOUR] }] }, undefined],
  ['a part of Responses’ input', { input: [{ content: [HOUR] }] }, undefined],
  ['a part of a tool’s result', { messages: [{ content: [{ content: [HOUR] }] }] }, undefined],
  ['a tool', { tools: [{ name: 'n', ...HOUR, input_schema: {} }] }, undefined],
  ['a part of a long path', { ['x'.repeat(300)]: [HOUR] }, undefined],
]

describe('a mark of the one-hour cache', () => {
  it.each(MARKED)('is found and shortened in %s', (_name, body) => {
    expect(requestsHourCache(requestOf(body).body)).toBe(true)
    expect(sent(body)).toEqual(JSON.parse(JSON.stringify(body).replaceAll('"1h"', '"5m"')))
    const { request, dropped } = withAllowedCache(requestOf(body), NOTHING)
    expect(dropped).toEqual([HOUR_CACHE])
    expect(requestsHourCache(request.body)).toBe(false)
  })

  it('stays if the channel allows it', () => {
    const request = requestOf(HOUR)
    expect(withAllowedCache(request, new Set([HOUR_CACHE]))).toEqual({ request, dropped: [] })
  })

  it.each([
    '{"cache_control":{"t\\u0074l":"\\u0031\\u0068"}}',
    '{"cache\\u005fcontrol" : {"ttl" :\n"1h"}}',
    '{"Cache_Control":{"TTL":"1H"}}',
    '{"cache_control":{"ttl":"5m","ttl":"1h"}}',
    '{"cache_control":{"ttl":"1h","ttl":"5m"}}',
    '{"cache_control":{"a":[{"b":1}],"ttl":"\\u0031\\u0048"}}',
  ])('is found in any spelling: %s', (body) => {
    expect(requestsHourCache(requestOf(body).body)).toBe(true)
    expect(JSON.stringify(sent(body))).toMatch(/"ttl":"5m"/i)
  })

  it.each([
    ['the input of a call of a tool', { messages: [{ content: [{ input: HOUR }] }] }],
    ['the schema of a tool', { tools: [{ input_schema: { default: HOUR } }] }],
    ['the parameters of a function', { tools: [{ function: { parameters: { a: [HOUR] } } }] }],
    ['an example of a tool', { tools: [{ input_examples: [HOUR] }] }],
    ['arguments in a string', { messages: [{ arguments: JSON.stringify(HOUR) }] }],
    ['another member', { messages: [{ content: [{ other: { ttl: '1h' } }] }] }],
    ['a list', { messages: [{ cache_control: [{ ttl: '1h' }, '1h'] }] }],
    ['another member of a mark', { cache_control: { type: '1h', ttl: '5m' } }],
    ['a longer text', { cache_control: { ttl: '"1h' } }],
    ['a name', { cache_control: { '1h': 'ttl' } }],
  ])('is not seen in %s', (_name, body) => {
    expect(requestsHourCache(requestOf(body).body)).toBe(false)
    const request = requestOf(body)
    expect(withAllowedCache(request, NOTHING).request).toBe(request)
  })

  it('is shortened among many, while texts in tools stay', () => {
    const call = { type: 'tool_use', input: HOUR }
    const content = Array.from({ length: 40 }, () => ({ type: 'text', text: 'a', ...HOUR }))
    const shortened = content.map((part) => ({ ...part, ...FIVE_MINUTES }))
    const body = { messages: [{ content: [...content, call] }] }
    expect(sent(body)).toEqual({ messages: [{ content: [...shortened, call] }] })
  })
})

describe('a mark of OpenAI’s longer caches', () => {
  it.each([
    ['prompt_cache_options', { prompt_cache_options: { ttl: '12h' } }, '30m'],
    ['prompt_cache_breakpoint', { input: [{ prompt_cache_breakpoint: { ttl: '12h' } }] }, '30m'],
    ['a short text', { prompt_cache_options: { ttl: '2h' } }, null],
  ])('is found and shortened in %s', (_name, body, ttl) => {
    expect(requestsHourCache(requestOf(body).body)).toBe(true)
    const shorter = JSON.stringify(body).replace(/"\d+h"/, JSON.stringify(ttl))
    expect(sent(body)).toEqual(JSON.parse(shorter))
  })

  it('is none where the lifetime is the shortest', () => {
    const body = { prompt_cache_options: { ttl: '30m' } }
    expect(requestsHourCache(requestOf(body).body)).toBe(false)
  })
})

describe('the search for marks', () => {
  const TOOL_TEXTS = new Set(['input', 'parameters'])
  /** The same rules, on objects. */
  const hasMark = (value: unknown, name = '', depth = 0): boolean => {
    if (typeof value !== 'object' || value === null) return false
    if (depth > 1 && TOOL_TEXTS.has(name)) return false
    const isList = Array.isArray(value)
    return Object.entries(value).some(([key, inner]) => {
      const isMark = !isList && name === 'cache_control' && key === 'ttl' && inner === '1h'
      return isMark || hasMark(inner, isList ? '' : key, depth + 1)
    })
  }
  const names = ['cache_control', 'ttl', 'input', 'parameters', 'a"b', 'messages']
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom('1h', '5m', '"ttl":"1h"', 1, null, ''),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom(...names), tie('tree'), { maxKeys: 4 }),
      fc.record({ cache_control: fc.record({ ttl: fc.constantFrom('1h', '5m') }) }),
    ),
  }))

  it('follows the same rules as a search in objects', () => {
    const found = { times: 0 }
    const property = fc.property(fc.dictionary(fc.constantFrom(...names), tree), (body) => {
      const expected = hasMark(body)
      if (expected) found.times += 1
      expect(requestsHourCache(requestOf(body).body)).toBe(expected)
      expect(hasMark(sent(body))).toBe(false)
    })
    fc.assert(property, { numRuns: 3_000 })
    expect(found.times).toBeGreaterThan(200)
  })

  it('takes little time for a body with very many members', () => {
    const members = Array.from({ length: 7_500 }, (_, at) =>
      Object.fromEntries(Array.from({ length: 20 }, (_, key) => [`key-${key}`, at])),
    )
    const { body } = requestOf({ messages: [{ content: [...members, HOUR] }] })
    const startedAt = threadCpuMs()
    expect(requestsHourCache(body)).toBe(true)
    expect(threadCpuMs() - startedAt).toBeLessThan(budget(200))
  })

  it('is not repeated for further channels', () => {
    const request = requestOf(HOUR)
    const first = withAllowedCache(request, NOTHING).request.body
    expect(withAllowedCache(request, NOTHING).request.body).toBe(first)
  })
})
