import type { ChannelTerms } from '#domain/channel/events.ts'

/** A whole set of channel terms that says as little as it can: tests spread what they mean. */
export const PLAIN_CHANNEL_TERMS: ChannelTerms = {
  name: 'plain',
  type: 1,
  baseUrl: '',
  models: ['sim-small'],
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
  maxConcurrency: 0,
  maxRpm: 0,
  modelMapping: '',
  statusCodeMapping: '',
  setting: '',
  paramOverride: '',
}
