import type { Claim } from '#infra/limits/port.ts'

const MINUTE_MS = 60_000

/**
 * The limits of one channel. Channels that were created before these limits existed have no limits.
 */
export type ChannelLimits = { readonly maxConcurrency?: number; readonly maxRpm?: number }

/**
 * Returns the limits that an attempt at the channel must pass, or null when the channel's terms set
 * no limits.
 */
export function channelClaims(
  channelId: number,
  { maxConcurrency = 0, maxRpm = 0 }: ChannelLimits,
): readonly Claim[] | null {
  if (maxConcurrency <= 0 && maxRpm <= 0) return null
  const claims: Claim[] = []
  const key = `channel:${channelId}`
  if (maxConcurrency > 0) claims.push({ kind: 'permits', key, max: maxConcurrency })
  if (maxRpm > 0) {
    claims.push({ kind: 'rate', key, max: maxRpm, periodMs: MINUTE_MS, isRefundable: true })
  }
  return claims
}
