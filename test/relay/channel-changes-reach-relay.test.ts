import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ChannelCommand } from '#domain/channels/commands.ts'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { channelsIn } from '#domain/routing/channels-by-group-and-model.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import { type RunningCore, startCore } from '#infra/start-core.ts'
import { startProjections } from '#projections/runner/start-projections.ts'
import { loadChannelRows } from '#relay/views/load-view-rows.ts'
import { startViews, type Views } from '#relay/views/start-views.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { testConfig } from '../support/test-core.ts'
import { NO_ROWS } from './support/empty-view-rows.ts'

const WITHIN_MS = 1_000

let writing: RunningCore
let relaying: RunningCore
let views: Views
let close: () => Promise<void>

/** An office and a relay on one database, each with connections and an event store of its own. */
beforeEach(async () => {
  const { config, drop } = await testConfig()
  writing = await startCore(config)
  relaying = await startCore(config)
  const policy = operatorPolicy(config)
  const { core } = relaying
  views = await startViews(core, NO_ROWS, policy, () => loadChannelRows(core))
  close = async () => {
    await views.stop()
    await writing.close()
    await relaying.close()
    await drop()
  }
  const keyRefs = await Promise.all(
    [1, 2, 3].map((id) => writing.core.vault.putSecret('channel-key', `channel:${id}`, 'sk')),
  )
  await decide({
    type: 'CreateChannels',
    terms: { ...PLAIN_CHANNEL_TERMS, tag: 'eu', models: ['m'] },
    channels: keyRefs.map((ref, n) => ({ channelId: n + 1, name: `c${n}`, keyRefs: [ref] })),
    keyMode: '',
    isEnabled: true,
  })
  await follows('m', [1, 2, 3])
})
afterEach(() => close())

const decide = (command: ChannelCommand) =>
  writing.core.actors.handle(channelsDecider, CHANNELS_STREAM, command, {
    actor: 'user:1',
    cause: null,
    at: Date.now(),
  })
const offered = (model: string): number[] =>
  [...channelsIn(views.channels.offering('default', model, 'chat'))].map(
    ({ channelId }) => channelId,
  )
const follows = (model: string, ids: readonly number[]): Promise<void> =>
  vi.waitFor(() => expect(offered(model).sort()).toEqual(ids), {
    timeout: WITHIN_MS,
    interval: 5,
  })

describe('a relay in another process, within a second', () => {
  it('the relay follows changes to one channel', async () => {
    await decide({ type: 'DisableChannels', channelIds: [2] })
    await follows('m', [1, 3])
    await decide({ type: 'AutoDisableChannel', channelId: 1, reason: '401', substitutes: [] })
    await follows('m', [3])
    await decide({ type: 'EnableChannels', channelIds: [1], now: 0 })
    await follows('m', [1, 3])
    const change = { models: ['m', 'other'] }
    await decide({ type: 'ChangeTerms', channelId: 1, change, keys: null, keyMode: null })
    await follows('other', [1])
  })

  it('the relay follows changes to several channels and to a tag', async () => {
    await decide({ type: 'DisableTag', tag: 'eu' })
    await follows('m', [])
    await decide({ type: 'EnableChannels', channelIds: [1, 2, 3], now: 0 })
    await follows('m', [1, 2, 3])
    await decide({ type: 'ChangeTag', tag: 'eu', change: { models: ['n'], priority: 4 } })
    await follows('n', [1, 2, 3])
    expect(views.channels.find(3)?.terms.priority).toBe(4)
    await decide({ type: 'TagChannels', channelIds: [1, 2], tag: 'us' })
    await decide({ type: 'DeleteChannels', channelIds: [1, 3] })
    await follows('n', [2])
    expect(views.channels.find(1)).toBeUndefined()
  })

  it('the relay reloads its channels when the abilities are fixed, and continues', async () => {
    const projections = await startProjections(writing.core)
    // What only a fault could do: the relay has lost what it knew.
    Object.assign(views.channels, { channels: new Map(), offers: new Map() })
    expect(offered('m')).toEqual([])
    await decide({ type: 'FixAbilities' })
    await decide({ type: 'DisableChannels', channelIds: [3] })
    await vi.waitFor(() => expect(offered('m').sort()).toEqual([1, 2]), { timeout: 45_000 })
    await decide({ type: 'DisableChannels', channelIds: [1] })
    await follows('m', [2])
    await projections.stop()
  })
})
