import { secondsOfDateField } from '#console/ui/forms/date-field-text.ts'
import { bodyOf, changedFields } from '#console/ui/forms/resource-draft.ts'
import type { Channel } from '#read-api/contract/channels.ts'
import type { CreateChannel, UpdateChannel } from '#write-api/contract/channels.ts'
import { type ChannelDraft, FORM_FIELDS } from './channel-draft.ts'
import { cleanUrl, keysOf, needsKeyReentry } from './channel-keys.ts'

/**
 * Converts a draft to the body of a request. The caller must have checked the draft with
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
  const isSeveral = channel.multi_key_mode !== ''
  return {
    ...changedFields(termsOf(before), termsOf(after)),
    ...(keys.length === 0 ? {} : { key: keys.join('\n') }),
    ...(keys.length > 0 && isSeveral ? { key_mode: keyModeOf(before, after) } : {}),
    ...(isSeveral && before.multiKeyMode !== after.multiKeyMode
      ? { multi_key_mode: after.multiKeyMode }
      : {}),
    ...(after.enableKeys.length === 0 ? {} : { enable_keys: [...after.enableKeys] }),
  }
}

/**
 * Returns how the entered keys are stored. After a change of the address, they replace the stored
 * keys.
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
