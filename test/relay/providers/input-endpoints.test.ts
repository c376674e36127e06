import { describe, expect, it } from 'vitest'
import type { ChannelTerms } from '#domain/channels/events.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import type { DirectFormatName } from '#relay/dialects/wire-format.ts'
import {
  callPathOf,
  endpointOf,
  providerTarget,
} from '#relay/providers/profiles/provider-target.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'

const policy = operatorPolicy({ port: 3000, isLoopback: true, privateUpstreams: [] })

function address(
  type: number,
  format: DirectFormatName,
  terms: Partial<ChannelTerms>,
  model: string,
) {
  const target = providerTarget({ ...PLAIN_CHANNEL_TERMS, type, ...terms }, 'key', policy)
  if (target === null || endpointOf(target, format, model) === undefined) return null
  return `${target.origin}${callPathOf(target, format, { model, isStream: false })}`
}

const OWN = { baseUrl: 'https://llm.example.com' }
const VERSIONED = { baseUrl: 'https://llm.example.com/api/v1' }

describe('the endpoint of calls without a generated answer', () => {
  it.each([
    [1, 'embeddings', {}, 'https://api.openai.com/v1/embeddings'],
    [1, 'moderations', {}, 'https://api.openai.com/v1/moderations'],
    [1, 'rerank', {}, null],
    [
      3,
      'embeddings',
      { baseUrl: 'https://me.openai.azure.com' },
      'https://me.openai.azure.com/openai/deployments/m/embeddings?api-version=2024-10-21',
    ],
    [
      3,
      'embeddings',
      { baseUrl: 'https://me.openai.azure.com/openai/v1/' },
      'https://me.openai.azure.com/openai/v1/embeddings',
    ],
    [4, 'embeddings', {}, 'http://localhost:11434/v1/embeddings'],
    [8, 'embeddings', OWN, 'https://llm.example.com/v1/embeddings'],
    [8, 'embeddings', VERSIONED, 'https://llm.example.com/api/v1/embeddings'],
    [8, 'rerank', VERSIONED, 'https://llm.example.com/api/v1/rerank'],
    [8, 'moderations', OWN, 'https://llm.example.com/v1/moderations'],
    [14, 'embeddings', {}, null],
    [17, 'embeddings', {}, 'https://dashscope.aliyuncs.com/compatible-mode/v1/embeddings'],
    [17, 'rerank', {}, 'https://dashscope.aliyuncs.com/compatible-api/v1/reranks'],
    [20, 'embeddings', {}, 'https://openrouter.ai/api/v1/embeddings'],
    [20, 'rerank', {}, 'https://openrouter.ai/api/v1/rerank'],
    [
      24,
      'gemini-embedding',
      {},
      'https://generativelanguage.googleapis.com/v1beta/models/m:embedContent',
    ],
    [26, 'embeddings', {}, 'https://open.bigmodel.cn/api/paas/v4/embeddings'],
    [26, 'rerank', {}, 'https://open.bigmodel.cn/api/paas/v4/rerank'],
    [27, 'embeddings', {}, null],
    [34, 'embeddings', {}, 'https://api.cohere.ai/compatibility/v1/embeddings'],
    [34, 'rerank', {}, 'https://api.cohere.ai/v1/rerank'],
    [38, 'embeddings', {}, 'https://api.jina.ai/v1/embeddings'],
    [38, 'rerank', {}, 'https://api.jina.ai/v1/rerank'],
    [
      39,
      'embeddings',
      { other: 'acc' },
      'https://api.cloudflare.com/client/v4/accounts/acc/ai/v1/embeddings',
    ],
    [40, 'embeddings', {}, 'https://api.siliconflow.cn/v1/embeddings'],
    [40, 'rerank', {}, 'https://api.siliconflow.cn/v1/rerank'],
    [42, 'embeddings', {}, 'https://api.mistral.ai/v1/embeddings'],
    [42, 'moderations', {}, 'https://api.mistral.ai/v1/moderations'],
    [43, 'embeddings', {}, null],
    [44, 'embeddings', {}, 'https://api.moka.ai/v1/embeddings'],
    [45, 'embeddings', {}, 'https://ark.cn-beijing.volces.com/api/v3/embeddings'],
    [46, 'embeddings', {}, 'https://qianfan.baidubce.com/v2/embeddings'],
    [46, 'rerank', {}, 'https://qianfan.baidubce.com/v2/rerank'],
    [47, 'embeddings', OWN, 'https://llm.example.com/v1/embeddings'],
    [47, 'rerank', OWN, 'https://llm.example.com/v1/rerank'],
  ] as const)('of type %i for %s (%o) is %s', (type, format, terms, expected) => {
    expect(address(type, format, terms, 'm')).toBe(expected)
  })

  it('of Perplexity and Vertex AI is that of some models', () => {
    const perplexity = address(27, 'embeddings', {}, 'pplx-embed-v1-4b')
    expect(perplexity).toBe('https://api.perplexity.ai/v1/embeddings')
    expect(address(41, 'gemini-embedding', {}, 'gemini-embedding-2')).toContain(':embedContent')
    expect(address(41, 'gemini-embedding', {}, 'gemini-embedding-001')).toContain(':predict')
    expect(address(41, 'embeddings', {}, 'text-embedding-005')).toContain(':predict')
    expect(address(41, 'embeddings', {}, 'gemini-embedding-2')).toBeNull()
  })
})
