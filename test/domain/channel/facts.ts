import { channelDecider } from '#domain/channel/decide.ts'
import type { ChannelEvent, ChannelTerms } from '#domain/channel/events.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { specificationOf } from '#test/support/decider.ts'

export const { given } = specificationOf(channelDecider)

export const TERMS: ChannelTerms = {
  ...PLAIN_CHANNEL_TERMS,
  name: 'first',
  baseUrl: 'https://api.example.com',
  models: ['m'],
}
export const KEY = 'ref-1'

export const createChannel = (change: Partial<ChannelTerms> = {}, keyRef = KEY) =>
  ({ type: 'CreateChannel', channelId: 4, terms: { ...TERMS, ...change }, keyRef }) as const

export const changeTerms = (change: Partial<ChannelTerms>, keyRef: string | null = null) =>
  ({ type: 'ChangeTerms', terms: { ...TERMS, ...change }, keyRef }) as const

export const created = (change: Partial<ChannelTerms> = {}): ChannelEvent => ({
  type: 'ChannelCreated',
  v: 1,
  data: { channelId: 4, terms: { ...TERMS, ...change }, keyRef: KEY },
})

export const changed = (change: Partial<ChannelTerms>, keyRef = KEY): ChannelEvent => ({
  type: 'ChannelTermsChanged',
  v: 1,
  data: { channelId: 4, terms: { ...TERMS, ...change }, keyRef },
})
