import { toWire } from '#domain/shared/quota.ts'
import type { Principal } from '#infra/http/principal.ts'
import { budgetsOf, type TokenBudget } from '#projections/balances/query.ts'
import type { TokenRow } from '#projections/tokens/query.ts'
import type { Token, TokenState } from '../contract/token.ts'
import type { ReadDeps } from '../question.ts'

const ENABLED = 1
const DISABLED = 2
const EXPIRED = 3
const EXHAUSTED = 4
const MASK = '*'.repeat(12)

/**
 * A user's own tokens as the wire has them, never for anybody else's eyes. Keys go to a session
 * alone: an access token lies in scripts, and would be as good as all of them.
 */
export async function ownTokenAnswers(
  { core }: ReadDeps,
  { sessionHash }: Pick<Principal, 'sessionHash'>,
  rows: readonly TokenRow[],
): Promise<Token[]> {
  const [budgets, keys] = await Promise.all([
    budgetsOf(
      core.db,
      rows.map(({ id }) => id),
    ),
    sessionHash === null
      ? new Map(rows.map(({ keyRef, keyHint }) => [keyRef, `${MASK}${keyHint}`]))
      : core.vault.getSecrets(
          'token-key',
          rows.map(({ id, keyRef }) => ({ owner: `token:${id}`, ref: keyRef })),
        ),
  ])
  const now = Math.floor(core.now() / 1_000)
  return Promise.all(
    rows.map(async (row) => {
      const { userId, allowIps, keyRef } = row
      const ips = allowIps === null ? '' : ((await core.vault.open(userId, allowIps)) ?? '')
      return tokenAnswer(row, budgets.get(row.id), keys.get(keyRef) ?? '', ips, now)
    }),
  )
}

function tokenAnswer(
  row: TokenRow,
  budget: TokenBudget | undefined,
  key: string,
  allowIps: string,
  now: number,
): Token {
  return {
    ...tokenState(row, budget, now),
    user_id: row.userId,
    key,
    created_time: row.createdAt,
    rate_limit_enabled: row.rateLimit.isEnabled,
    rate_limit_period: row.rateLimit.periodSeconds,
    rate_limit_count: row.rateLimit.count,
    rate_limit_success: row.rateLimit.success,
    rate_limit_tpm: row.tokensPerMinute,
    max_concurrency: row.maxConcurrency,
    model_limits_enabled: row.models !== null,
    model_limits: (row.models ?? []).join(','),
    allow_ips: allowIps,
    group: row.group,
  }
}

/** `now` in unix seconds. */
export const tokenState = (
  row: TokenRow,
  budget: TokenBudget | undefined,
  now: number,
): TokenState => ({
  id: row.id,
  name: row.name,
  status: statusOf(row, budget, now),
  remain_quota: toWire(budget?.remain ?? 0n),
  used_quota: toWire(budget?.usedQuota ?? 0n),
  unlimited_quota: budget?.isUnlimited ?? false,
  expired_time: row.expiresAt ?? -1,
  accessed_time: budget?.accessedAt ?? 0,
})

function statusOf(row: TokenRow, budget: TokenBudget | undefined, now: number): number {
  if (!row.isEnabled) return DISABLED
  if (row.expiresAt !== null && row.expiresAt <= now) return EXPIRED
  return budget !== undefined && isLeft(budget) ? ENABLED : EXHAUSTED
}

/** What is held for calls under way may come back. */
const isLeft = ({ isUnlimited, remain, held }: TokenBudget): boolean =>
  isUnlimited || remain > 0n || remain + held > 0n
