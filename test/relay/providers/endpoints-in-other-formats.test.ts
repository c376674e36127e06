import { describe, expect, it } from 'vitest'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import type { FormatName } from '#relay/dialects/wire-format.ts'
import {
  callPathOf,
  endpointOf,
  providerTarget,
} from '#relay/providers/profiles/provider-target.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'

const policy = operatorPolicy({ port: 3000, isLoopback: true, privateUpstreams: [] })

/** Where a call in a format goes, or how it is converted. */
function addressOf(
  type: number,
  baseUrl: string,
  format: FormatName,
  model = 'some/model',
  terms: { readonly setting?: string; readonly modelMapping?: string } = {},
): string {
  const all = { ...PLAIN_CHANNEL_TERMS, type, baseUrl, ...terms }
  const target = providerTarget(all, 'sk-1', policy)
  if (target === null) return 'none'
  const endpoint = endpointOf(target, format, model)
  if (endpoint?.format !== format) return `converted to ${endpoint?.format}`
  const path = callPathOf(target, format, { model, isStream: false })
  return `${target.origin}${path}`
}

describe('a provider’s own endpoint for Anthropic’s format', () => {
  it.each([
    [17, '', 'https://dashscope.aliyuncs.com/apps/anthropic/v1/messages'],
    [
      17,
      'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
      'https://dashscope-intl.aliyuncs.com/apps/anthropic/v1/messages',
    ],
    [20, '', 'https://openrouter.ai/api/v1/messages'],
    [25, '', 'https://api.moonshot.cn/anthropic/v1/messages'],
    [25, 'https://api.moonshot.ai/v1', 'https://api.moonshot.ai/anthropic/v1/messages'],
    [25, 'kimi-coding-plan', 'https://api.kimi.com/coding/v1/messages'],
    [26, '', 'https://open.bigmodel.cn/api/anthropic/v1/messages'],
    [26, 'glm-coding-plan-international', 'https://api.z.ai/api/anthropic/v1/messages'],
    [35, 'https://api.minimax.io', 'https://api.minimax.io/anthropic/v1/messages'],
    [40, '', 'https://api.siliconflow.cn/v1/messages'],
    [43, 'https://api.deepseek.com/v1', 'https://api.deepseek.com/anthropic/v1/messages'],
    [45, 'doubao-coding-plan', 'https://ark.cn-beijing.volces.com/api/coding/v1/messages'],
  ])('of type %i at %s is called directly', (type, baseUrl, address) => {
    expect(addressOf(type, baseUrl, 'messages')).toBe(address)
  })

  it.each([
    [1, ''],
    [35, ''],
    [43, 'https://gateway.example'],
    [43, 'https://gateway.example/api.deepseek.com/'],
    [43, 'https://api.deepseek.com.example/'],
    [45, ''],
  ])('of type %i is not expected at %s', (type, baseUrl) => {
    expect(addressOf(type, baseUrl, 'messages')).toBe('converted to chat')
  })
})

describe('a provider’s own endpoint for OpenAI’s Responses', () => {
  it.each([
    [3, 'https://it.openai.azure.com', 'https://it.openai.azure.com/openai/v1/responses'],
    [3, 'https://it.openai.azure.com/openai/v1', 'https://it.openai.azure.com/openai/v1/responses'],
    [20, '', 'https://openrouter.ai/api/v1/responses'],
    [25, 'https://api.moonshot.ai', 'https://api.moonshot.ai/v1/responses'],
    [35, 'https://api.minimax.io/v1', 'https://api.minimax.io/v1/responses'],
    [45, '', 'https://ark.cn-beijing.volces.com/api/v3/responses'],
    [48, '', 'https://api.x.ai/v1/responses'],
  ])('of type %i at %s is called directly', (type, baseUrl, address) => {
    expect(addressOf(type, baseUrl, 'responses')).toBe(address)
  })

  it('is not expected at other addresses', () => {
    expect(addressOf(45, 'doubao-coding-plan', 'responses')).toBe('converted to chat')
    expect(addressOf(48, 'https://gateway.example', 'responses')).toBe('converted to chat')
  })
})

it('the query of a base URL is kept at a second endpoint', () => {
  expect(addressOf(43, 'https://api.deepseek.com?team=3', 'messages')).toBe(
    'https://api.deepseek.com/anthropic/v1/messages?team=3',
  )
})

describe('DashScope’s endpoint for images', () => {
  it.each([
    ['', 'https://dashscope.aliyuncs.com'],
    ['https://dashscope-us.aliyuncs.com/compatible-mode/v1', 'https://dashscope-us.aliyuncs.com'],
    [
      'https://ws1.cn-beijing.maas.aliyuncs.com/compatible-mode/v1',
      'https://ws1.cn-beijing.maas.aliyuncs.com',
    ],
    ['https://proxy.example/ali', 'https://proxy.example/ali'],
  ])('at %s begins after the host, and at a proxy below its address', (baseUrl, root) => {
    for (const [model, path] of [
      ['wan2.6-t2i', 'multimodal-generation/generation'],
      ['wan2.5-t2i-preview', 'text2image/image-synthesis'],
      ['wan2.5-i2i-preview', 'image2image/image-synthesis'],
    ] as const) {
      const address = `${root}/api/v1/services/aigc/${path}`
      expect(addressOf(17, baseUrl, 'images', model)).toBe(address)
    }
  })
})

describe('a provider’s endpoints for audio', () => {
  it.each([
    [1, '', 'speech', 'https://api.openai.com/v1/audio/speech'],
    [1, '', 'transcriptions', 'https://api.openai.com/v1/audio/transcriptions'],
    [1, '', 'translations', 'https://api.openai.com/v1/audio/translations'],
    [8, 'https://a.example/api/v1', 'speech', 'https://a.example/api/v1/audio/speech'],
    [26, '', 'speech', 'https://open.bigmodel.cn/api/paas/v4/audio/speech'],
    [26, '', 'transcriptions', 'https://open.bigmodel.cn/api/paas/v4/audio/transcriptions'],
    [40, '', 'transcriptions', 'https://api.siliconflow.cn/v1/audio/transcriptions'],
    [42, '', 'transcriptions', 'https://api.mistral.ai/v1/audio/transcriptions'],
    [47, 'https://x.example', 'translations', 'https://x.example/v1/audio/translations'],
    [
      ...[3, 'https://r.openai.azure.com', 'speech'],
      'https://r.openai.azure.com/openai/deployments/some%2Fmodel/audio/speech?api-version=2024-10-21',
    ],
    [
      ...[3, 'https://r.openai.azure.com/openai/v1', 'transcriptions'],
      'https://r.openai.azure.com/openai/v1/audio/transcriptions',
    ],
  ] as [number, string, FormatName, string][])(
    'type %i at %s: %s',
    (type, baseUrl, format, address) => {
      expect(addressOf(type, baseUrl, format)).toBe(address)
    },
  )

  it('are those that it documents, and no others', () => {
    for (const [type, format] of [
      [26, 'translations'],
      [42, 'speech'],
      [14, 'speech'],
    ] as const) {
      expect(addressOf(type, '', format)).toBe('converted to undefined')
    }
  })
})

describe('a model that OpenAI serves only by responses', () => {
  it.each([
    ...['gpt-5-codex', 'gpt-5.1-codex-max', 'gpt-5.3-codex', 'codex-mini-latest'],
    ...['o1-pro', 'o3-pro', 'gpt-5-pro-2025-10-06', 'gpt-5.2-pro'],
    ...['o3-deep-research', 'o4-mini-deep-research', 'computer-use-preview'],
  ])('gets chats and completions as responses: %s', (model) => {
    const azure = 'https://resource.openai.azure.com'
    for (const format of ['chat', 'completions', 'messages'] as const) {
      expect(addressOf(1, '', format, model)).toBe('converted to responses')
      expect(addressOf(3, azure, format, model)).toBe('converted to responses')
    }
    // A compatible gateway may serve such a model in its own way.
    expect(addressOf(8, 'https://gateway.example', 'chat', model)).toContain('/chat/completions')
  })

  it('is sent as a chat to a server that is not known to have responses', () => {
    expect(addressOf(1, 'https://gateway.example', 'chat', 'o3-pro')).toBe(
      'https://gateway.example/v1/chat/completions',
    )
    expect(addressOf(3, 'https://gateway.example', 'chat', 'o3-pro')).toContain('/deployments/')
    for (const host of ['eu.api.openai.com', 'api.openai.com']) {
      expect(addressOf(1, `https://${host}/v1`, 'chat', 'o3-pro')).toBe('converted to responses')
    }
  })

  it('is recognized at Azure by the name that is mapped to its deployment', () => {
    const azure = 'https://resource.openai.azure.com'
    const at = (deployment: string, mapping: Record<string, string>) =>
      addressOf(3, azure, 'chat', deployment, { modelMapping: JSON.stringify(mapping) })
    expect(at('prod-1', { 'gpt-5-codex': 'prod-1' })).toBe('converted to responses')
    expect(at('prod-1', { fast: 'gpt-5-codex', 'gpt-5-codex': 'prod-1' })).toBe(
      'converted to responses',
    )
    expect(at('gpt-5-pro-team', { 'gpt-4o': 'gpt-5-pro-team' })).toContain('/chat/completions')
    expect(at('gpt-5-pro', { 'my-model': 'gpt-5-pro' })).toBe('converted to responses')
  })

  it('is named by the setting of a channel, which replaces the list', () => {
    const setting = JSON.stringify({ responses_models: ['prod-1'] })
    for (const [type, base] of [
      [1, 'https://gateway.example'],
      [3, 'https://resource.openai.azure.com'],
    ] as const) {
      expect(addressOf(type, base, 'chat', 'prod-1', { setting })).toBe('converted to responses')
      expect(addressOf(type, base, 'chat', 'o3-pro', { setting })).toContain('/chat/completions')
    }
  })

  it.each(['gpt-5', 'gpt-5.1', 'gpt-5-mini', 'gpt-5-chat-latest', 'o3', 'o4-mini', 'my-pro'])(
    'is not %s, which serves chats',
    (model) => {
      expect(addressOf(1, '', 'chat', model)).toBe('https://api.openai.com/v1/chat/completions')
    },
  )
})
