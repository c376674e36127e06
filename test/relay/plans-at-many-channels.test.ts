import { expect, it } from 'vitest'
import type { Offer } from '#domain/routing/channels-by-group-and-model.ts'
import { userPolicy } from '#infra/outbound/outbound-policy.ts'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { OPENAI_CHAT } from '#relay/dialects/openai-chat/chat-format.ts'
import type { ChatRequest } from '#relay/dialects/wire-format.ts'
import { variantBoundsOf } from '#relay/pipeline/cost-bounds-of-request-variants.ts'
import { allowedMembersIn } from '#relay/pipeline/plan-call-for-one-model-and-group.ts'
import { SessionAffinity } from '#relay/pipeline/session-affinity.ts'
import { providerTarget } from '#relay/providers/profiles/provider-target.ts'
import type { RelayChannel } from '#relay/views/channel-view.ts'
import { OptionView } from '#relay/views/option-view.ts'
import { channelRules } from '#relay/views/parse-channel-rules.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'

const COUNT = 1_000
const SILICON_FLOW_TYPE = 40

const { options } = new OptionView(new Map(), 1)

function channelOf(channelId: number, changes: Partial<RelayChannel['terms']> = {}): RelayChannel {
  const terms = { ...PLAIN_CHANNEL_TERMS, name: `${channelId}`, type: 1, ...changes }
  const target = providerTarget(terms, `key-${channelId}`, userPolicy)
  if (target === null) throw new Error('the channel has no target')
  return { channelId, terms, rules: channelRules(terms), target } as never
}

/** Counts the reads of the channels' fields. */
function countedOffer(channels: readonly RelayChannel[]) {
  const reads = { count: 0 }
  const counted = channels.map(
    (channel) =>
      new Proxy(channel, {
        get: (target, name) => {
          reads.count += 1
          return Reflect.get(target, name)
        },
      }),
  )
  const offer: Offer<RelayChannel> = [{ channels: counted, sums: [] }]
  return { offer, reads }
}

function chatRequest(model = 'm'): ChatRequest {
  const messages = [{ role: 'user', content: 'hi' }]
  const body = Buffer.from(JSON.stringify({ model, messages, max_tokens: 9 }))
  const request = OPENAI_CHAT.readRequest(body, null)
  if (isRelayError(request)) throw new Error(request.code)
  return request
}

const plain = Array.from({ length: COUNT }, (_, index) => channelOf(index + 1))

it('the plan of a call reads no channel of an offer that an earlier call has read', () => {
  const { offer, reads } = countedOffer(plain)
  const plan = () => [
    variantBoundsOf(chatRequest(), offer, options),
    allowedMembersIn(offer).has('service_tier'),
  ]
  const first = plan()
  expect(reads.count).toBeGreaterThan(COUNT)
  reads.count = 0
  expect(plan()).toEqual(first)
  expect(reads.count).toBe(0)
})

it('the thinking at channels that differ only in their keys is bounded once', () => {
  const model = 'Qwen/Qwen3-8B'
  const thinking = Array.from({ length: COUNT }, (_, index) =>
    channelOf(index + 1, { type: SILICON_FLOW_TYPE, baseUrl: `https://${index}.example` }),
  )
  const [alone] = variantBoundsOf(
    chatRequest(model),
    countedOffer(thinking.slice(0, 1)).offer,
    options,
  )
  expect(alone).toMatchObject({ thinkingTokens: expect.any(Number) })
  const { offer, reads } = countedOffer([...plain, ...thinking])
  expect(variantBoundsOf(chatRequest(model), offer, options)).toEqual([alone])
  reads.count = 0
  expect(variantBoundsOf(chatRequest(model), offer, options)).toEqual([alone])
  expect(reads.count).toBeLessThan(COUNT / 10)
})

it('the channel of a session is found without reading the other channels', () => {
  const { offer, reads } = countedOffer(plain)
  const vault = { keyedHash: (_purpose: string, text: string) => text }
  const sessions = new SessionAffinity({ vault, cache: null, idleMs: () => 1_000, now: Date.now })
  const assignment = { channelId: COUNT, keyRef: 'k', since: Date.now() }
  expect(sessions.channelAt(assignment, offer)?.terms.name).toBe(`${COUNT}`)
  reads.count = 0
  expect(sessions.channelAt(assignment, offer)?.terms.name).toBe(`${COUNT}`)
  expect(reads.count).toBeLessThan(10)
})
