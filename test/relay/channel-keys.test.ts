import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM, type KeyMode } from '#domain/channels/events.ts'
import type { KeyHealth } from '#relay/channel-health/circuit-breaker.ts'
import { KeySelector } from '#relay/pipeline/choose-channel-key.ts'
import type { RelayChannel, RelayKey } from '#relay/views/channel-view.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, relayRig } from './support/relay-rig.ts'

const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.setOption('RetryTimes', '3')
})

/** Channel 2, which is drawn before the rig's own. */
const addKeys = (keyMode: KeyMode, ...keys: string[]) =>
  rig.append(CHANNELS_STREAM, {
    type: 'ChannelsCreated',
    v: 1,
    data: {
      terms: { ...PLAIN_CHANNEL_TERMS, priority: 9, baseUrl: rig.provider.url },
      channels: [{ channelId: 2, name: 'keys', keyRefs: keys.map((key) => `key:${key}`) }],
      keyMode,
      isEnabled: true,
    },
  })
const change = (type: string, data: object) =>
  rig.append(CHANNELS_STREAM, { type, v: 1, data: { channelId: 2, ...data } })
const keysUsed = () =>
  rig.provider.journal.entries.map(({ authorization }) => authorization.replace('Bearer ', ''))
const chats = async (count: number) => {
  for (let n = 0; n < count; n += 1) expect((await chat(rig)).status).toBe(200)
}
const channelEvents = async () =>
  (await rig.core.store.readStream(CHANNELS_STREAM)).slice(2).map(({ type }) => type)

describe('a channel with several keys', () => {
  it('the polling mode uses the keys in turn', async () => {
    await addKeys('polling', 'sk-a', 'sk-b', 'sk-c')
    await chats(7)
    expect(keysUsed()).toEqual(['sk-a', 'sk-b', 'sk-c', 'sk-a', 'sk-b', 'sk-c', 'sk-a'])
  })

  it('the random mode uses each key about as often', async () => {
    await addKeys('random', 'sk-a', 'sk-b')
    await chats(60)
    const uses = Map.groupBy(keysUsed(), (key) => key)
    expect([...uses.keys()].sort()).toEqual(['sk-a', 'sk-b'])
    // Fewer than 10 of 60 happen once in 20 million times.
    for (const [key, times] of uses) expect(times.length, key).toBeGreaterThan(9)
  })

  it('the relay does not use a key that is set aside until it is restored', async () => {
    await addKeys('polling', 'sk-a', 'sk-b')
    await change('ChannelKeySetAside', { keyRef: 'key:sk-a', reason: 'status-401' })
    await chats(3)
    expect(keysUsed()).toEqual(['sk-b', 'sk-b', 'sk-b'])
    await change('ChannelKeysTakenBack', { keyRefs: ['key:sk-a'] })
    await chats(4)
    expect(keysUsed().slice(3).sort()).toEqual(['sk-a', 'sk-a', 'sk-b', 'sk-b'])
  })

  it('the relay uses the keys of the last change', async () => {
    await addKeys('polling', 'sk-a', 'sk-b')
    const terms = { ...PLAIN_CHANNEL_TERMS, priority: 9, baseUrl: rig.provider.url }
    const keys = { keyRefs: ['key:sk-c'], keyMode: '', droppedKeyRefs: ['key:sk-a', 'key:sk-b'] }
    await change('ChannelTermsChanged', { terms, ...keys })
    await chats(2)
    expect(keysUsed()).toEqual(['sk-c', 'sk-c'])
  })
})

describe('a key that another call already probes', () => {
  /** Chooses a key after one of `used`. Only the keys in `granted` may be probed. */
  const choose = async (
    health: Readonly<Record<string, KeyHealth>>,
    { used = [], granted = [] }: { used?: readonly string[]; granted?: readonly string[] } = {},
  ) => {
    const keys = Object.keys(health).map((keyRef) => ({ keyRef }) as RelayKey)
    const selector = new KeySelector({
      areAllKeysFree: false,
      keyHealthOf: (_channelId, keyRef) => health[keyRef] ?? 'free',
      enterKey: async ({ keyRef }) => keyRef !== null && granted.includes(keyRef),
    })
    const channel = { channelId: 2, keys, keyMode: 'polling' } as unknown as RelayChannel
    const usedKeys = new Set(keys.filter(({ keyRef }) => used.includes(keyRef)))
    const chosen = await selector.choose(channel, usedKeys)
    return chosen && [chosen.key.keyRef, chosen.probes.map(({ keyRef }) => keyRef)]
  }

  it('is replaced by a free key, and never by one that is out', async () => {
    expect(await choose({ a: 'due', b: 'out', c: 'free' })).toEqual(['c', []])
  })

  it('is replaced by another key that is due, which is then probed', async () => {
    expect(await choose({ a: 'due', b: 'out', c: 'due' }, { granted: ['c'] })).toEqual(['c', ['c']])
  })

  it('leaves no key for a second attempt if all others are out', async () => {
    const used = ['used']
    expect(await choose({ used: 'free', a: 'due', b: 'out' }, { used })).toBe(null)
    expect(await choose({ used: 'free', a: 'due', b: 'due' }, { used })).toBe(null)
  })

  it('leaves any key for the first attempt if all others are out', async () => {
    expect(await choose({ a: 'due', b: 'out' })).toEqual(['b', []])
  })
})

describe('a key that its provider refuses', () => {
  beforeEach(async () => {
    await rig.setOption('AutomaticDisableChannelEnabled', 'true')
    await rig.setOption('channel_health.disable_failures', '1')
  })

  it('the relay sets aside that key alone, and its channel uses the others', async () => {
    await addKeys('polling', 'sk-a', 'sk-b')
    rig.provider.script.push({ kind: 'status', status: 401 })
    await chats(1)
    await expect.poll(channelEvents).toEqual(['ChannelKeySetAside'])
    await chats(4)
    expect(keysUsed().filter((key) => key === 'sk-a')).toHaveLength(1)
    expect(rig.relay.inFlight()).toBe(0)
  })

  it('the relay disables the channel if the key is its last one', async () => {
    await addKeys('polling', 'sk-a', 'sk-b')
    await change('ChannelKeySetAside', { keyRef: 'key:sk-a', reason: 'status-401' })
    rig.provider.script.push({ kind: 'status', status: 401 })
    await chats(1)
    await expect.poll(channelEvents).toEqual(['ChannelKeySetAside', 'ChannelAutoDisabled'])
    await chats(2)
    expect(keysUsed().filter((key) => key === 'sk-b')).toHaveLength(1)
  })

  it('the last channel of a model keeps a key, although all its keys fail at once', async () => {
    await change('ChannelsDeleted', { channelIds: [1] })
    await addKeys('polling', 'sk-a', 'sk-b')
    rig.provider.script.push(...Array(4).fill({ kind: 'status', status: 401 }))
    expect((await chat(rig)).status).toBe(502)
    // A second call that came before the view knows the disabled key would use both keys.
    await expect.poll(channelEvents).toEqual(['ChannelsCreated', 'ChannelKeySetAside'])
    for (let calls = 0; calls < 2; calls += 1) expect((await chat(rig)).status).toBe(502)
    expect((await chat(rig)).status).toBe(200)
    expect(await channelEvents()).toEqual(['ChannelsCreated', 'ChannelKeySetAside'])
  })

  it('the channel stays enabled if the only other channel has expired', async () => {
    await addKeys('polling', 'sk-a')
    const terms = { ...PLAIN_CHANNEL_TERMS, expiredTime: 1 }
    const keys = { keyRefs: ['ref-1'], keyMode: '', droppedKeyRefs: [] }
    await change('ChannelTermsChanged', { channelId: 1, terms, ...keys })
    rig.provider.script.push({ kind: 'status', status: 401 })
    await chat(rig)
    await chats(1)
    expect(await channelEvents()).toEqual(['ChannelTermsChanged'])
  })
})
