import type { ChannelTerms } from '#domain/channels/events.ts'
import { INITIAL_TERMS } from '#write-api/channels/channel-terms-from-request.ts'

/** The default terms of a channel for one model. */
export const PLAIN_CHANNEL_TERMS: ChannelTerms = {
  ...INITIAL_TERMS,
  name: 'plain',
  models: ['sim-small'],
}
