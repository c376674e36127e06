import { onlyAdmin, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import {
  countRedemptionsByName,
  listRedemptions,
  type RedemptionRow,
} from '#projections/redemptions/query.ts'
import { REDEMPTION_FIELDS } from '../contract/redemption-fields.ts'
import { type Redemption, redemptionQueries } from '../contract/redemptions.ts'
import { responseOf } from '../contract/resource-field-definition.ts'
import {
  type App,
  orderOf,
  pageOf,
  type ReadDeps,
  upToDate,
} from '../read-dependencies-and-query-parameters.ts'

/**
 * Converts redemption codes to a response. If `withKeys` is true, the response contains the
 * complete codes that users enter. Only admins may receive complete codes.
 */
async function redemptionResponses(
  { core }: ReadDeps,
  rows: readonly RedemptionRow[],
  withKeys: boolean,
): Promise<Redemption[]> {
  const owned = withKeys ? rows.map(({ id, keyRef: ref }) => ({ owner: ownerOf(id), ref })) : []
  const keys = await core.vault.getSecrets('redemption-key', owned)
  return rows.map((row) =>
    responseOf(REDEMPTION_FIELDS, { ...row, key: keys.get(row.keyRef) ?? '' }),
  )
}

const ownerOf = (id: number): string => `redemption:${id}`

/**
 * `GET /api/redemption/` and `GET /api/redemption/search`, for admins: the redemption codes, by
 * default newest first.
 */
export function listRedemptionRows(app: App, deps: ReadDeps): void {
  for (const name of ['GET /api/redemption/', 'GET /api/redemption/search'] as const) {
    app.route({
      ...endpoint(redemptionQueries, name),

      onRequest: onlyAdmin,
      preHandler: upToDate(deps, 'redemptions'),

      handler: async (request) => {
        const { query } = request
        const { db, vault } = deps.core
        const { page, ...slice } = pageOf(query)
        const keyword = (query.keyword ?? '').trim()
        const { rows, total } = await listRedemptions(db, {
          keyword,
          keyLookup: vault.keyedHash('redemption-key', keyword),
          status: query.status ? Number(query.status) : null,
          ...orderOf(query),
          ...slice,
        })
        // An access token receives no complete codes, because anyone who has a code can redeem it.
        const { userId, sessionHash } = principalOf(request)
        const isSession = sessionHash !== null
        const items = await redemptionResponses(deps, rows, isSession)
        // Showing codes changes no state, so no event is recorded. The server log records who saw
        // which codes.
        const redemptionIds = rows.map(({ id }) => id)
        if (isSession && rows.length > 0) {
          request.log.info({ userId, redemptionIds }, 'audit: redemption keys were shown')
        }
        return success({ items, page, total })
      },
    })
  }
}

/**
 * `GET /api/redemption/count-by-name`: the number of redemption codes whose name is exactly the
 * requested name.
 */
export function countByName(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(redemptionQueries, 'GET /api/redemption/count-by-name'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'redemptions'),
    handler: async ({ query }) =>
      success(await countRedemptionsByName(deps.core.db, query.name.trim())),
  })
}
