import type { FastifyRequest } from 'fastify'
import { toWire } from '#domain/shared/quota.ts'
import { onlyAdmin, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { notFound } from '#infra/http/http-error-class-and-catalogue.ts'
import { success } from '#infra/http/response-envelope.ts'
import { type Account, accountsOf } from '#projections/balances/query.ts'
import { credentialsOf, passkeysOf } from '#projections/credentials/query.ts'
import { findUser, listUsers, type UserRow } from '#projections/users/query.ts'
import { responseOf } from '../contract/resource-field-definition.ts'
import { USER_FIELDS, USER_SETTING_FIELDS } from '../contract/user-fields.ts'
import { type User, userQueries } from '../contract/users.ts'
import {
  type App,
  orderOf,
  pageOf,
  type ReadDeps,
  upToDate,
} from '../read-dependencies-and-query-parameters.ts'

export async function userResponses({ core }: ReadDeps, rows: readonly UserRow[]): Promise<User[]> {
  const accounts = await accountsOf(
    core.db,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => userResponse(row, accounts.get(row.id)))
}

/**
 * Converts users to a response that repeats each balance as `expected_quota`. Remembers the
 * returned balances for the caller's session or access token. If the caller later sets a balance
 * without `expected_quota`, the server uses the remembered balance as `expected_quota`.
 */
async function changeableUsers(
  deps: ReadDeps,
  request: FastifyRequest,
  rows: readonly UserRow[],
): Promise<User[]> {
  const users = await userResponses(deps, rows)
  const balances = new Map(users.map(({ id, quota }) => [id, quota]))
  await deps.shownBalances.remember(principalOf(request), balances)
  return users.map((user) => ({ ...user, expected_quota: user.quota }))
}

// NOTE: Only the columns of `USER_FIELDS` are returned. Other columns, such as the reference of the
// password, must never be returned.
const userResponse = (row: UserRow, account: Account | undefined): User =>
  responseOf(USER_FIELDS, {
    ...row,
    quota: toWire(account?.balance ?? 0n),
    usedQuota: toWire(account?.usedQuota ?? 0n),
    requestCount: account?.requestCount ?? 0,
    affCount: account?.affCount ?? 0,
    affQuota: toWire(account?.affQuota ?? 0n),
    affHistoryQuota: toWire(account?.affHistoryQuota ?? 0n),
    setting: JSON.stringify(responseOf(USER_SETTING_FIELDS, row.settings)),
  })

/** `GET /api/user/{id}`, for admins: one user. */
export function getUser(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(userQueries, 'GET /api/user/:id'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'users', 'balances', 'credentials'),
    handler: async (request) => {
      const row = await findUser(deps.core.db, Number(request.params.id))
      const [user] = row === null ? [] : await changeableUsers(deps, request, [row])
      if (user === undefined) throw notFound('user')
      return success({ ...user, has_second_factor: await hasSecondFactor(deps, user.id) })
    },
  })
}

async function hasSecondFactor({ core }: ReadDeps, userId: number): Promise<boolean> {
  const [credentials, passkeys] = await Promise.all([
    credentialsOf(core.db, userId),
    passkeysOf(core.db, userId),
  ])
  return credentials?.totpSince != null || passkeys.length > 0
}

/**
 * `GET /api/user/` and `GET /api/user/search`, for admins: all users, including deactivated ones,
 * by default newest first.
 */
export function listUserRows(app: App, deps: ReadDeps): void {
  for (const name of ['GET /api/user/', 'GET /api/user/search'] as const) {
    app.route({
      ...endpoint(userQueries, name),

      onRequest: onlyAdmin,
      preHandler: upToDate(deps, 'users', 'balances'),

      handler: async (request) => {
        const { query } = request
        const { page, ...slice } = pageOf(query)
        const { keyword = '', group = '' } = query
        const search = { keyword, group, ...slice, ...orderOf(query) }
        const { rows, total } = await listUsers(deps.core.db, search)
        const items = await changeableUsers(deps, request, rows)
        return success({ items, page, total })
      },
    })
  }
}
