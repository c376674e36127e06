import { expect, it, vi } from 'vitest'
import { userPolicy } from '#infra/outbound/outbound-policy.ts'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { OPENAI_IMAGES } from '#relay/dialects/openai-images/image-formats.ts'
import { variantBoundsOf } from '#relay/pipeline/cost-bounds-of-request-variants.ts'
import { SILICON_FLOW } from '#relay/providers/profiles/image-adapters.ts'
import { providerTarget } from '#relay/providers/profiles/provider-target.ts'
import type { RelayChannel } from '#relay/views/channel-view.ts'
import { OptionView } from '#relay/views/option-view.ts'
import { channelRules } from '#relay/views/parse-channel-rules.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'

const { options } = new OptionView(new Map(), 1)

const SILICON_FLOW_TYPE = 40
const COUNT = 1_000

function channelOf(channelId: number, changes: Partial<RelayChannel['terms']> = {}): RelayChannel {
  const baseUrl = `https://proxy-${channelId}.example`
  const varied = { name: `${channelId}`, priority: channelId, weight: channelId, baseUrl }
  const terms = { ...PLAIN_CHANNEL_TERMS, ...varied, type: SILICON_FLOW_TYPE, ...changes }
  const target = providerTarget(terms, `key-${channelId}`, userPolicy)
  if (target === null) throw new Error('the channel has no target')
  return { channelId, terms, rules: channelRules(terms), target } as never
}

const body = Buffer.from(JSON.stringify({ model: 'm', prompt: 'a cat', size: '512x512', n: 2 }))
const request = OPENAI_IMAGES.readRequest(body, null)
if (isRelayError(request)) throw new Error(request.code)
const boundsAt = (channels: readonly RelayChannel[]) =>
  variantBoundsOf(request, [{ channels, sums: [] }], options)

const channels = Array.from({ length: COUNT }, (_, index) => channelOf(index + 1))

it('an image call is prepared once for all channels that send the same request', () => {
  const requestOf = vi.spyOn(SILICON_FLOW, 'requestOf')
  expect(boundsAt(channels)).toHaveLength(1)
  expect(requestOf).toHaveBeenCalledTimes(1)
})

it.each<[string, Partial<RelayChannel['terms']>, object]>([
  ['override', { paramOverride: '{"n":4}' }, { choices: 4 }],
  ['larger size', { paramOverride: '{"size":"2048x2048"}' }, {}],
  ['mapped model', { modelMapping: '{"m":"Qwen/Qwen-Image"}' }, {}],
  ['type', { type: 1, modelMapping: '{"m":"dall-e-3"}' }, {}],
])('the hold of an image covers the only channel with another %s', (_, changes, expected) => {
  const other = channelOf(COUNT + 1, changes)
  const [alone] = boundsAt([other])
  expect(alone).toBeDefined()
  expect(alone).toMatchObject(expected)
  const bounds = boundsAt([...channels, other])
  expect(bounds).toHaveLength(2)
  expect(bounds).toContainEqual(alone)
})

it('a channel that was changed is prepared by its new settings', () => {
  const [before] = boundsAt([channelOf(1)])
  const [after] = boundsAt([channelOf(1, { paramOverride: '{"n":3}' })])
  expect([before?.choices, after?.choices]).toEqual([2, 3])
})
