import { describe, expect, it } from 'vitest'
import type { ChannelEvent } from '#domain/channels/events.ts'
import { codedError } from '#domain/shared/coded-error.ts'
import { changed, changeTerms, createChannel, created, createdMany, given } from './facts.ts'

const several = { channelIds: [4], tag: null }
const enabled: ChannelEvent = { type: 'ChannelsEnabled', v: 1, data: several }
const disabled: ChannelEvent = { type: 'ChannelsDisabled', v: 1, data: several }
const autoDisabled: ChannelEvent = {
  type: 'ChannelAutoDisabled',
  v: 1,
  data: { channelId: 4, reason: '401' },
}
const deleted: ChannelEvent = { type: 'ChannelsDeleted', v: 1, data: { channelIds: [4] } }
const enable = { type: 'EnableChannels', channelIds: [4], now: 100 } as const
const disable = { type: 'DisableChannels', channelIds: [4] } as const
const autoDisable = {
  type: 'AutoDisableChannel',
  channelId: 4,
  reason: '401',
  substitutes: [],
} as const
const autoEnable = { type: 'AutoEnableChannel', channelId: 4 } as const
const remove = { type: 'DeleteChannels', channelIds: [4] } as const

describe('a channel’s status', () => {
  it('switches between off and on; a repeat changes nothing', () => {
    given(created()).when(disable).then([disabled])
    given(created(), disabled).when(disable).then([])
    given(created(), disabled).when(enable).then([enabled])
    given(created()).when(enable).then([])
  })

  it('cannot be turned on once the channel has expired', () => {
    given(created({ expiredTime: 100 }), disabled)
      .when(enable)
      .then(codedError('ChannelExpired'))
    given(created({ expiredTime: 100 }), disabled)
      .when({ ...enable, now: 99 })
      .then([enabled])
    // The command is refused although the channel is enabled already, because the channel has
    // expired.
    given(created({ expiredTime: 100 }))
      .when(enable)
      .then(codedError('ChannelExpired'))
  })

  it('is turned off once by the gateway, which records the reason', () => {
    given(created()).when(autoDisable).then([autoDisabled])
    given(created(), autoDisabled).when(autoDisable).then([])
  })

  it('is not turned off by the gateway while no other channel serves one of its models', () => {
    const three = given(createdMany(3))
    const off = (channelId: number, substitutes: readonly (readonly number[])[]) =>
      ({ type: 'AutoDisableChannel', channelId, reason: '401', substitutes }) as const
    const isOff = (channelId: number): ChannelEvent => ({
      ...{ type: 'ChannelAutoDisabled', v: 1, data: { channelId, reason: '401' } },
    })
    three.when(off(1, [[2], []])).then([])
    three.when(off(1, [[2], [3, 9]])).then([isOff(1)])
    three.when(off(1, [[2], [9]])).then([])
    // The command was sent before the other channel was disabled.
    const second = given(createdMany(3), isOff(2))
    second.when(off(1, [[2], [3]])).then([])
    second.when(off(1, [[2, 3], [3]])).then([isOff(1)])
  })

  it('is not changed by the gateway if the admin forbade that or turned the channel off', () => {
    given(created({ isAutoBan: false }))
      .when(autoDisable)
      .then([])
    given(created(), disabled).when(autoDisable).then([])
  })

  it('can be turned on again, or off by an admin, after the gateway turned it off', () => {
    given(created(), autoDisabled).when(enable).then([enabled])
    given(created(), autoDisabled).when(disable).then([disabled])
    given(created(), autoDisabled).when(autoEnable).then([enabled])
    given(created(), disabled).when(autoEnable).then([])
  })

  it('is not affected by a change of terms', () => {
    const { state } = given(created(), disabled, changed({ priority: 1 }))
    expect(state.channels.get(4)?.status).toBe('disabled')
  })
})

describe('a channel that does not exist', () => {
  it.each([changeTerms({}), autoDisable, autoEnable])('is reported as unknown by $type', (act) => {
    given().when(act).then(codedError('ChannelUnknown'))
    given(created(), deleted).when(act).then(codedError('ChannelUnknown'))
  })

  it.each([enable, disable])('is reported as unknown, with its id, by $type', (act) => {
    given(created(), deleted)
      .when(act)
      .then(codedError('ChannelUnknown', { id: 4 }))
  })

  it('cannot be deleted again, and its id cannot be reused', () => {
    given(created()).when(remove).then([deleted])
    given(created(), deleted).when(remove).then(codedError('ChannelUnknown'))
    given(created(), deleted)
      .when(createChannel({}, 'ref-2'))
      .then(codedError('ChannelExists', { next: 5 }))
  })
})
