import { secondsOfDateField } from '#console/ui/forms/date-field.ts'
import type { Channel } from '#read-api/contract/channels.ts'
import type { CreateChannel, UpdateChannel } from '#write-api/contract/channels.ts'
import type { ChannelDraft } from './channel-draft.ts'
import { cleanUrl, keysOf, needsKeyAgain } from './channel-keys.ts'

/** Builds the request that creates channels. The form must be free of errors (`channelFaults`). */
export function createdTerms(draft: ChannelDraft): CreateChannel {
  const mode =
    draft.keyMode === 'batch' || draft.keyMode === 'multi_to_single' ? draft.keyMode : 'single'
  return {
    ...termsOf(draft),
    key: keysOf(draft).join('\n'),
    mode,
    ...(mode === 'multi_to_single' ? { multi_key_mode: draft.multiKeyMode } : {}),
  }
}

/**
 * Returns the fields that the user has changed, for the update request. The result is empty if the
 * user changed nothing.
 */
export function changedTerms(
  channel: Channel,
  before: ChannelDraft,
  after: ChannelDraft,
): Partial<UpdateChannel> {
  const old: Readonly<Record<string, unknown>> = termsOf(before)
  const entries = Object.entries(termsOf(after)).filter(([field, value]) => old[field] !== value)
  const keys = keysOf(after)
  const isSeveral = channel.multi_key_mode !== ''
  return {
    ...Object.fromEntries(entries),
    ...(keys.length === 0 ? {} : { key: keys.join('\n') }),
    ...(keys.length > 0 && isSeveral ? { key_mode: keyModeOf(before, after) } : {}),
    ...(isSeveral && before.multiKeyMode !== after.multiKeyMode
      ? { multi_key_mode: after.multiKeyMode }
      : {}),
    ...(after.enableKeys.length === 0 ? {} : { enable_keys: [...after.enableKeys] }),
  }
}

/**
 * Returns how the server uses the entered keys. If the address has changed, the entered keys
 * replace the stored keys, because the stored keys belong to the old address.
 */
export const keyModeOf = (before: ChannelDraft, after: ChannelDraft): 'replace' | 'append' =>
  after.keyMode === 'append' && !needsKeyAgain(before, after) ? 'append' : 'replace'

/** The API value of `expires_at` for a channel without expiry. */
const NEVER = -1

const termsOf = (draft: ChannelDraft) => ({
  type: draft.type,
  name: draft.name.trim(),
  base_url: cleanUrl(draft.baseUrl),
  other: draft.other.trim(),
  openai_organization: draft.openai_organization.trim(),
  models: draft.models.join(','),
  group: draft.groups.join(','),
  model_prefix: draft.modelPrefix.trim(),
  model_mapping: draft.modelMapping.trim(),
  test_model: draft.testModel.trim(),
  tag: draft.tag.trim(),
  priority: Number(draft.priority),
  weight: Number(draft.weight),
  auto_ban: draft.autoBan ? 1 : 0,
  max_concurrency: Number(draft.maxConcurrency),
  max_rpm: Number(draft.maxRpm),
  max_input_tokens: Number(draft.maxInputTokens),
  cost_ratio: draft.costRatio.trim() === '' ? null : Number(draft.costRatio),
  expired_time: secondsOfDateField(draft.expiresAt) ?? NEVER,
  status_code_mapping: draft.statusCodeMapping.trim(),
  param_override: draft.paramOverride.trim(),
  setting: draft.setting.trim(),
})
