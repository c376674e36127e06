import { describe, expect, it } from 'vitest'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import { writeRequest } from '#relay/conversion/openai-chat/write-request.ts'
import { chatExtensionsAt } from '#relay/pipeline/chat-extensions-accepted-by-channel.ts'
import { modelsWithChatsAt } from '#relay/providers/profiles/openai-models-with-chat-endpoint.ts'
import { providerTarget } from '#relay/providers/profiles/provider-target.ts'
import { channelRules } from '#relay/views/parse-channel-rules.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'

const policy = operatorPolicy({ port: 3000, isLoopback: true, privateUpstreams: [] })

/** The chat that a deployment at Azure gets for a converted request. */
function chatFor(
  deployment: string,
  mapping: Record<string, string>,
  baseUrl = 'https://resource.openai.azure.com',
) {
  const modelMapping = JSON.stringify(mapping)
  const terms = { ...PLAIN_CHANNEL_TERMS, type: 3, baseUrl, modelMapping }
  const target = providerTarget(terms, 'key', policy)
  const vendor = chatExtensionsAt({ terms, target, rules: channelRules(terms) }, deployment, false)
  const sampling = { choices: null, temperature: 0.5, topP: null, topK: null, seed: null }
  const penalties = { presencePenalty: null, frequencyPenalty: null, stop: [] }
  return writeRequest(
    {
      ...{ model: deployment, isStream: false, system: [], tools: [], toolChoice: null },
      messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }],
      ...{ allowsParallelCalls: null, outputTokensMax: 100, answerFormat: null, logprobs: null },
      ...{ sampling: { ...sampling, ...penalties }, endUser: null, promptCacheKey: null },
      thinking: { kind: 'effort', effort: 'high' },
    },
    vendor,
  )
}

describe('a converted chat at Azure', () => {
  it.each([
    ['o3', {}],
    ['gpt-5-mini', {}],
    ['prod-1', { 'gpt-5.1': 'prod-1' }],
    ['gpt-5-mini', { 'gpt-4o': 'gpt-5-mini' }],
    ['gpt-5-mini-2025-08-07', { 'gpt-4o': 'gpt-5-mini-2025-08-07' }],
  ])('limits the output of a reasoning model as OpenAI requires it: %s', (deployment, mapping) => {
    const { value, losses } = chatFor(deployment, mapping)
    expect(value).toMatchObject({ max_completion_tokens: 100, reasoning_effort: 'high' })
    expect(value).not.toHaveProperty('max_tokens')
    expect(value).not.toHaveProperty('temperature')
    expect(losses).toContain('sampling.temperature')
  })

  it('does so at the newer API, too', () => {
    const newer = 'https://resource.openai.azure.com/openai/v1'
    const { value } = chatFor('prod-1', { 'gpt-5': 'prod-1' }, newer)
    expect(value).toMatchObject({ max_completion_tokens: 100 })
  })

  it.each([
    ['gpt-4o', {}],
    ['gpt-5-team', { 'gpt-4.1': 'gpt-5-team' }],
  ])('has the older member for other models: %s', (deployment, mapping) => {
    const { value } = chatFor(deployment, mapping)
    expect(value).toMatchObject({ max_tokens: 100, temperature: 0.5 })
    expect(value).not.toHaveProperty('reasoning_effort')
  })
})

it.each([
  ['gpt-5-codex', { 'gpt-5': 'gpt-5-codex' }, false],
  ['o3-deep-research', { o3: 'o3-deep-research' }, false],
  ['gpt-5', { 'gpt-5-codex': 'gpt-5' }, true],
  ['prod-1', { 'gpt-5-codex': 'prod-1' }, false],
  ['gpt-5-1', { 'gpt-5.1-codex': 'gpt-5-1' }, false],
  ['gpt-4o-2', { 'gpt-5-pro': 'gpt-4o-2' }, false],
  ['gpt-4o-2024-08-06', { 'o3-pro': 'gpt-4o-2024-08-06' }, true],
])('a deployment that has the name of a model serves what this model serves: %s', (...row) => {
  const [deployment, mapping, servesChats] = row
  const terms = { ...PLAIN_CHANNEL_TERMS, type: 3, modelMapping: JSON.stringify(mapping) }
  const models = modelsWithChatsAt(terms, 'resource.openai.azure.com')
  expect(models?.test(deployment)).toBe(servesChats)
})
