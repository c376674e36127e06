import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Channel } from '#read-api/contract/channel.ts'
import { request } from '../request.ts'

export type ChannelPage = { items: Channel[]; page: number; total: number }
/** `page` counts from 0. */
export type ChannelQuery = {
  keyword: string
  model: string
  group: string
  page: number
  pageSize: number
}

export const channelsKey = ['channels'] as const

export const channelsQuery = ({ keyword, model, group, page, pageSize }: ChannelQuery) =>
  queryOptions({
    queryKey: [...channelsKey, { keyword, model, group, page, pageSize }],
    queryFn: async ({ signal }) => {
      const isSearch = [keyword, model, group].some((text) => text !== '')
      const path = isSearch ? '/api/channel/search' : '/api/channel/'
      const query = { keyword, model, group, p: page, page_size: pageSize }
      return (await request<ChannelPage>({ path, query, signal })).data
    },
    placeholderData: keepPreviousData,
  })
