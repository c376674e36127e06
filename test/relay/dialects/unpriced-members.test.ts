import { describe, expect, it } from 'vitest'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { ANTHROPIC_MESSAGES } from '#relay/dialects/anthropic-messages/messages-format.ts'
import { GEMINI } from '#relay/dialects/gemini/generate-content-format.ts'
import { OPENAI_CHAT } from '#relay/dialects/openai-chat/chat-format.ts'
import { OPENAI_RESPONSES } from '#relay/dialects/openai-responses/responses-format.ts'
import type { WireFormat } from '#relay/dialects/wire-format.ts'

const MODEL = 'm'
const HI = [{ role: 'user', content: 'Hi' }]
const FORMATS = {
  chat: { format: OPENAI_CHAT, base: { model: MODEL, messages: HI } },
  responses: { format: OPENAI_RESPONSES, base: { model: MODEL, input: 'Hi' } },
  messages: { format: ANTHROPIC_MESSAGES, base: { model: MODEL, max_tokens: 9, messages: HI } },
  gemini: { format: GEMINI, base: { contents: [{ parts: [{ text: 'Hi' }] }] } },
} satisfies Record<string, { readonly format: WireFormat; readonly base: object }>
type Name = keyof typeof FORMATS

const LIMITS = { inputCeiling: 10_000, outputCeiling: 10_000, isOutputTotalLessPrompt: false }
const PATH = { model: MODEL, isStream: false }

function read(name: Name, members: object) {
  const { format, base } = FORMATS[name]
  return format.readRequest(Buffer.from(JSON.stringify({ ...base, ...members })), PATH)
}

function sent(name: Name, members: object, allowed: readonly string[] = []) {
  const request = read(name, members)
  if (isRelayError(request)) throw new Error(`${request.code} ${request.params.param}`)
  const change = {
    ...{ model: MODEL, forcesUsage: false, overrides: new Map(), allowed: new Set(allowed) },
  }
  const { body, dropped } = FORMATS[name].format.upstreamBody(request, change)
  return { body: JSON.parse(body.toString()) as object, dropped }
}

/** Members that choose another price, place, account or service than the one that is billed. */
const REMOVED: readonly (readonly [string, unknown, readonly Name[]])[] = [
  ['service_tier', 'priority', ['chat', 'responses', 'messages', 'gemini']],
  ['service_tier', 'flex', ['chat', 'responses', 'messages', 'gemini']],
  ['serviceTier', 'priority', ['chat', 'responses', 'messages', 'gemini']],
  ['speed', 'fast', ['chat', 'responses', 'messages', 'gemini']],
  ['inference_geo', 'us', ['chat', 'responses', 'messages', 'gemini']],
  ['background', true, ['chat', 'responses', 'messages', 'gemini']],
  ['container', { skills: [] }, ['chat', 'responses', 'messages', 'gemini']],
  ['mcp_servers', [{ url: 'https://a.example' }], ['chat', 'responses', 'messages', 'gemini']],
  ['web_search_options', {}, ['chat', 'responses', 'messages', 'gemini']],
  ['labels', { team: 'a' }, ['gemini']],
  ['store', true, ['gemini']],
]

describe.each(REMOVED)('the member %s with the value %j', (member, value, names) => {
  it.each(names)('is removed from %s and named', (name) => {
    const { body, dropped } = sent(name, { [member]: value })
    expect(body).toEqual(FORMATS[name].base)
    expect(dropped).toEqual([member])
  })
})

/** Tools that the provider runs, each without the tools that a price covers. */
const TOOLS: readonly (readonly [Name, object])[] = [
  ['responses', { type: 'mcp', server_label: 's', server_url: 'https://a.example' }],
  ['responses', { type: 'shell', environment: { type: 'container_auto' } }],
  ['responses', { type: 'code_interpreter', container: 'cntr_1' }],
  ['responses', { type: 'code_interpreter', container: { type: 'auto', memory_limit: '64g' } }],
  ['responses', { type: 'code_interpreter', container: { type: 'auto', file_ids: ['f'] } }],
  ['responses', { type: 'image_generation', model: 'gpt-image-9' }],
  ['responses', { type: 'x_search' }],
  ['responses', { type: 'a_new_tool' }],
  ['responses', { Type: 'web_search' }],
  ['messages', { type: 'code_execution_20260120', name: 'code_execution' }],
  ['messages', { type: 'a_new_tool_20270101', name: 'a' }],
  ['gemini', { enterpriseWebSearch: {} }],
  ['gemini', { fileSearch: { fileSearchStoreNames: ['s'] } }],
  ['gemini', { mcp_servers: [] }],
]

it.each(TOOLS)('in %s, the tool %j is removed even if the channel allows tools', (name, tool) => {
  for (const allowed of [[], ['tools']]) {
    const { body, dropped } = sent(name, { tools: [tool] }, allowed)
    expect(body).toEqual(FORMATS[name].base)
    expect(dropped).toEqual(['tools'])
  }
})

const REFUSED: readonly (readonly [Name, object, string])[] = [
  ['responses', { reasoning: { mode: 'pro' } }, 'reasoning.mode'],
  ['responses', { reasoning: { effort: 'low', mode: 7 } }, 'reasoning.mode'],
  ['chat', { reasoning: { mode: 'pro' } }, 'reasoning.mode'],
  ['responses', { reasoning: { Mode: 'pro' } }, 'reasoning.Mode'],
  ['chat', { reasoning: { Mode: 'pro' } }, 'reasoning.Mode'],
  ['responses', { conversation: 'c' }, 'conversation'],
  ['responses', { prompt: { id: 'p' } }, 'prompt'],
  ['gemini', { cachedContent: 'cachedContents/a' }, 'cachedContent'],
]

it.each(REFUSED)('%s refuses %j and names %s', (name, members, param) => {
  expect(read(name, members)).toMatchObject({ params: { param } })
})

it.each(['standard', null])('the reasoning mode %s passes', (mode) => {
  for (const name of ['chat', 'responses'] as const) {
    const members = { reasoning: { effort: 'low', mode } }
    expect(sent(name, members)).toEqual({
      body: { ...FORMATS[name].base, ...members },
      dropped: [],
    })
  }
})

/** Members that change only the number of tokens, which the usage reports. */
const PASSED: readonly (readonly [Name, object])[] = [
  ['chat', { prompt_cache_retention: '24h' }],
  ['responses', { prompt_cache_retention: '24h' }],
  ['responses', { truncation: 'auto' }],
  ['responses', { context_management: [{ type: 'compaction', compact_threshold: 9_000 }] }],
  ['responses', { include: ['reasoning.encrypted_content'] }],
  ['responses', { service_tier: 'auto' }],
  ['messages', { context_management: { edits: [] } }],
  ['messages', { context_management: { edits: [{ type: { toString: 1 } }] } }],
  ['messages', { service_tier: 'standard_only' }],
  ['gemini', { serviceTier: 'standard' }],
]

it.each(PASSED)('%s sends %j, which costs nothing but tokens', (name, members) => {
  const { base } = FORMATS[name]
  expect(sent(name, members)).toEqual({ body: { ...base, ...members }, dropped: [] })
})

describe('writes to a cache that lasts for longer', () => {
  const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } }
  const content = [{ type: 'text', text: 'Hi', ...hour }]
  const body = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content }] }))

  it.each([
    [
      'chat',
      {
        ...{ prompt_tokens: 100, completion_tokens: 1 },
        prompt_tokens_details: { cache_write_tokens: 40 },
      },
    ],
    [
      'chat',
      {
        ...{ prompt_tokens: 100, completion_tokens: 1 },
        prompt_tokens_details: {
          cache_write_tokens: 40,
          cache_write_tokens_details: { ttl_12h_tokens: 40 },
        },
      },
    ],
    ['messages', { input_tokens: 60, output_tokens: 1, cache_creation_input_tokens: 40 }],
    [
      'responses',
      {
        ...{ input_tokens: 100, output_tokens: 1 },
        input_tokens_details: {
          cache_write_tokens: 40,
          cache_write_tokens_details: { ttl_12h_tokens: 40 },
        },
      },
    ],
  ] as const)('have the price of the one-hour cache in %s', (name, raw) => {
    const isReported = JSON.stringify(raw).includes('ttl_12h_tokens')
    const request = isReported ? Buffer.from('{}') : body
    const { usage } = FORMATS[name].format.readUsage(raw, { ...LIMITS, body: request })
    expect(usage).toMatchObject({ inputUncached: 60, cacheWrite5m: 0, cacheWrite1h: 40 })
  })
})
