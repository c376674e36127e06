import { describe, expect, it } from 'vitest'
import type { ChannelTerms } from '#domain/channels/events.ts'
import { NAMED_BASES } from '#domain/channels/validate-channel-fields.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import { PROFILES, profileOf } from '#relay/providers/profiles/profiles-by-channel-type.ts'
import {
  callPathOf,
  hostOfChannel,
  providerTarget,
} from '#relay/providers/profiles/provider-target.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { PROVIDER_SCRIPTS } from '../support/translated-provider-scripts.ts'

const policy = operatorPolicy({ port: 3000, isLoopback: true, privateUpstreams: [] })
const KEY = 'sk-the-key-of-it'

function target(type: number, terms: Partial<ChannelTerms> = {}) {
  return providerTarget({ ...PLAIN_CHANNEL_TERMS, type, ...terms }, KEY, policy)
}

function address(type: number, terms: Partial<ChannelTerms> = {}): string {
  const found = target(type, terms)
  if (found === null) return 'none'
  const path = callPathOf(found, 'chat', { model: 'some/model 1', isStream: false })
  return `${found.origin}${path}`
}

/** Where a chat goes, by type; null: its channels must say. */
const ADDRESSES: Readonly<Record<number, string | null>> = {
  1: 'https://api.openai.com/v1/chat/completions',
  3: null,
  4: 'http://localhost:11434/v1/chat/completions',
  6: null,
  7: null,
  8: null,
  9: null,
  10: null,
  12: null,
  13: null,
  14: 'https://api.anthropic.com/v1/messages',
  // The key of these tests has not the form of these providers' keys.
  15: null,
  16: null,
  17: 'https://dashscope.aliyuncs.com/compatible-mode/v1/chat/completions',
  18: null,
  19: 'https://api.360.cn/v1/chat/completions',
  20: 'https://openrouter.ai/api/v1/chat/completions',
  22: 'https://fastgpt.run/api/openapi/v1/chat/completions',
  23: null,
  24: 'https://generativelanguage.googleapis.com/v1beta/models/some%2Fmodel%201:generateContent',
  25: 'https://api.moonshot.cn/v1/chat/completions',
  26: 'https://open.bigmodel.cn/api/paas/v4/chat/completions',
  27: 'https://api.perplexity.ai/chat/completions',
  31: 'https://api.lingyiwanwu.com/v1/chat/completions',
  // The key of these tests is none of Bedrock's. `clouds.test.ts` tests the clouds.
  33: null,
  34: 'https://api.cohere.ai/v2/chat',
  35: 'https://api.minimax.chat/v1/text/chatcompletion_v2',
  37: 'https://api.dify.ai/v1/chat-messages',
  // Jina has no chats, so the path is empty.
  38: 'https://api.jina.ai',
  39: 'https://api.cloudflare.com/client/v4/accounts/acc%2F1/ai/v1/chat/completions',
  40: 'https://api.siliconflow.cn/v1/chat/completions',
  41: 'https://aiplatform.googleapis.com/v1/publishers/google/models/some%2Fmodel%201:generateContent',
  42: 'https://api.mistral.ai/v1/chat/completions',
  43: 'https://api.deepseek.com/v1/chat/completions',
  44: 'https://api.moka.ai/v1/chat/completions',
  45: 'https://ark.cn-beijing.volces.com/api/v3/chat/completions',
  46: 'https://qianfan.baidubce.com/v2/chat/completions',
  47: null,
  48: 'https://api.x.ai/v1/chat/completions',
  49: 'https://api.coze.cn/v3/chat',
  53: 'https://llm.submodel.ai/v1/chat/completions',
  56: 'https://api.replicate.com/v1/models/some/model%201/predictions',
}

describe('provider profiles', () => {
  it('cover exactly the served types, each once', () => {
    const ids = PROFILES.map(({ id }) => id)
    expect(ids.toSorted((one, other) => one - other)).toEqual(Object.keys(ADDRESSES).map(Number))
  })

  it('have a script of the provider wherever chats are translated', () => {
    const translated = PROFILES.filter(({ endpoints }) =>
      endpoints.some(({ translation }) => translation !== undefined),
    )
    expect(translated.map(({ id }) => id).toSorted()).toEqual(
      [...PROVIDER_SCRIPTS.keys()].toSorted(),
    )
  })

  it.each(Object.entries(ADDRESSES))('type %s sends calls to %s', (type, expected) => {
    const other = ['39', '49'].includes(type) ? 'acc/1' : ''
    expect(address(Number(type), { other })).toBe(expected ?? 'none')
  })

  it('a key is sent in the one header that its provider reads', () => {
    for (const { id } of PROFILES.filter(({ cloud }) => cloud === undefined)) {
      const headers = target(id, { baseUrl: 'https://a.example', other: 'x' })?.headers ?? []
      const at = headers.findIndex((text) => text.includes(KEY))
      const name = { 3: 'api-key', 14: 'x-api-key', 24: 'x-goog-api-key' }[id]
      const expected = name === undefined ? ['authorization', `Bearer ${KEY}`] : [name, KEY]
      expect(headers.slice(at - 1, at + 1)).toEqual(expected)
      expect(headers.filter((text) => text.includes(KEY))).toHaveLength(1)
    }
  })

  it('a key or organization that would break out of its header is not sent', () => {
    const odd = { ...PLAIN_CHANNEL_TERMS, type: 1 }
    expect(providerTarget(odd, 'sk-a\r\nx: y', policy)).toBeNull()
    expect(providerTarget({ ...odd, organization: 'org-é' }, KEY, policy)).toBeNull()
  })

  it('every text exists in Chinese and English', () => {
    for (const { keyHint, fields = [], bases = [] } of PROFILES) {
      const texts = [keyHint, ...fields.flatMap(({ label, hint }) => [label, hint])]
      for (const { zh, en } of [...texts, ...bases.map(({ name }) => name)]) {
        expect(zh.length * en.length).toBeGreaterThan(0)
      }
    }
  })
})

describe('fields of a single provider type', () => {
  const azure = { baseUrl: 'https://it.openai.azure.com' }

  it('the Azure address contains the model as deployment and a default version', () => {
    const path = 'https://it.openai.azure.com/openai/deployments/some%2Fmodel%201/chat/completions'
    expect(address(3, azure)).toBe(`${path}?api-version=2024-10-21`)
    expect(address(3, { ...azure, other: '2025-01-01-preview&x=1' })).toBe(
      `${path}?api-version=2025-01-01-preview%26x%3D1`,
    )
  })

  it('the address of Azure’s newer API contains neither deployment nor version', () => {
    expect(address(3, { baseUrl: 'https://it.openai.azure.com/openai/v1/' })).toBe(
      'https://it.openai.azure.com/openai/v1/chat/completions',
    )
  })

  it('a Cloudflare channel has no address without an account', () => {
    expect(address(39)).toBe('none')
  })

  it('a Cloudflare account cannot leave its place in the path', () => {
    expect(address(39, { other: '../../{model}?x' })).toBe(
      'https://api.cloudflare.com/client/v4/accounts/..%2F..%2F%7Bmodel%7D%3Fx/ai/v1/chat/completions',
    )
  })
})

describe('addresses as admins enter them', () => {
  it.each([
    [1, 'https://a.example', 'https://a.example/v1/chat/completions'],
    [1, 'https://a.example/v1', 'https://a.example/v1/chat/completions'],
    [1, 'https://a.example/v1/', 'https://a.example/v1/chat/completions'],
    [8, 'https://a.example/api/v4', 'https://a.example/api/v4/chat/completions'],
    [8, 'https://a.example/x/chat/completions', 'https://a.example/x/chat/completions'],
    [8, 'https://a.example/x?team=3', 'https://a.example/x/v1/chat/completions?team=3'],
    [
      17,
      'https://a.example/compatible-mode/v1',
      'https://a.example/compatible-mode/v1/chat/completions',
    ],
    [26, 'https://api.z.ai', 'https://api.z.ai/api/paas/v4/chat/completions'],
    [
      34,
      'https://api.cohere.ai/compatibility/v1',
      'https://api.cohere.ai/compatibility/v1/chat/completions',
    ],
    [37, 'https://dify.example/v1', 'https://dify.example/v1/chat-messages'],
    [35, 'https://api.minimax.io/v1', 'https://api.minimax.io/v1/text/chatcompletion_v2'],
    [
      3,
      'https://a.example?x=1',
      'https://a.example/openai/deployments/some%2Fmodel%201/chat/completions?api-version=2024-10-21&x=1',
    ],
  ])('an address of type %i is completed from %s', (type, baseUrl, expected) => {
    expect(address(type, { baseUrl })).toBe(expected)
  })

  it('an address that the policy refuses is not used', () => {
    expect(address(1, { baseUrl: 'http://169.254.169.254' })).toBe('none')
  })
})

describe('completions', () => {
  const path = (type: number, model: string, baseUrl = '') => {
    const found = target(type, { baseUrl })
    return found && callPathOf(found, 'completions', { model, isStream: false })
  }

  it.each([
    [1, 'gpt-3.5-turbo-instruct', '', '/v1/completions'],
    [1, 'ft:davinci-002:acme', '', '/v1/completions'],
    [1, 'gpt-5', '', '/v1/chat/completions'],
    [8, 'any', 'https://a.example/x/v1', '/x/v1/completions'],
    [8, 'any', 'https://a.example/x/chat/completions', '/x/completions'],
    [20, 'openai/gpt-5', '', '/api/v1/completions'],
    [43, 'deepseek-chat', '', '/beta/completions'],
    [43, 'deepseek-chat', 'https://api.deepseek.com/v1', '/beta/completions'],
    [8, 'any', 'https://a.example/api/v4/', '/api/v4/completions'],
    [43, 'deepseek-reasoner', '', '/v1/chat/completions'],
    [48, 'grok-4', '', '/v1/chat/completions'],
  ])('of type %i with %s at "%s" are sent to %s', (type, model, baseUrl, expected) => {
    expect(path(type, model, baseUrl)).toBe(expected)
  })
})

describe('named base addresses', () => {
  it.each([
    [26, 'glm-coding-plan', 'https://open.bigmodel.cn/api/coding/paas/v4/chat/completions'],
    [26, 'glm-coding-plan-international', 'https://api.z.ai/api/coding/paas/v4/chat/completions'],
    [25, 'kimi-coding-plan', 'https://api.kimi.com/coding/v1/chat/completions'],
    [45, 'doubao-coding-plan', 'https://ark.cn-beijing.volces.com/api/coding/v3/chat/completions'],
  ])('type %i resolves the name %s', (type, baseUrl, expected) => {
    expect(address(type, { baseUrl })).toBe(expected)
  })

  it('are valid only for their own type', () => {
    expect(address(1, { baseUrl: 'glm-coding-plan' })).toBe('none')
  })

  it('are exactly the names that a channel may be saved with', () => {
    const declared = PROFILES.flatMap(({ bases = [] }) => bases.map(({ keyword }) => keyword))
    expect(declared.toSorted()).toEqual([...NAMED_BASES].toSorted())
  })
})

it('the host of a channel is that of its target, and unknown if it follows from a key', () => {
  for (const { id: type, cloud } of PROFILES) {
    const found = target(type)
    if (found === null || cloud !== undefined) continue
    expect(hostOfChannel({ type, baseUrl: '' })).toBe(new URL(found.origin).host)
  }
  expect(hostOfChannel({ type: 1, baseUrl: 'https://a.example:8443/x' })).toBe('a.example:8443')
  expect(hostOfChannel({ type: 14, baseUrl: '' })).toBe('api.anthropic.com')
  expect(hostOfChannel({ type: 33, baseUrl: '' })).toBeNull()
  expect(hostOfChannel({ type: 999, baseUrl: 'https://a.example' })).toBeNull()
})

it('a type of another API format has no profile', () => {
  for (const type of [0, 2, 11, 21, 999]) expect(profileOf(type)).toBeUndefined()
})

it('paths of Gemini’s API name the stream, and keep the version of the address', () => {
  const path = (baseUrl: string, model: string, isStream: boolean): string => {
    const found = target(24, { baseUrl })
    return found === null ? 'none' : callPathOf(found, 'gemini', { model, isStream })
  }
  const models = '/v1beta/models'
  expect(path('', 'g', false)).toBe(`${models}/g:generateContent`)
  expect(path('', 'g', true)).toBe(`${models}/g:streamGenerateContent?alt=sse`)
  expect(path('https://a.example/x', 'g', false)).toBe(`/x${models}/g:generateContent`)
  expect(path('https://a.example/v1beta/', 'g', false)).toBe(`${models}/g:generateContent`)
  expect(path('https://a.example/v1', 'g', false)).toBe('/v1/models/g:generateContent')
  expect(path('', 'tunedModels/my one', false)).toBe('/v1beta/tunedModels/my%20one:generateContent')
})
