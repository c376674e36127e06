import { expect, it } from 'vitest'
import { readAdapterOptions } from '#relay/adapters/adapter-options.ts'
import { headersForModel, withHeaders } from '#relay/adapters/provider-headers.ts'

const read = (options: Readonly<Record<string, unknown>>) =>
  readAdapterOptions(
    new Map(
      Object.entries(options).map(([key, value]) => [
        key,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    ),
  )

it('the options have the defaults of the specification', () => {
  expect(read({})).toMatchObject({
    claude: { isThinkingEnabled: true, thinkingShare: 0.8 },
    gemini: { isThinkingEnabled: false, thinkingShare: 0.6, safetySettings: null },
  })
})

it('safety thresholds are listed by category, and `default` fills the usual categories', () => {
  const HARM = 'HARM_CATEGORY_'
  const settings = { [`${HARM}HATE_SPEECH`]: 'BLOCK_NONE', default: 'OFF', old: 'whatever' }
  const { safetySettings } = read({ 'gemini.safety_settings': settings }).gemini
  expect(JSON.parse(safetySettings ?? '')).toEqual([
    { category: `${HARM}HATE_SPEECH`, threshold: 'BLOCK_NONE' },
    { category: `${HARM}HARASSMENT`, threshold: 'OFF' },
    { category: `${HARM}SEXUALLY_EXPLICIT`, threshold: 'OFF' },
    { category: `${HARM}DANGEROUS_CONTENT`, threshold: 'OFF' },
  ])
})

it('entries that were stored before they were validated are ignored', () => {
  const options = read({
    'gemini.version_settings': { a: 'v1', b: '../v2', c: 'v1beta' },
    'claude.model_headers_settings': {
      m: { Authorization: 'Bearer x', 'anthropic-beta': ['a', 'b\r\nx: y', 7], 'X-Own': 'yes' },
      n: null,
    },
  })
  expect([...options.gemini.versions]).toEqual([
    ['a', 'v1'],
    ['c', 'v1beta'],
  ])
  expect(options.claude.headers.get('m')).toEqual(
    new Map([
      ['anthropic-beta', ['a']],
      ['x-own', ['yes']],
    ]),
  )
})

it('betas are added to those of the caller, and other headers replace the caller’s', () => {
  const headers = { m: { 'anthropic-beta': ['b', 'context-1m-2025-08-07'], 'anthropic-x': 'own' } }
  const { claude } = read({ 'claude.model_headers_settings': headers })
  const passed = ['anthropic-version', '2023-06-01', 'anthropic-beta', 'a, b', 'anthropic-x', 'y']
  expect(withHeaders(passed, headersForModel(claude, 'alias', 'm'))).toEqual([
    ...['anthropic-version', '2023-06-01', 'anthropic-beta', 'a,b,context-1m-2025-08-07'],
    ...['anthropic-x', 'own'],
  ])
  expect(withHeaders(passed, headersForModel(claude, 'other', 'n'))).toBe(passed)
})
