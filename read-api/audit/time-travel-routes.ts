import { OPTIONS_STREAM, type OptionsEvent } from '#domain/options/events.ts'
import { priceOf, readPriceList } from '#domain/pricing/price-list.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { hasDensePositions } from '#infra/event-store/binary-search-events.ts'
import { onlyAuditor } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { timeTravelQueries } from '../contract/time-travel.ts'
import { type App, integerOf, type ReadDeps, upToDate } from '../read-route-helpers.ts'
import { auditError } from './audit-errors.ts'
import { listRawEvents } from './list-raw-events.ts'
import { parseMoment, parseMomentRange } from './parse-moment.ts'
import { listPricesInForce } from './prices-in-force.ts'
import { readUntil, stateAsOf } from './state-as-of.ts'

/**
 * `GET /api/audit/state/:kind/:id`: the state of a token, a channel, a user, the options or the
 * prices at a moment.
 */
export function getState(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(timeTravelQueries, 'GET /api/audit/state/:kind/:id'),
    onRequest: onlyAuditor,
    preHandler: upToDate(deps, 'tokens', 'audit-log'),
    handler: async ({ params, query }) => {
      const { kind, id } = params
      const state = await stateAsOf(deps.core, kind, id, parseMoment(query.at))
      if (state === null) throw auditError('ObjectUnknown')
      return success(state)
    },
  })
}

/** `GET /api/audit/prices`: the price of a model for a group at a moment, and who set it. */
export function getPrices(app: App, deps: ReadDeps): void {
  const { core } = deps
  app.route({
    ...endpoint(timeTravelQueries, 'GET /api/audit/prices'),
    onRequest: onlyAuditor,
    preHandler: upToDate(deps, 'price-history', 'price-schedule', 'users'),
    handler: async ({ query }) => {
      const { model, group } = query
      const userGroup = query.user_group || group
      const values = new Map<string, string>()
      let last: Recorded | null = null as Recorded | null
      await readUntil(core.store, OPTIONS_STREAM, parseMoment(query.at), (event) => {
        const { type, data } = event as Recorded<OptionsEvent>
        if (type === 'OptionSet') values.set(data.key, data.value)
        last = event
      })
      const list = readPriceList(values, last?.revision ?? -1)
      const price = priceOf(list, model, group, { userGroup, acceptsUnpriced: false })
      const position = last?.position ?? 0
      const scope = { model, group, userGroup, tools: [], position }
      return success({
        ...{ position, at: Math.floor((last?.meta.at ?? 0) / 1_000), model, group },
        price: 'code' in price ? null : { ...price },
        in_force: await listPricesInForce(core, scope),
      })
    },
  })
}

const PAGE_SIZE = 50

/** `GET /api/audit/events`: the events as they are stored, in order. */
export function listEvents(app: App, { core }: ReadDeps): void {
  app.route({
    ...endpoint(timeTravelQueries, 'GET /api/audit/events'),
    onRequest: onlyAuditor,
    handler: async ({ query }) => {
      const { stream = '', type = '', actor = '' } = query
      const page = await listRawEvents(
        core.store,
        {
          ...{ stream, type, actor, userId: integerOf(query.user_id) ?? null },
          ...parseMomentRange(query),
          after: integerOf(query.after) ?? 0,
          limit: Number(query.limit ?? PAGE_SIZE),
        },
        hasDensePositions(core),
      )
      return success(page)
    },
  })
}
