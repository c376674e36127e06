import { channelDecider } from '#domain/channel/decide.ts'
import type { ChannelEvent, ChannelTerms } from '#domain/channel/events.ts'
import { specificationOf } from '#test/support/decider.ts'

export const { given } = specificationOf(channelDecider)

export const TERMS: ChannelTerms = {
  name: 'first',
  type: 1,
  baseUrl: 'https://api.example.com',
  models: ['m'],
  groups: ['default'],
  priority: 0,
  weight: 0,
  tag: '',
  isAutoBan: true,
  testModel: '',
  organization: '',
  other: '',
  modelPrefix: '',
  maxInputTokens: 0,
  expiredTime: -1,
  modelMapping: '',
  statusCodeMapping: '',
  setting: '',
  paramOverride: '',
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
