import type { ChannelCommand } from '#domain/channels/commands.ts'
import { channelsDecider } from '#domain/channels/decide.ts'
import type { ChannelEvent, ChannelTerms, KeyMode } from '#domain/channels/events.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { specificationOf } from '#test/support/given-when-then.ts'

export const { given } = specificationOf(channelsDecider)

export const TERMS: ChannelTerms = {
  ...PLAIN_CHANNEL_TERMS,
  name: 'first',
  baseUrl: 'https://api.example.com',
  models: ['m'],
}
export const KEY = 'ref-1'

export const createChannel = (change: Partial<ChannelTerms> = {}, keyRef = KEY): ChannelCommand => {
  const terms = { ...TERMS, ...change }
  const channels = [{ channelId: 4, name: terms.name, keyRefs: [keyRef] }]
  return { type: 'CreateChannels', terms, channels, keyMode: '', isEnabled: true }
}

export const changeTerms = (
  change: Partial<ChannelTerms>,
  keyRef: string | null = null,
): ChannelCommand => ({
  type: 'ChangeTerms',
  channelId: 4,
  change,
  keys: keyRef === null ? null : { refs: [keyRef], isAppended: false },
  keyMode: null,
})

export const created = (change: Partial<ChannelTerms> = {}): ChannelEvent => ({
  type: 'ChannelsCreated',
  v: 1,
  data: {
    terms: { ...TERMS, ...change },
    channels: [{ channelId: 4, name: change.name ?? TERMS.name, keyRefs: [KEY] }],
    keyMode: '',
    isEnabled: true,
  },
})

/** Creates several channels with one tag, starting with channel 1. */
export const createdMany = (count: number, change: Partial<ChannelTerms> = {}): ChannelEvent => ({
  type: 'ChannelsCreated',
  v: 1,
  data: {
    terms: { ...TERMS, tag: 'eu', ...change },
    channels: Array.from({ length: count }, (_, index) => ({
      channelId: index + 1,
      name: `c${index + 1}`,
      keyRefs: [`ref-${index + 1}`],
    })),
    keyMode: '',
    isEnabled: true,
  },
})

/** Channel 4 with several keys. */
export const createdWithKeys = (
  keyRefs: readonly string[],
  keyMode: KeyMode = 'random',
  change: Partial<ChannelTerms> = {},
): ChannelEvent => ({
  type: 'ChannelsCreated',
  v: 1,
  data: {
    terms: { ...TERMS, ...change },
    channels: [{ channelId: 4, name: TERMS.name, keyRefs }],
    keyMode,
    isEnabled: true,
  },
})

export const changed = (change: Partial<ChannelTerms>, keyRef = KEY): ChannelEvent => ({
  type: 'ChannelTermsChanged',
  v: 1,
  data: {
    channelId: 4,
    terms: { ...TERMS, ...change },
    keyRefs: [keyRef],
    keyMode: '',
    droppedKeyRefs: keyRef === KEY ? [] : [KEY],
  },
})
