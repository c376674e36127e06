import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { ChannelEntry } from '#read-api/contract/channel.ts'
import { request } from '../request.ts'

/** In tag mode `items` are tags and untagged channels, and `total` counts those. */
export type ChannelPage = { items: ChannelEntry[]; page: number; total: number }

/** `page` counts from 0; empty texts ask for everything. */
export type ChannelQuery = {
  keyword: string
  model: string
  group: string
  page: number
  pageSize: number
  status?: string
  type?: string
  /** A column of the wire, empty for the list's own order. */
  sort?: string
  isDescending?: boolean
  isIdSort?: boolean
  /** Tags without their channels. */
  isTagMode?: boolean
  /** Channels of exactly this tag; empty for all. */
  tag?: string
}

export const channelsKey = ['channels'] as const

export const channelsQuery = (asked: ChannelQuery) =>
  queryOptions({
    queryKey: [...channelsKey, asked],
    queryFn: ({ signal }) => listChannels(asked, signal),
    placeholderData: keepPreviousData,
  })

export async function listChannels(
  asked: ChannelQuery,
  signal?: AbortSignal,
): Promise<ChannelPage> {
  const { keyword, model, group, status, type, tag, sort = '' } = asked
  const isSearch = [keyword, model, group].some((text) => text !== '')
  const query = {
    ...{ keyword, model, group, status, type, tag, sort },
    order: sort === '' ? '' : asked.isDescending === true ? 'desc' : 'asc',
    id_sort: asked.isIdSort === true ? 'true' : '',
    tag_mode: asked.isTagMode === true ? 'true' : '',
    children: asked.isTagMode === true ? 'false' : '',
    p: asked.page,
    page_size: asked.pageSize,
  }
  const path = isSearch ? '/api/channel/search' : '/api/channel/'
  const call = { path, query, ...(signal === undefined ? {} : { signal }) }
  return (await request<ChannelPage>(call)).data
}
