import { describe, expect, it } from 'vitest'
import { convertCall } from '#relay/conversion/convert-call.ts'
import type { ProviderFormatName } from '#relay/conversion/format-conversion.ts'
import { chatExtensionsOf } from '#relay/conversion/openai-chat/chat-extensions-of-provider.ts'

const OPENAI_TYPE = 1
const AZURE_TYPE = 3
const OPEN_ROUTER_TYPE = 20
const DEEPSEEK_TYPE = 43
const XAI_TYPE = 48
const PATH = { model: 'm', isStream: false }
const CHAT = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
const RESPONSES = { model: 'm', input: 'Hi' }

type Options = { readonly model?: string; readonly channelType?: number }

/** The converted request, and the losses. */
function converted(
  from: 'chat' | 'responses',
  format: ProviderFormatName,
  members: object,
  { model = 'gpt-5.1', channelType = OPENAI_TYPE }: Options = {},
) {
  const body = Buffer.from(JSON.stringify({ ...(from === 'chat' ? CHAT : RESPONSES), ...members }))
  const vendor = chatExtensionsOf(channelType)
  const target = { format, model, outputTokensMax: 4_096, vendor }
  const { body: sent, losses } = convertCall(from, body, PATH, target)
  return { sent: JSON.parse(sent.toString('utf8')), losses }
}

const IDENTIFIERS = { user: 'u', safety_identifier: 's' }
const RETENTION = { prompt_cache_key: 'k', prompt_cache_retention: '24h' }
const METADATA = { metadata: { a: 'b' } }

describe('members that only OpenAI’s two formats have', () => {
  it('are converted from chats to the Responses API', () => {
    const members = { ...IDENTIFIERS, ...RETENTION, ...METADATA }
    const { sent, losses } = converted('chat', 'responses', { ...members, verbosity: 'low' })
    expect(losses).toEqual([])
    expect(sent).toMatchObject({ ...members, text: { verbosity: 'low' } })
  })

  it('are converted from the Responses API to chats, except the metadata', () => {
    const members = { ...IDENTIFIERS, ...RETENTION }
    const text = { verbosity: 'high', format: { type: 'json_object' } }
    const { sent, losses } = converted('responses', 'chat', { ...members, ...METADATA, text })
    expect(losses).toEqual(['metadata'])
    expect(sent).toMatchObject({ ...members, verbosity: 'high' })
    expect(sent).not.toHaveProperty('metadata')
  })

  it('leave out the default verbosity, and an identifier that is the end user’s', () => {
    const members = { verbosity: 'medium', user: 'u', safety_identifier: 'u' }
    const { sent, losses } = converted('chat', 'responses', members)
    expect(losses).toEqual([])
    expect(sent).toMatchObject({ safety_identifier: 'u' })
    expect(sent).not.toHaveProperty('user')
    expect(sent).not.toHaveProperty('text')
  })

  it.each([
    ['chat', 'messages', {}],
    ['chat', 'gemini', {}],
    ['responses', 'messages', {}],
    ['responses', 'chat', { channelType: DEEPSEEK_TYPE, model: 'deepseek-chat' }],
  ] as const)('are named as lost on the way from %s to %s if it has none', (from, to, options) => {
    const verbosity = from === 'chat' ? { verbosity: 'low' } : { text: { verbosity: 'low' } }
    const { prompt_cache_retention } = RETENTION
    const members = { ...IDENTIFIERS, prompt_cache_retention, ...METADATA, ...verbosity }
    const { sent, losses } = converted(from, to, members, options)
    const name = from === 'chat' ? 'verbosity' : 'text.verbosity'
    const expected = [name, 'metadata', 'prompt_cache_retention', 'safety_identifier']
    expect(losses).toEqual(expect.arrayContaining(expected))
    const text = JSON.stringify(sent)
    expect(text).not.toMatch(/verbosity|retention|safety_identifier|"a":"b"/)
  })

  const OTHERS = ['gpt-5-codex', 'openai/gpt-4.1', 'qwen3', 'gpt-35-turbo', 'gpt-41']

  it.each(['gpt-4o', 'o3', 'gpt-5-chat-latest', ...OTHERS])(
    'have no verbosity for the model %s, which refuses it',
    (model) => {
      for (const format of ['chat', 'responses'] as const) {
        const from = format === 'chat' ? 'responses' : 'chat'
        const members = { verbosity: 'low', text: { verbosity: 'low' } }
        const { sent, losses } = converted(from, format, members, { model })
        expect(JSON.stringify(sent)).not.toContain('verbosity')
        expect(losses).toContain(from === 'chat' ? 'verbosity' : 'text.verbosity')
      }
    },
  )

  it.each([
    ['a value that is no text', { a: { b: 1 } }],
    ['a value that is too long', { a: 'x'.repeat(513) }],
    ['a key that is too long', { ['x'.repeat(65)]: 'a' }],
    ['too many pairs', Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, 'a']))],
  ])('have no metadata with %s, which OpenAI refuses', (_name, metadata) => {
    const { sent, losses } = converted('chat', 'responses', { metadata })
    expect(sent).not.toHaveProperty('metadata')
    expect(losses).toEqual(['metadata'])
  })

  it.each(['gpt-4o', 'o3', 'gpt-35-turbo', 'qwen3'])(
    'have no retention of the cache for the model %s, which refuses it',
    (model) => {
      for (const format of ['chat', 'responses'] as const) {
        const from = format === 'chat' ? 'responses' : 'chat'
        const { sent, losses } = converted(from, format, RETENTION, { model })
        expect(sent).not.toHaveProperty('prompt_cache_retention')
        expect(losses).toEqual(['prompt_cache_retention'])
      }
    },
  )

  it.each([
    ['Azure', AZURE_TYPE, []],
    ['OpenRouter', OPEN_ROUTER_TYPE, []],
    ['xAI', XAI_TYPE, ['metadata', 'prompt_cache_retention']],
  ])('are written for the Responses API of %s if it knows them', (_name, channelType, expected) => {
    const members = { ...METADATA, ...RETENTION }
    const { sent, losses } = converted('chat', 'responses', members, { channelType })
    expect(losses.toSorted()).toEqual(expected)
    expect('metadata' in sent).toBe(expected.length === 0)
    expect('prompt_cache_retention' in sent).toBe(expected.length === 0)
  })
})
