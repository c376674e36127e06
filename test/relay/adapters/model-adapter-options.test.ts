import { expect, it } from 'vitest'
import {
  providerSettings,
  withAdminHeaders,
  withApiVersion,
} from '#relay/adapters/model-headers-and-api-version.ts'
import { readAdapterOptions } from '#relay/adapters/read-claude-and-gemini-options.ts'
import type { FormatName } from '#relay/dialects/wire-format.ts'

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
  const options = read({ 'claude.model_headers_settings': headers })
  const passed = ['anthropic-version', '2023-06-01', 'anthropic-beta', 'a, b', 'anthropic-x', 'y']
  expect(withAdminHeaders(passed, providerSettings(options, 'messages', 'alias', 'm'))).toEqual([
    ...['anthropic-version', '2023-06-01', 'anthropic-beta', 'a,b,context-1m-2025-08-07'],
    ...['anthropic-x', 'own'],
  ])
  for (const [format, model] of [
    ['messages', 'other'],
    ['chat', 'm'],
  ] as const) {
    expect(withAdminHeaders(passed, providerSettings(options, format, model, model))).toBe(passed)
  }
})

it('the version of Gemini’s API is set by model, unless the address has its own', () => {
  const options = read({ 'gemini.version_settings': { m: 'v1', default: 'v1alpha' } })
  const path = (model: string, text = '/v1beta/models/m:generateContent', format = 'gemini') =>
    withApiVersion(text, providerSettings(options, format as FormatName, 'alias', model))
  expect(path('m')).toBe('/v1/models/m:generateContent')
  expect(path('n')).toBe('/v1alpha/models/m:generateContent')
  const others = ['/v1/projects/p/models/m:generateContent', '/own/v1/models/m:generateContent']
  for (const other of others) expect(path('m', other)).toBe(other)
  expect(path('m', '/v1beta/models/m', 'chat')).toBe('/v1beta/models/m')
})
