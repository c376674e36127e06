import { beforeEach, describe, expect, it } from 'vitest'
import type { ChannelHealthEvent } from '#domain/channel-health/events.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { startSimulatedProvider } from '#infra/demo/simulated-provider.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, relayRig } from './support/relay-rig.ts'

const rig = startedForEach(relayRig)
/** Behind channel 2, which has two keys in turn and is drawn before channel 1. */
const first = startedForEach(startSimulatedProvider)

beforeEach(async () => {
  await rig.setOption('RetryTimes', '1')
  await rig.setOption('channel_health.circuit_cooldown_seconds', '1')
  await rig.setOption('channel_health.circuit_failures', '3')
  await rig.append(CHANNELS_STREAM, {
    type: 'ChannelsCreated',
    v: 1,
    data: {
      terms: { ...PLAIN_CHANNEL_TERMS, priority: 9, baseUrl: first.url },
      channels: [{ channelId: 2, name: 'keys', keyRefs: ['key:sk-a', 'key:sk-b'] }],
      keyMode: 'polling',
      isEnabled: true,
    },
  })
})

const WELL = { kind: 'slow', msPerChunk: 1 } as const
const status = (code: number, retryAfter?: string) => ({
  kind: 'status' as const,
  status: code,
  ...(retryAfter === undefined ? {} : { retryAfter }),
})
const events = async () =>
  (await rig.core.store.readStream('channel-health-2')) as Recorded<ChannelHealthEvent>[]
const eventTexts = async () => (await events()).map(({ type, data }) => `${type} ${data.keyRef}`)
const keysUsed = (from = 0) =>
  first.journal.entries.slice(from).map(({ authorization }) => authorization.slice(7))
const chats = async (count: number) => {
  for (let n = 0; n < count; n += 1) expect((await chat(rig)).status).toBe(200)
}
const untilDue = async () => {
  const until = (await events()).at(-1)?.data
  const at = until !== undefined && 'until' in until ? until.until : 0
  await expect.poll(() => Date.now() >= at).toBe(true)
}
/** Key a is refused each time it is its turn; key b is well. */
const failKeyA = async (code: number) => {
  for (let n = 0; n < 3; n += 1) first.script.push(status(code), WELL)
  await chats(6)
  await expect.poll(eventTexts).toEqual(['CircuitOpened key:sk-a'])
}

describe('the circuit of one key of a channel with several keys', () => {
  it.each([429, 401])(
    'a key that fails with %i is skipped while its channel continues',
    async (code) => {
      await failKeyA(code)
      expect((await events())[0]?.data).toMatchObject({ reason: `status-${code}`, failures: 3 })
      const usedBefore = keysUsed().length
      await chats(4)
      expect(keysUsed(usedBefore)).toEqual(['sk-b', 'sk-b', 'sk-b', 'sk-b'])
    },
  )

  it.each([429, 401])(
    'a key that fails with %i fails no call, because the other key serves it',
    async (code) => {
      for (let n = 0; n < 3; n += 1) first.script.push(status(code), WELL)
      await chats(6)
      expect(keysUsed().filter((key) => key === 'sk-a')).toHaveLength(3)
      expect(rig.provider.journal.entries).toEqual([])
    },
  )

  it('one call probes the key after its pause, and its success restores the key', async () => {
    await failKeyA(429)
    await untilDue()
    const usedBefore = keysUsed().length
    first.script.push(...Array.from({ length: 20 }, () => ({ ...WELL, msPerChunk: 100 })))
    const body = { stream: true, max_tokens: 4 }
    await Promise.all(Array.from({ length: 20 }, () => chat(rig, body)))
    expect(keysUsed(usedBefore).filter((key) => key === 'sk-a')).toHaveLength(1)
    const well = ['CircuitHalfOpened key:sk-a', 'CircuitClosed key:sk-a']
    await expect.poll(eventTexts).toEqual(['CircuitOpened key:sk-a', ...well])
    const again = keysUsed().length
    await chats(4)
    expect(keysUsed(again).sort()).toEqual(['sk-a', 'sk-a', 'sk-b', 'sk-b'])
  })

  it('the key is skipped for longer when it fails again', async () => {
    await failKeyA(429)
    await untilDue()
    first.script.push(status(429))
    await chats(1)
    const again = ['CircuitHalfOpened key:sk-a', 'CircuitOpened key:sk-a']
    await expect.poll(eventTexts).toEqual(['CircuitOpened key:sk-a', ...again])
    expect((await events()).at(-1)?.data).toMatchObject({ round: 2 })
  })

  it('failures of the last working key open the circuit of the channel', async () => {
    await failKeyA(429)
    first.script.push(status(429), status(429), status(429))
    await chats(3)
    await expect.poll(eventTexts).toEqual(['CircuitOpened key:sk-a', 'CircuitOpened null'])
    const usedBefore = keysUsed().length
    await chats(2)
    expect(keysUsed().length).toBe(usedBefore)
  })

  it('a 503 from both keys opens the channel’s circuit and none of a key', async () => {
    first.script.push(status(503), status(503), status(503))
    await chats(3)
    await expect.poll(eventTexts).toEqual(['CircuitOpened null'])
  })

  it('the key alone pauses for as long as its provider’s Retry-After says', async () => {
    first.script.push(status(429, '20'))
    await chats(5)
    // The first call went on with the other key.
    expect(keysUsed()).toEqual(['sk-a', 'sk-b', 'sk-b', 'sk-b', 'sk-b', 'sk-b'])
    first.script.push(status(429, '20'))
    await chats(3)
    expect(keysUsed()).toHaveLength(7)
    expect(await eventTexts()).toEqual([])
  })
})
