import { describe, expect, it } from 'vitest'
import type { ChannelEvent } from '#domain/channel/events.ts'
import { refuse } from '#domain/shared/refusal.ts'
import { changed, changeTerms, createChannel, created, given } from './facts.ts'

const of = { channelId: 4 }
const enabled: ChannelEvent = { type: 'ChannelEnabled', v: 1, data: of }
const disabled: ChannelEvent = { type: 'ChannelDisabled', v: 1, data: of }
const autoDisabled: ChannelEvent = {
  type: 'ChannelAutoDisabled',
  v: 1,
  data: { ...of, reason: '401' },
}
const deleted: ChannelEvent = { type: 'ChannelDeleted', v: 1, data: of }
const enable = { type: 'EnableChannel' } as const
const disable = { type: 'DisableChannel' } as const
const autoDisable = { type: 'AutoDisableChannel', reason: '401' } as const

describe('a channel’s status', () => {
  it('goes off and on, each once', () => {
    given(created()).when(disable).then([disabled])
    given(created(), disabled).when(disable).then([])
    given(created(), disabled).when(enable).then([enabled])
    given(created()).when(enable).then([])
  })

  it('is turned off by the gateway, with the reason, once', () => {
    given(created()).when(autoDisable).then([autoDisabled])
    given(created(), autoDisabled).when(autoDisable).then([])
  })

  it('stays on where the admin forbade that, and off as the admin left it', () => {
    given(created({ isAutoBan: false }))
      .when(autoDisable)
      .then([])
    given(created(), disabled).when(autoDisable).then([])
  })

  it('from the gateway’s off goes on again, or off for good', () => {
    given(created(), autoDisabled).when(enable).then([enabled])
    given(created(), autoDisabled).when(disable).then([disabled])
  })

  it('is not touched by a change of terms', () => {
    const { state } = given(created(), disabled, changed({ priority: 1 }))
    expect(state.channel?.status).toBe('disabled')
  })
})

describe('a channel that is none', () => {
  const acts = [changeTerms({}), enable, disable, autoDisable, { type: 'DeleteChannel' } as const]

  it.each(acts)('is unknown to $type', (act) => {
    given().when(act).then(refuse('ChannelUnknown'))
    given(created(), deleted).when(act).then(refuse('ChannelUnknown'))
  })

  it('is deleted once, and its id stays taken', () => {
    given(created()).when({ type: 'DeleteChannel' }).then([deleted])
    given(created(), deleted).when(createChannel({}, 'ref-2')).then(refuse('ChannelExists'))
  })
})
