import { toWire } from '#domain/shared/quota.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { notFound } from '#infra/http/http-error-class-and-catalogue.ts'
import { success } from '#infra/http/response-envelope.ts'
import {
  type ChannelsOfTag,
  channelModels,
  findChannel,
  listChannels,
  listChannelTags,
  type MemberRow,
  servedModels,
} from '#projections/channels/query.ts'
import { type ChannelEntry, channelQueries } from '../contract/channels.ts'
import { currentOptions } from '../options/current-options.ts'
import {
  type App,
  integerOf,
  pageOf,
  type ReadDeps,
  upToDate,
} from '../read-dependencies-and-query-parameters.ts'
import { channelResponse } from './channel-response.ts'

/** `GET /api/channel/{id}`, for admins: one channel. */
export function getChannel(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(channelQueries, 'GET /api/channel/:id'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'channels', 'channel-checks'),
    handler: async ({ params }) => {
      const row = await findChannel(deps.core.db, Number(params.id))
      if (row === null || row.isDeleted) {
        throw notFound('channel')
      }
      return success(channelResponse(row, deps.core.now()))
    },
  })
}

/**
 * `GET /api/channel/` and `GET /api/channel/search`, for admins: all channels except deleted ones.
 */
export function listChannelRows(app: App, deps: ReadDeps): void {
  for (const name of ['GET /api/channel/', 'GET /api/channel/search'] as const) {
    app.route({
      ...endpoint(channelQueries, name),

      onRequest: onlyAdmin,
      preHandler: upToDate(deps, 'channels', 'channel-checks'),
      // `JSON.stringify` replaces the serializer that Fastify derives from the schema. That
      // serializer would test for each row whether the row is a tag or a channel. These tests would
      // take longer than all other work of the request.
      serializerCompiler: () => JSON.stringify,

      handler: async ({ query }) => {
        const { db } = deps.core
        const now = deps.core.now()
        const { page, ...slice } = pageOf(query)
        const search = {
          ...slice,
          keyword: query.keyword ?? '',
          group: query.group ?? '',
          model: query.model ?? '',
          tag: query.tag ?? '',
          status: integerOf(query.status) ?? null,
          type: integerOf(query.type) ?? null,
          isIdSort: query.id_sort === 'true',
          sort: query.sort || null,
          isDescending: query.order === 'desc',
          now: Math.floor(now / 1_000),
        }
        if (query.tag_mode === 'true') {
          const hasChildren = query.children !== 'false'
          const { rows, total } = await listChannelTags(db, { ...search, isWhole: hasChildren })
          return success({ items: rows.flatMap((tag) => tagGroup(tag, now)), page, total })
        }
        const { rows, total } = await listChannels(db, search)
        return success({ items: rows.map((row) => channelResponse(row, now)), page, total })
      },
    })
  }
}

/**
 * Returns one row for all channels with the same tag: the sum of the used quota, the average
 * response time of the tested channels, and the common priority and weight (null if the channels
 * differ). Channels without a tag are returned as separate rows.
 */
function tagGroup({ tag, members, rows }: ChannelsOfTag, now: number): ChannelEntry[] {
  const children = rows.map((row) => channelResponse(row, now))
  return tag === '' ? children : [{ tag, ...summaryOf(members), children }]
}

function summaryOf(members: readonly MemberRow[]) {
  const tested = members.map(({ responseTime }) => responseTime).filter((time) => time > 0)
  return {
    group: [...new Set(members.flatMap(({ groups }) => groups))].join(','),
    used_quota: sumOf(members.map(({ usedQuota }) => toWire(usedQuota))),
    response_time: tested.length === 0 ? 0 : Math.round(sumOf(tested) / tested.length),
    priority: commonValue(members.map(({ priority }) => priority)),
    weight: commonValue(members.map(({ weight }) => weight)),
    members: members.map(({ id, name, status }) => ({ id, name, status })),
  }
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0)

const commonValue = (numbers: readonly number[]): number | null =>
  new Set(numbers).size === 1 ? (numbers[0] ?? null) : null

/**
 * `GET /api/channel/models`, for admins: all models that have a price or that a channel names. `GET
 * /api/channel/models_enabled`, for admins: the models that enabled channels serve.
 */
export function listChannelModels(app: App, deps: ReadDeps): void {
  const { core } = deps
  app.route({
    ...endpoint(channelQueries, 'GET /api/channel/models'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'channels', 'options'),
    handler: async () => {
      const [named, options] = await Promise.all([channelModels(core.db), currentOptions(core)])
      const priced = ['ModelRatio', 'ModelPrice'].flatMap((key) => [...options.members(key).keys()])
      return success([...new Set([...named, ...priced])].sort().map((id) => ({ id })))
    },
  })
  app.route({
    ...endpoint(channelQueries, 'GET /api/channel/models_enabled'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'channels'),
    handler: async () => {
      const served = await servedModels(core.db, deps.servedTypes, Math.floor(core.now() / 1_000))
      return success(served.map(({ model }) => model))
    },
  })
}
