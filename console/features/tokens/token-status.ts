import type { Token } from '#read-api/contract/tokens.ts'

export type TokenState = 'enabled' | 'restricted' | 'disabled' | 'expired' | 'exhausted' | 'unknown'

const STATES: Readonly<Record<number, TokenState>> = {
  1: 'enabled',
  2: 'disabled',
  3: 'expired',
  4: 'exhausted',
}

/**
 * Returns the state to show for a token. The state of an enabled token that may call only certain
 * models is `restricted`.
 */
export function tokenState(token: Pick<Token, 'status' | 'model_limits_enabled'>): TokenState {
  const state = STATES[token.status] ?? 'unknown'
  return state === 'enabled' && token.model_limits_enabled ? 'restricted' : state
}

/**
 * Returns an enabled or exhausted token with the status 3 (expired) if its expiry has passed at
 * `now` (Unix seconds). Otherwise, returns the token unchanged.
 */
export const withExpiredStatus = <T extends Pick<Token, 'status' | 'expired_time'>>(
  token: T,
  now: number,
): T => (hasExpired(token, now) ? { ...token, status: 3 } : token)

const hasExpired = (
  { status, expired_time: end }: Pick<Token, 'status' | 'expired_time'>,
  now: number,
) => end >= 0 && end <= now && (status === 1 || status === 4)

export function toggledStatus(status: number): 1 | 2 | null {
  if (status === 1) return 2
  return status === 2 ? 1 : null
}

/** Returns the used share of the token's quota in percent, as an integer from 0 to 100. */
export function usedPercent(token: Pick<Token, 'used_quota' | 'remain_quota'>): number {
  const used = BigInt(token.used_quota)
  const remain = token.remain_quota > 0 ? BigInt(token.remain_quota) : 0n
  return used + remain === 0n ? 0 : Number((used * 100n) / (used + remain))
}
