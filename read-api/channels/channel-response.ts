import { maskProxyPassword } from '#domain/shared/mask-proxy-credentials.ts'
import { toWire } from '#domain/shared/quota.ts'
import type { ChannelRow } from '#projections/channels/query.ts'
import { CHANNEL_FIELDS } from '../contract/channel-fields.ts'
import type { Channel } from '../contract/channels.ts'
import { responseOf } from '../contract/resource-field-definition.ts'

/**
 * Converts a channel to the response for admins. The response contains no keys and no secrets.
 * `now` is in Unix milliseconds.
 */
export function channelResponse({ terms, ...row }: ChannelRow, now: number): Channel {
  const channel = responseOf(CHANNEL_FIELDS, {
    ...row,
    ...terms,
    ...effectiveStatus(row, terms.expiredTime, now),
    key: '',
    setting: maskProxyPassword(terms.setting),
    balance: Number(row.balance),
    usedQuota: toWire(row.usedQuota),
    costRatio: terms.costRatio === undefined ? null : Number(terms.costRatio),
    keyCount: row.keyRefs.length,
  })
  return {
    ...channel,
    expected_status: channel.status,
    keys_set_aside: row.keysSetAside
      .map(({ keyRef, reason, at }) => ({ index: row.keyRefs.indexOf(keyRef), reason, time: at }))
      .sort((left, right) => left.index - right.index),
  }
}

type Row = Pick<ChannelRow, 'status' | 'statusReason' | 'statusAt'>

/**
 * Returns the status and the `other_info` that responses show. An enabled channel whose expiry has
 * passed is shown as automatically disabled.
 */
function effectiveStatus(
  { status, statusReason, statusAt }: Row,
  expiredTime: number,
  now: number,
) {
  const isExpired = expiredTime > 0 && expiredTime * 1_000 <= now
  if (status === 1 && isExpired) return { status: 3, otherInfo: statusInfo('expired', expiredTime) }
  return { status, otherInfo: statusReason === '' ? '' : statusInfo(statusReason, statusAt) }
}

const statusInfo = (reason: string, time: number): string =>
  JSON.stringify({ status_reason: reason, status_time: time })
