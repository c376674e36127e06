import type { Claim } from '#infra/limits/port.ts'

const MINUTE_MS = 60_000

/** Terms of channels made before there were limits have none. */
export type ChannelLimits = { readonly maxConcurrency?: number; readonly maxRpm?: number }

/** What a try at the channel has to fit into; null when its terms set no limit. */
export function channelClaims(
  channelId: number,
  { maxConcurrency = 0, maxRpm = 0 }: ChannelLimits,
): readonly Claim[] | null {
  if (maxConcurrency <= 0 && maxRpm <= 0) return null
  const claims: Claim[] = []
  const key = `channel:${channelId}`
  if (maxConcurrency > 0) claims.push({ kind: 'seats', key, max: maxConcurrency })
  if (maxRpm > 0) {
    claims.push({ kind: 'rate', key, max: maxRpm, periodMs: MINUTE_MS, isRefundable: true })
  }
  return claims
}
