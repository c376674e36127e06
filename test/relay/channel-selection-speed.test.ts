import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { Core } from '#infra/core-dependencies.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import { CircuitBreaker } from '#relay/channel-health/circuit-breaker.ts'
import { OpenCircuitView } from '#relay/channel-health/open-circuit-view.ts'
import { ChannelSelector } from '#relay/pipeline/channel-selector.ts'
import { KeySelector } from '#relay/pipeline/choose-channel-key.ts'
import { ChannelView } from '#relay/views/channel-view.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { budget, threadCpuMs } from '#test/support/time-limit.ts'

const CHANNELS = 1_000
const CHOICES = 20_000
const MICROSECONDS_MAX = 50

const policy = operatorPolicy({ port: 0, isLoopback: true, privateUpstreams: [] })
const vault = {
  keyedHash: (_purpose: string, text: string) => text,
  getSecrets: async (_purpose: string, refs: readonly { ref: string }[]) =>
    new Map(refs.map(({ ref }) => [ref, 'sk-provider'])),
} as unknown as Core['vault']
const parts = {
  limits: {} as Core['limits'],
  now: Date.now,
  breaker: new CircuitBreaker({
    ...{ actors: {} as Core['actors'], log: pino({ level: 'silent' }), now: Date.now },
    circuits: new OpenCircuitView([]),
    options: () => ({}) as never,
  }),
}

/** All offer one model to one group: the most there is to choose from. */
async function manyChannels(expiredTime: (id: number) => number): Promise<ChannelView> {
  const view = new ChannelView(vault, policy)
  await view.putAll(
    Array.from({ length: CHANNELS }, (_, n) => ({
      channelId: n + 1,
      terms: {
        ...PLAIN_CHANNEL_TERMS,
        ...{ models: ['m', `m-${n}`], priority: n % 5, weight: n % 11 },
        expiredTime: expiredTime(n),
      },
      keyRefs: ['a', 'b', 'c'].map((key) => `${key}-${n}`),
      keyMode: 'polling' as const,
      status: 'enabled' as const,
      setAside: [],
    })),
  )
  return view
}

/** Microseconds of one choice of channel and key, on average; the best of five rounds. */
async function microsecondsOf(view: ChannelView): Promise<number> {
  const keys = new KeySelector(parts.breaker)
  const choose = async (): Promise<number> => {
    const selector = new ChannelSelector(parts, view.offering('default', 'm', 'chat'), 'm', false)
    const turn = selector.next()
    const channel = turn instanceof Promise ? await turn : turn
    return channel === null || keys.choose(channel) === null ? 0 : 1
  }
  const rounds: number[] = []
  for (let round = 0; round < 5; round += 1) {
    const begin = threadCpuMs()
    let chosen = 0
    for (let n = 0; n < CHOICES; n += 1) chosen += await choose()
    rounds.push(((threadCpuMs() - begin) * 1_000) / CHOICES)
    expect(chosen).toBe(CHOICES)
  }
  return Math.min(...rounds)
}

describe(`the choice among ${CHANNELS} channels`, () => {
  it(`the choice takes less than ${MICROSECONDS_MAX} µs`, async () => {
    const us = await microsecondsOf(await manyChannels(() => -1))
    console.info(`one of ${CHANNELS} channels chosen, with its key: ${us.toFixed(2)} µs`)
    expect(us).toBeLessThan(budget(MICROSECONDS_MAX))
  })

  it(`the choice takes less than ${MICROSECONDS_MAX} µs if a tenth has expired`, async () => {
    const us = await microsecondsOf(await manyChannels((id) => (id % 10 === 0 ? 1_000 : -1)))
    console.info(`the same with a tenth of them expired: ${us.toFixed(2)} µs`)
    expect(us).toBeLessThan(budget(MICROSECONDS_MAX))
  })
})
