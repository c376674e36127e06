import { describe, expect, it } from 'vitest'
import { channelsDecider } from '#domain/channels/decide.ts'
import type { ChannelEvent } from '#domain/channels/events.ts'
import { codedError } from '#domain/shared/coded-error.ts'
import { budget, threadCpuMs } from '#test/support/time-limit.ts'
import { createChannel, created, createdMany, given, KEY, TERMS } from './facts.ts'

const disabled = (channelIds: readonly number[], tag: string | null = null): ChannelEvent => ({
  type: 'ChannelsDisabled',
  v: 1,
  data: { channelIds, tag },
})
const tagged = (channelIds: readonly number[], tag: string): ChannelEvent => ({
  type: 'ChannelsTagged',
  v: 1,
  data: { channelIds, tag },
})

describe('several channels in one command', () => {
  it('are created by one event, each with its own name and key', () => {
    const channels = [
      { channelId: 5, name: 'a_1', keyRefs: ['r1'] },
      { channelId: 6, name: 'a_2', keyRefs: ['r2'] },
    ]
    const command = { type: 'CreateChannels', terms: TERMS, channels, keyMode: '' } as const
    const { facts, after } = given(created()).when({ ...command, isEnabled: false })
    expect(facts).toHaveLength(1)
    expect(after.channels.get(6)).toMatchObject({ terms: { name: 'a_2' }, keyRefs: ['r2'] })
    expect(after.channels.get(6)?.status).toBe('disabled')
    expect(after.highestId).toBe(6)
  })

  it('are turned off by one event, which omits channels that are already off', () => {
    const command = { type: 'DisableChannels', channelIds: [1, 2, 3, 1] } as const
    given(createdMany(3), disabled([2]))
      .when(command)
      .then([disabled([1, 3])])
    given(createdMany(3), disabled([1, 2, 3]))
      .when(command)
      .then([])
  })

  it('are not turned on if some have expired; the error names the first three', () => {
    const all = [1, 2, 3, 4, 5]
    const state = given(createdMany(5, { expiredTime: 100 }), disabled(all))
    const enable = { type: 'EnableChannels', channelIds: all, now: 100 } as const
    state.when(enable).then(codedError('ChannelExpired', { names: 'c1, c2, c3', more: 2 }))
    state
      .when({ ...enable, channelIds: [2, 2, 5] })
      .then(codedError('ChannelExpired', { names: 'c2, c5' }))
  })

  it.each(['EnableChannels', 'DisableChannels', 'DeleteChannels', 'TagChannels'] as const)(
    'are not changed by %s if one is unknown; the error has its id',
    (type) => {
      const command = { type, channelIds: [1, 9, 2], tag: 'new', now: 0 }
      given(createdMany(3))
        .when(command)
        .then(codedError('ChannelUnknown', { id: 9 }))
    },
  )

  it('are deleted by one event', () => {
    const command = { type: 'DeleteChannels', channelIds: [3, 1, 3] } as const
    const { facts, after } = given(createdMany(3)).when(command)
    expect(facts).toEqual([{ type: 'ChannelsDeleted', v: 1, data: { channelIds: [3, 1] } }])
    expect([...after.channels.keys()]).toEqual([2])
  })

  it('are deleted together if they are off, whatever turned them off', () => {
    const autoDisabled: ChannelEvent = {
      type: 'ChannelAutoDisabled',
      v: 1,
      data: { channelId: 2, reason: '401' },
    }
    const state = given(createdMany(3, { expiredTime: 500 }), disabled([1]), autoDisabled)
    const of = (channelIds: readonly number[]): ChannelEvent[] => [
      { type: 'ChannelsDeleted', v: 1, data: { channelIds } },
    ]
    state.when({ type: 'DeleteDisabledChannels', now: 499 }).then(of([1, 2]))
    state.when({ type: 'DeleteDisabledChannels', now: 500 }).then(of([1, 2, 3]))
    given(createdMany(2)).when({ type: 'DeleteDisabledChannels', now: 499 }).then([])
  })
})

describe('a tag', () => {
  it('is given to several channels at once, and must not be empty', () => {
    const command = { type: 'TagChannels', channelIds: [1, 2], tag: ' asia ' } as const
    given(createdMany(2), tagged([1], 'asia'))
      .when(command)
      .then([tagged([2], 'asia')])
    given(createdMany(2))
      .when({ ...command, tag: ' ' })
      .then(codedError('TagRequired'))
  })

  it('turns all of its channels off or on, and no other channel', () => {
    const before = given(createdMany(3), tagged([3], 'asia'))
    before.when({ type: 'DisableTag', tag: 'eu' }).then([disabled([1, 2], 'eu')])
    before.when({ type: 'EnableTag', tag: 'eu', now: 0 }).then([])
    before.when({ type: 'DisableTag', tag: ' ' }).then(codedError('TagRequired'))
    before.when({ type: 'DisableTag', tag: 'E' }).then(codedError('TagUnknown'))
  })

  it('turns on only those of its channels that have not expired', () => {
    const late = created({ tag: 'eu', expiredTime: 100 })
    const state = given(createdMany(2), late, disabled([1, 2, 4]))
    const on = (channelIds: readonly number[]): ChannelEvent[] => [
      { type: 'ChannelsEnabled', v: 1, data: { channelIds, tag: 'eu' } },
    ]
    state.when({ type: 'EnableTag', tag: 'eu', now: 100 }).then(on([1, 2]))
    state.when({ type: 'EnableTag', tag: 'eu', now: 99 }).then(on([1, 2, 4]))
  })

  it('is removed from several channels at once by null', () => {
    given(createdMany(3), tagged([2], 'asia'), tagged([3], ''))
      .when({ type: 'TagChannels', channelIds: [1, 2, 3], tag: null })
      .then([tagged([1, 2], '')])
  })

  it('changes the given fields in each of its channels that has another value', () => {
    const change = { priority: 7, models: ['x'], tag: 'west' }
    const { facts, after } = given(createdMany(2)).when({ type: 'ChangeTag', tag: 'eu', change })
    expect(facts).toEqual([
      { type: 'TagTermsChanged', v: 1, data: { tag: 'eu', channelIds: [1, 2], change } },
    ])
    expect(after.channels.get(2)?.terms).toEqual({ ...TERMS, name: 'c2', ...change })
    given(createdMany(2))
      .when({ type: 'ChangeTag', tag: 'eu', change: { priority: TERMS.priority } })
      .then([])
  })

  it('is removed from its channels by an empty new tag', () => {
    const { after } = given(createdMany(2)).when({
      type: 'ChangeTag',
      tag: 'eu',
      change: { tag: ' ' },
    })
    expect([...after.channels.values()].map(({ terms }) => terms.tag)).toEqual(['', ''])
  })

  it('changes no channel if the change is invalid or the tag is unknown', () => {
    const of = (change: object) => ({ type: 'ChangeTag', tag: 'eu', change }) as const
    given(createdMany(2))
      .when(of({ modelMapping: '{' }))
      .then(codedError('InvalidField', { field: 'model_mapping', error: 'not-json' }))
    given(createdMany(2))
      .when(of({ models: [] }))
      .then(codedError('ModelsRequired'))
    given(createdMany(2))
      .when({ ...of({}), tag: 'none' })
      .then(codedError('TagUnknown'))
  })
})

describe('the state of all channels', () => {
  it('is restored when an event is undone, whatever the event', () => {
    const commands = [
      createChannel(),
      { type: 'DisableTag', tag: 'eu' },
      { type: 'DeleteChannels', channelIds: [2] },
      { type: 'TagChannels', channelIds: [1], tag: 'x' },
      { type: 'FixAbilities' },
      { type: 'AutoDisableChannel', channelId: 3, reason: '401', substitutes: [] },
    ] as const
    for (const command of commands) {
      const { state } = given(createdMany(3))
      const before = structuredClone(state)
      const decided = channelsDecider.decide(command, state)
      if (!Array.isArray(decided)) throw new Error('refused')
      for (const event of decided as ChannelEvent[]) {
        const takeBack = channelsDecider.undo?.(state, event)
        channelsDecider.evolve(state, event)
        if (command.type !== 'FixAbilities') expect(state).not.toEqual(before)
        takeBack?.()
      }
      expect(state).toEqual(before)
    }
  })

  it('is identical after a snapshot of a thousand channels is restored', () => {
    const { state } = given(createdMany(1_000), disabled([7, 9]))
    const { snapshot } = channelsDecider
    const kept = JSON.parse(JSON.stringify(snapshot?.encode(state)))
    expect(snapshot?.decode(kept)).toEqual(state)
  })

  it('applies a change of a thousand channels within 20 ms', () => {
    const { state } = given(createdMany(1_000))
    const startedAt = threadCpuMs()
    for (let round = 0; round < 100; round += 1) {
      const tag = round % 2 === 0 ? 'a' : 'b'
      const channelIds = [...state.channels.keys()]
      const [event] = channelsDecider.decide({ type: 'TagChannels', channelIds, tag }, state) as [
        ChannelEvent,
      ]
      channelsDecider.evolve(state, event)
    }
    const ms = (threadCpuMs() - startedAt) / 100
    console.info(`a thousand channels tagged, decided and folded: ${ms.toFixed(2)} ms`)
    expect(ms).toBeLessThan(budget(20))
  })

  it('does not change when a channel is created again with the same key', () => {
    given(created()).when(createChannel({}, KEY)).then([])
  })
})
