import Type from 'typebox'
import { toWire } from '#domain/shared/quota.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { notFound } from '#infra/http/http-errors.ts'
import {
  CHANNEL_SORTS,
  type ChannelSort,
  type ChannelsOfTag,
  findChannel,
  listChannels,
  listChannelTags,
  type MemberRow,
} from '#projections/channels/query.ts'
import { Channel, ChannelEntry } from '../contract/channels.ts'
import { Envelope, Page } from '../contract/envelope.ts'
import { type App, IdParams, pageOf, Query, type ReadDeps, upToDate, wholeOf } from '../question.ts'
import { channelAnswer } from './channel-answer.ts'

/** `GET /api/channel/{id}`, for admins. */
export function getChannel(app: App, deps: ReadDeps): void {
  app.get(
    '/api/channel/:id',
    {
      schema: { params: IdParams, response: { 200: Envelope(Channel) } },
      onRequest: onlyAdmin,
      preHandler: upToDate(deps, 'channels', 'channel-checks'),
    },
    async ({ params }) => {
      const row = await findChannel(deps.core.db, Number(params.id))
      if (row === null || row.isDeleted) {
        throw notFound({ zh: '渠道未找到，请刷新页面后重试。', en: 'No such channel' })
      }
      return success(channelAnswer(row, deps.core.now()))
    },
  )
}

const SearchChannels = Type.Object({
  ...Query.page,
  keyword: Query.text,
  group: Query.text,
  model: Query.text,
  id_sort: Query.flag,
  tag_mode: Query.flag,
  /** `false`: in tag mode, tags without their channels. */
  children: Query.flag,
  /** Channels of exactly this tag. */
  tag: Query.text,
  /** 0: whatever is not enabled. */
  status: Type.Optional(Type.String({ pattern: '^[0-3]?$' })),
  type: Query.whole,
  sort: Type.Optional(Type.Union(['', ...CHANNEL_SORTS].map((name) => Type.Literal(name)))),
  order: Type.Optional(Type.Union(['', 'asc', 'desc'].map((name) => Type.Literal(name)))),
})

/** `GET /api/channel/` and `/api/channel/search`, for admins; deleted ones are left out. */
export function listChannelRows(app: App, deps: ReadDeps): void {
  for (const path of ['/api/channel/', '/api/channel/search']) {
    app.get(
      path,
      {
        schema: { querystring: SearchChannels, response: { 200: Envelope(Page(ChannelEntry)) } },
        onRequest: onlyAdmin,
        preHandler: upToDate(deps, 'channels', 'channel-checks'),
        // Telling tags from channels by the schema would take longer than all the rest.
        serializerCompiler: () => JSON.stringify,
      },
      async ({ query }) => {
        const { db } = deps.core
        const now = deps.core.now()
        const { page, ...slice } = pageOf(query)
        const search = {
          ...slice,
          keyword: query.keyword ?? '',
          group: query.group ?? '',
          model: query.model ?? '',
          tag: query.tag ?? '',
          status: wholeOf(query.status) ?? null,
          type: wholeOf(query.type) ?? null,
          isIdSort: query.id_sort === 'true',
          sort: query.sort === undefined || query.sort === '' ? null : (query.sort as ChannelSort),
          isDescending: query.order === 'desc',
          now: Math.floor(now / 1_000),
        }
        if (query.tag_mode === 'true') {
          const isWhole = query.children !== 'false'
          const { rows, total } = await listChannelTags(db, { ...search, isWhole })
          return success({ items: rows.flatMap((tag) => tagGroup(tag, now)), page, total })
        }
        const { rows, total } = await listChannels(db, search)
        return success({ items: rows.map((row) => channelAnswer(row, now)), page, total })
      },
    )
  }
}

/** A tag as one line, what its channels have in common or together; without a tag the channel. */
function tagGroup({ tag, members, rows }: ChannelsOfTag, now: number): ChannelEntry[] {
  const children = rows.map((row) => channelAnswer(row, now))
  return tag === '' ? children : [{ tag, ...together(members), children }]
}

function together(members: readonly MemberRow[]) {
  const tested = members.map(({ responseTime }) => responseTime).filter((time) => time > 0)
  return {
    group: [...new Set(members.flatMap(({ groups }) => groups))].join(','),
    used_quota: sumOf(members.map(({ usedQuota }) => toWire(usedQuota))),
    response_time: tested.length === 0 ? 0 : Math.round(sumOf(tested) / tested.length),
    priority: sharedBy(members.map(({ priority }) => priority)),
    weight: sharedBy(members.map(({ weight }) => weight)),
    members: members.map(({ id, name, status }) => ({ id, name, status })),
  }
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0)

/** null where they differ. */
const sharedBy = (numbers: readonly number[]): number | null =>
  new Set(numbers).size === 1 ? (numbers[0] ?? null) : null
