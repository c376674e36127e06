import Type from 'typebox'
import { toWire } from '#domain/shared/quota.ts'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { notFound } from '#infra/http/http-errors.ts'
import type { Principal } from '#infra/http/principal.ts'
import { budgetsOf, type TokenBudget } from '#projections/balances/query.ts'
import {
  findToken,
  listTokens,
  TOKEN_SORTS,
  type TokenRow,
  type TokenSort,
  tokenKeysOf,
} from '#projections/tokens/query.ts'
import { Envelope, Page } from '../contract/envelope.ts'
import { Token, type TokenState } from '../contract/tokens.ts'
import { type App, IdParams, pageOf, Query, type ReadDeps, upToDate } from '../question.ts'

const ENABLED = 1
const DISABLED = 2
const EXPIRED = 3
const EXHAUSTED = 4
const MASK = '*'.repeat(12)

/**
 * A user's own tokens as the wire has them, never for anybody else's eyes. Keys go to a session
 * alone: an access token lies in scripts, and would be as good as all of them.
 */
async function ownTokenAnswers(
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

/** `GET /api/token/{id}`: one's own; another user's looks like none. */
export function getToken(app: App, deps: ReadDeps): void {
  app.get(
    '/api/token/:id',
    {
      schema: { params: IdParams, response: { 200: Envelope(Token) } },
      onRequest: onlyUser,
      preHandler: upToDate(deps, 'tokens', 'balances'),
    },
    async (request) => {
      const row = await findToken(deps.core.db, Number(request.params.id))
      const principal = principalOf(request)
      const isOwn = row?.userId === principal.userId && !row.isDeleted
      const [token] = isOwn && row !== null ? await ownTokenAnswers(deps, principal, [row]) : []
      if (token === undefined) throw notFound({ zh: '令牌不存在', en: 'No such token' })
      return success(token)
    },
  )
}

const OPENED_AT_ONCE = 100

/**
 * A user's tokens whose keys are the text, or hold it. Keys are kept encrypted: a whole one is
 * found by its keyed hash; for a part of one, all that the user has (a thousand at most) are
 * opened, some at a time, so that nobody else waits for long. By an access token whole ones are
 * found alone: by parts, a key could be read out letter by letter.
 */
export async function idsByKey(
  { core }: Pick<ReadDeps, 'core'>,
  { userId, sessionHash }: Pick<Principal, 'userId' | 'sessionHash'>,
  text: string,
): Promise<readonly number[]> {
  const key = text.trim().replace(/^sk-/, '')
  const refs = await tokenKeysOf(core.db, userId)
  const lookup = core.vault.keyedHash('token-key', key)
  const whole = refs.filter(({ keyLookup }) => keyLookup === lookup)
  if (whole.length > 0 || sessionHash === null) return whole.map(({ id }) => id)
  const found: number[] = []
  for (let from = 0; from < refs.length; from += OPENED_AT_ONCE) {
    const some = refs.slice(from, from + OPENED_AT_ONCE)
    const owned = some.map(({ id, keyRef }) => ({ owner: `token:${id}`, ref: keyRef }))
    const keys = await core.vault.getSecrets('token-key', owned)
    found.push(...some.filter(({ keyRef }) => keys.get(keyRef)?.includes(key)).map(({ id }) => id))
  }
  return found
}

const SearchTokens = Type.Object({
  ...Query.page,
  keyword: Query.text,
  token: Query.text,
  status: Type.Optional(Type.String({ pattern: '^[1-4]?$' })),
  sort: Type.Optional(Type.Union([...TOKEN_SORTS, ''].map((name) => Type.Literal(name)))),
  order: Type.Optional(Type.Union([Type.Literal('asc'), Type.Literal('desc'), Type.Literal('')])),
})

/** `GET /api/token/` and `/api/token/search`: one's own tokens, newest first unless sorted. */
export function listTokenRows(app: App, deps: ReadDeps): void {
  for (const path of ['/api/token/', '/api/token/search']) {
    app.get(
      path,
      {
        schema: { querystring: SearchTokens, response: { 200: Envelope(Page(Token)) } },
        onRequest: onlyUser,
        preHandler: upToDate(deps, 'tokens', 'balances'),
      },
      async (request) => {
        const { query } = request
        const principal = principalOf(request)
        const { userId } = principal
        const { page, limit, offset } = pageOf(query)
        const { rows, total } = await listTokens(deps.core.db, {
          userId,
          keyword: query.keyword ?? '',
          ids: query.token ? await idsByKey(deps, principal, query.token) : null,
          status: query.status ? Number(query.status) : null,
          sort: (query.sort || 'id') as TokenSort,
          isDescending: query.order !== 'asc',
          now: Math.floor(deps.core.now() / 1_000),
          limit,
          offset,
        })
        return success({ items: await ownTokenAnswers(deps, principal, rows), page, total })
      },
    )
  }
}
