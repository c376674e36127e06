import { describe, expect, it } from 'vitest'
import { evolveChannels, initialChannels } from '#domain/channels/state.ts'
import type { StreamActors } from '#infra/event-store/stream-actors-port.ts'
import { mayBeSentTo } from '#relay/views/submission-checks-and-key-retries.ts'
import { created, KEY } from '#test/domain/channels/facts.ts'

const NOW = 1_764_000_000_000

const askedAfter =
  (...events: readonly Parameters<typeof evolveChannels>[1][]) =>
  (channelId = 4, keyRef = KEY) => {
    const state = events.reduce(evolveChannels, initialChannels())
    const ask = (async (_decider, _stream, question) =>
      question(state as never)) as StreamActors['ask']
    return mayBeSentTo({ actors: { ask }, now: () => NOW }, { channelId, keyRef })
  }

describe('a task or a batch', () => {
  it('is sent to an enabled channel with a key that it has', async () => {
    const ask = askedAfter(created())
    expect(await ask()).toBe(true)
    expect(await ask(4, 'ref-removed')).toBe(false)
    expect(await ask(5)).toBe(false)
  })

  it('is not sent to a channel that was disabled or deleted or has expired', async () => {
    expect(await askedAfter(created({ expiredTime: NOW / 1_000 }))()).toBe(false)
    expect(await askedAfter(created({ expiredTime: NOW / 1_000 + 1 }))()).toBe(true)
    const data = { channelIds: [4] }
    const disabled = { type: 'ChannelsDisabled', v: 1, data: { ...data, tag: null } } as const
    expect(await askedAfter(created(), disabled)()).toBe(false)
    expect(await askedAfter(created(), { type: 'ChannelsDeleted', v: 1, data })()).toBe(false)
  })

  it('is not sent while the unfinished work of the channel is counted', async () => {
    const data = { channelIds: [4], pause: 'one', pausedAt: NOW - 1_000 }
    const paused = { type: 'ChannelSubmissionsPaused', v: 1, data } as const
    expect(await askedAfter(created(), paused)()).toBe(false)
    const resumed = { type: 'ChannelSubmissionsResumed', v: 1, data } as const
    expect(await askedAfter(created(), paused, resumed)()).toBe(true)
  })
})
