import { maskedSetting } from '#domain/shared/mask-proxy-credentials.ts'
import { toWire } from '#domain/shared/quota.ts'
import type { ChannelRow } from '#projections/channels/query.ts'
import { CHANNEL_FIELDS } from '../contract/channel-fields.ts'
import type { Channel } from '../contract/channels.ts'
import { answerOf } from '../contract/resource-field-definition.ts'

/**
 * Returns the response for admins, which contains no keys and no secrets. `now` is in Unix
 * milliseconds.
 */
export const channelResponse = ({ terms, ...row }: ChannelRow, now: number): Channel => ({
  id: row.id,
  name: terms.name,
  key: '',
  ...answerOf(CHANNEL_FIELDS, { ...terms, setting: maskedSetting(terms.setting) }),
  ...effectiveStatus(row, terms.expiredTime, now),
  response_time: row.responseTime,
  balance: Number(row.balance),
  used_quota: toWire(row.usedQuota),
  test_time: row.testedAt,
  test_failure: row.testFailure,
  balance_updated_time: row.balanceReadAt,
  created_time: row.createdAt,
  cost_ratio: terms.costRatio === undefined ? null : Number(terms.costRatio),
  multi_key_mode: row.keyMode,
  key_count: row.keyRefs.length,
  keys_set_aside: row.keysSetAside
    .map(({ keyRef, reason, at }) => ({ index: row.keyRefs.indexOf(keyRef), reason, time: at }))
    .sort((left, right) => left.index - right.index),
})

type Row = Pick<ChannelRow, 'status' | 'statusReason' | 'statusAt'>

/** Returns the status in responses. An expired channel counts as automatically disabled. */
function effectiveStatus(
  { status, statusReason, statusAt }: Row,
  expiredTime: number,
  now: number,
) {
  const isExpired = expiredTime > 0 && expiredTime * 1_000 <= now
  if (status === 1 && isExpired) {
    return { status: 3, expected_status: 3, other_info: statusInfo('expired', expiredTime) }
  }
  const other_info = statusReason === '' ? '' : statusInfo(statusReason, statusAt)
  return { status, expected_status: status, other_info }
}

const statusInfo = (reason: string, time: number): string =>
  JSON.stringify({ status_reason: reason, status_time: time })
