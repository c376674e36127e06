import { toWire } from '#domain/shared/quota.ts'
import type { ChannelRow } from '#projections/channels/query.ts'
import type { Channel } from '../contract/channel.ts'

/** A channel as admins see it: all but its key. */
export const channelAnswer = ({ terms, ...row }: ChannelRow): Channel => ({
  id: row.id,
  name: terms.name,
  type: terms.type,
  key: '',
  openai_organization: terms.organization,
  max_input_tokens: terms.maxInputTokens,
  base_url: terms.baseUrl,
  other: terms.other,
  model_mapping: terms.modelMapping,
  status_code_mapping: terms.statusCodeMapping,
  models: terms.models.join(','),
  auto_ban: terms.isAutoBan ? 1 : 0,
  test_model: terms.testModel,
  group: terms.groups.join(','),
  priority: terms.priority,
  weight: terms.weight,
  tag: terms.tag,
  model_prefix: terms.modelPrefix,
  setting: terms.setting,
  param_override: terms.paramOverride,
  status: row.status,
  response_time: 0,
  balance: 0,
  used_quota: toWire(row.usedQuota),
  expired_time: terms.expiredTime,
  other_info:
    row.statusReason === ''
      ? ''
      : JSON.stringify({ status_reason: row.statusReason, status_time: row.statusAt }),
  test_time: 0,
  balance_updated_time: 0,
  created_time: row.createdAt,
})
