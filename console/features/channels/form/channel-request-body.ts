import { secondsOfDateField } from '#console/ui/forms/date-field-text.ts'
import { bodyOf, changedFields } from '#console/ui/forms/resource-draft.ts'
import type { Channel } from '#read-api/contract/channels.ts'
import type { CreateChannel, UpdateChannel } from '#write-api/contract/channels.ts'
import {
  type ChannelDraft,
  cleanUrl,
  FORM_FIELDS,
  keysOf,
  needsKeyReentry,
} from './channel-draft.ts'

/**
 * Returns the body of the request that creates a channel. The draft must be valid according to
 * `validateChannel`.
 */
export function createChannelBody(draft: ChannelDraft): CreateChannel {
  const mode =
    draft.keyMode === 'batch' || draft.keyMode === 'multi_to_single' ? draft.keyMode : 'single'
  return {
    ...termsOf(draft),
    key: keysOf(draft).join('\n'),
    mode,
    ...(mode === 'multi_to_single' ? { multi_key_mode: draft.multiKeyMode } : {}),
  }
}

export function updateChannelBody(
  channel: Channel,
  before: ChannelDraft,
  after: ChannelDraft,
): Partial<UpdateChannel> {
  const keys = keysOf(after)
  const hasSeveralKeys = channel.multi_key_mode !== ''
  return {
    ...changedFields(termsOf(before), termsOf(after)),
    ...(keys.length === 0 ? {} : { key: keys.join('\n') }),
    ...(keys.length > 0 && hasSeveralKeys ? { key_mode: keyModeOf(before, after) } : {}),
    ...(hasSeveralKeys && before.multiKeyMode !== after.multiKeyMode
      ? { multi_key_mode: after.multiKeyMode }
      : {}),
    ...(after.keyIndexesToEnable.length === 0
      ? {}
      : { enable_keys: [...after.keyIndexesToEnable] }),
  }
}

/**
 * Returns whether the entered keys replace the stored keys or are appended to them. If the
 * channel's type, address or proxy was changed, the entered keys always replace the stored keys.
 */
const keyModeOf = (before: ChannelDraft, after: ChannelDraft): 'replace' | 'append' =>
  after.keyMode === 'append' && !needsKeyReentry(before, after) ? 'append' : 'replace'

/** The expiry that the API uses for a channel that does not expire. */
const NEVER = -1

const termsOf = (draft: ChannelDraft) => ({
  ...bodyOf(FORM_FIELDS, draft),
  type: draft.type,
  name: draft.name.trim(),
  base_url: cleanUrl(draft.baseUrl),
  openai_organization: draft.openai_organization.trim(),
  cost_ratio: draft.costRatio.trim() === '' ? null : Number(draft.costRatio),
  expired_time: secondsOfDateField(draft.expiresAt) ?? NEVER,
})
