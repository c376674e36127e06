import Type from 'typebox'
import { toWire } from '#domain/shared/quota.ts'
import { onlyAdmin, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import {
  countRedemptionsByName,
  listRedemptions,
  REDEMPTION_SORTS,
  type RedemptionRow,
  type RedemptionSort,
} from '#projections/redemptions/query.ts'
import { Envelope, Page } from '../contract/envelope.ts'
import { Redemption } from '../contract/redemptions.ts'
import { type App, pageOf, Query, type ReadDeps, upToDate } from '../route.ts'

/** The responses for codes; `withKeys` only for admins. */
async function redemptionAnswers(
  { core }: ReadDeps,
  rows: readonly RedemptionRow[],
  withKeys: boolean,
): Promise<Redemption[]> {
  const owned = withKeys ? rows.map(({ id, keyRef: ref }) => ({ owner: ownerOf(id), ref })) : []
  const keys = await core.vault.getSecrets('redemption-key', owned)
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    key: keys.get(row.keyRef) ?? '',
    key_hint: row.keyHint,
    quota: toWire(row.quota),
    status: row.status,
    created_time: row.createdAt,
    used_user_id: row.usedUserId,
    used_username: row.usedUsername,
    redeemed_time: row.redeemedAt,
    is_gift: row.isGift,
    max_uses: row.maxUses ?? -1,
    used_count: row.usedCount,
    valid_from: row.validFrom ?? 0,
    valid_until: row.validUntil ?? 0,
  }))
}

const ownerOf = (id: number): string => `redemption:${id}`

const SearchRedemptions = Type.Object({
  ...Query.page,
  keyword: Query.text,
  status: Type.Optional(Type.String({ pattern: '^[1-3]?$' })),
  sort: Type.Optional(Type.Union([...REDEMPTION_SORTS, ''].map((name) => Type.Literal(name)))),
  order: Type.Optional(Type.Union([Type.Literal('asc'), Type.Literal('desc'), Type.Literal('')])),
})

/** `GET /api/redemption/` and `search`, for admins: newest first unless sorted. */
export function listRedemptionRows(app: App, deps: ReadDeps): void {
  for (const path of ['/api/redemption/', '/api/redemption/search']) {
    app.get(
      path,
      {
        schema: { querystring: SearchRedemptions, response: { 200: Envelope(Page(Redemption)) } },
        onRequest: onlyAdmin,
        preHandler: upToDate(deps, 'redemptions'),
      },
      async (request) => {
        const { query } = request
        const { db, vault } = deps.core
        const { page, limit, offset } = pageOf(query)
        const keyword = (query.keyword ?? '').trim()
        const { rows, total } = await listRedemptions(db, {
          keyword,
          keyLookup: vault.keyedHash('redemption-key', keyword),
          status: query.status ? Number(query.status) : null,
          sort: (query.sort || 'id') as RedemptionSort,
          isDescending: query.order !== 'asc',
          limit,
          offset,
        })
        // Anybody with a key can redeem it, so keys are shown only in sessions, not to access
        // tokens.
        const { userId, sessionHash } = principalOf(request)
        const isSession = sessionHash !== null
        const items = await redemptionAnswers(deps, rows, isSession)
        // Showing keys changes nothing and needs no event; the log records who saw which keys.
        const redemptionIds = rows.map(({ id }) => id)
        if (isSession && rows.length > 0) {
          request.log.info({ userId, redemptionIds }, 'audit: redemption keys were shown')
        }
        return success({ items, page, total })
      },
    )
  }
}

const ByName = Type.Object({ name: Type.String({ maxLength: 200 }) })

/** `GET /api/redemption/count-by-name`: the number of codes with exactly this name. */
export function countByName(app: App, deps: ReadDeps): void {
  app.get(
    '/api/redemption/count-by-name',
    {
      schema: { querystring: ByName, response: { 200: Envelope(Type.Integer()) } },
      onRequest: onlyAdmin,
      preHandler: upToDate(deps, 'redemptions'),
    },
    async ({ query }) => success(await countRedemptionsByName(deps.core.db, query.name.trim())),
  )
}
