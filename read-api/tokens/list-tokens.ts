import type { Sealed } from '#domain/shared/event.ts'
import { toWire } from '#domain/shared/quota.ts'
import { onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { notFound } from '#infra/http/http-error-class-and-catalogue.ts'
import type { Principal } from '#infra/http/principal.ts'
import { success } from '#infra/http/response-envelope.ts'
import { budgetsOf, type TokenBudget } from '#projections/balances/query.ts'
import { findToken, listTokens, type TokenRow, tokenKeysOf } from '#projections/tokens/query.ts'
import { openValues, responseOf } from '../contract/resource-field-definition.ts'
import {
  RATE_LIMIT_FIELDS,
  TOKEN_FIELDS,
  TOKEN_STATE_FIELDS,
  TOKEN_TERMS,
} from '../contract/token-fields.ts'
import { type Token, type TokenState, tokenQueries } from '../contract/tokens.ts'
import {
  type App,
  orderOf,
  pageOf,
  type ReadDeps,
  upToDate,
} from '../read-dependencies-and-query-parameters.ts'

const ENABLED = 1
const DISABLED = 2
const EXPIRED = 3
const EXHAUSTED = 4
const MASK = '*'.repeat(12)

/**
 * Converts tokens of the caller to a response. Only a session receives complete keys. An access
 * token may leak from a script and therefore receives only masked keys. Remembers the returned
 * budgets for the session or access token. If the caller later sets a budget without
 * `expected_remain_quota`, the server uses the remembered budget as `expected_remain_quota`.
 */
async function ownTokenResponses(
  { core, shownBudgets }: ReadDeps,
  principal: Principal,
  rows: readonly TokenRow[],
): Promise<Token[]> {
  const { sessionHash } = principal
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
  const tokens = await Promise.all(
    rows.map(async (row) => {
      const open = (text: Sealed) => core.vault.open(row.userId, text)
      const values = {
        ...row,
        ...(await openValues(TOKEN_TERMS, row, open)),
        ...stateOf(row, budgets.get(row.id), now),
        key: keys.get(row.keyRef) ?? '',
        hasModelLimits: row.models !== null,
        models: row.models ?? [],
      }
      const token = responseOf(TOKEN_FIELDS, values)
      const limits = responseOf(RATE_LIMIT_FIELDS, row.rateLimit)
      return { ...token, expected_remain_quota: token.remain_quota, ...limits }
    }),
  )
  await shownBudgets.remember(principal, new Map(tokens.map((one) => [one.id, one.remain_quota])))
  return tokens
}

/**
 * Returns the fields that change when a token is used or when time passes. `now` is in Unix
 * seconds.
 */
export const tokenState = (
  row: TokenRow,
  budget: TokenBudget | undefined,
  now: number,
): TokenState => responseOf(TOKEN_STATE_FIELDS, stateOf(row, budget, now))

const stateOf = (row: TokenRow, budget: TokenBudget | undefined, now: number) => ({
  id: row.id,
  name: row.name,
  status: statusOf(row, budget, now),
  remainQuota: toWire(budget?.remain ?? 0n),
  usedQuota: toWire(budget?.usedQuota ?? 0n),
  isUnlimited: budget?.isUnlimited ?? false,
  budgetVersion: budget?.edits ?? 0,
  expiredTime: row.expiresAt ?? -1,
  accessedAt: budget?.accessedAt ?? 0,
})

function statusOf(row: TokenRow, budget: TokenBudget | undefined, now: number): number {
  if (!row.isEnabled) return DISABLED
  if (row.expiresAt !== null && row.expiresAt <= now) return EXPIRED
  return budget !== undefined && hasQuota(budget) ? ENABLED : EXHAUSTED
}

/**
 * Reports whether the token can still pay for calls. Quota that running calls have set aside counts
 * too, because the calls may release this quota.
 */
const hasQuota = ({ isUnlimited, remain, held }: TokenBudget): boolean =>
  isUnlimited || remain > 0n || remain + held > 0n

/**
 * `GET /api/token/{id}`: one of the caller's tokens. The error for a token of another user is the
 * same as for a token that does not exist.
 */
export function getToken(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(tokenQueries, 'GET /api/token/:id'),
    onRequest: onlyUser,
    preHandler: upToDate(deps, 'tokens', 'balances'),
    handler: async (request) => {
      const row = await findToken(deps.core.db, Number(request.params.id))
      const principal = principalOf(request)
      const isOwn = row?.userId === principal.userId && !row.isDeleted
      const [token] = isOwn && row !== null ? await ownTokenResponses(deps, principal, [row]) : []
      if (token === undefined) throw notFound('token')
      return success(token)
    },
  })
}

const DECRYPT_BATCH = 100

/**
 * Returns the ids of the user's tokens whose key contains a text. A complete key is found by its
 * keyed hash. For a part of a key, all keys of the user (at most a thousand) are decrypted in
 * batches. An access token can't search for parts, because such searches would reveal a key letter
 * by letter.
 */
export async function idsByKey(
  { core }: Pick<ReadDeps, 'core'>,
  { userId, sessionHash }: Pick<Principal, 'userId' | 'sessionHash'>,
  text: string,
): Promise<readonly number[]> {
  const key = text.trim().replace(/^sk-/, '')
  const refs = await tokenKeysOf(core.db, userId)
  const lookup = core.vault.keyedHash('token-key', key)
  const exact = refs.filter(({ keyLookup }) => keyLookup === lookup)
  if (exact.length > 0 || sessionHash === null) return exact.map(({ id }) => id)
  const ids: number[] = []
  for (let from = 0; from < refs.length; from += DECRYPT_BATCH) {
    const batch = refs.slice(from, from + DECRYPT_BATCH)
    const owned = batch.map(({ id, keyRef }) => ({ owner: `token:${id}`, ref: keyRef }))
    const keys = await core.vault.getSecrets('token-key', owned)
    ids.push(...batch.filter(({ keyRef }) => keys.get(keyRef)?.includes(key)).map(({ id }) => id))
  }
  return ids
}

/** `GET /api/token/` and `GET /api/token/search`: the caller's tokens, by default newest first. */
export function listTokenRows(app: App, deps: ReadDeps): void {
  for (const name of ['GET /api/token/', 'GET /api/token/search'] as const) {
    app.route({
      ...endpoint(tokenQueries, name),

      onRequest: onlyUser,
      preHandler: upToDate(deps, 'tokens', 'balances'),

      handler: async (request) => {
        const { query } = request
        const principal = principalOf(request)
        const { userId } = principal
        const { page, ...slice } = pageOf(query)
        const { rows, total } = await listTokens(deps.core.db, {
          userId,
          keyword: query.keyword ?? '',
          ids: query.token ? await idsByKey(deps, principal, query.token) : null,
          status: query.status ? Number(query.status) : null,
          ...orderOf(query),
          now: Math.floor(deps.core.now() / 1_000),
          ...slice,
        })
        return success({ items: await ownTokenResponses(deps, principal, rows), page, total })
      },
    })
  }
}
