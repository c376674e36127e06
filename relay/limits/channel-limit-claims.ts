import type { Claim } from '#infra/limits/port.ts'

const MINUTE_MS = 60_000

/** Channels that were created before these limits existed have no limits. */
export type ChannelLimits = { readonly maxConcurrency?: number; readonly maxRpm?: number }

/** Returns the limits for an attempt at the channel; null when its terms set no limits. */
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
