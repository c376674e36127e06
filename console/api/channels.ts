import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Channel, ChannelEntry } from '#read-api/contract/channels.ts'
import type { UpdateChannel } from '#write-api/contract/channels.ts'
import { ApiError } from './api-error.ts'
import { apiQuery, call, callForEnvelope } from './client.ts'
import { fetchAllPages, type ListPage, MATCHING_MAX } from './request.ts'
import { currentScratchCopy } from './scratch-copy.ts'

/**
 * The filters, the order and the page of the channel list. `page` starts at 0. If `isTagMode` is
 * set, channels with the same tag are one row of the list.
 */
type ChannelQuery = {
  keyword: string
  model: string
  group: string
  page: number
  pageSize: number
  status?: string
  type?: string
  /** The server's name of the column to sort by. An empty text selects the default order. */
  sort?: string
  isDescending?: boolean
  isIdSort?: boolean
  isTagMode?: boolean
  tag?: string
}

export const channelsKey = ['channels'] as const

export const channelsQuery = (listQuery: ChannelQuery) =>
  queryOptions({
    queryKey: [...channelsKey, listQuery],
    queryFn: ({ signal }) => listChannels(listQuery, signal),
    placeholderData: keepPreviousData,
  })

async function listChannels(
  listQuery: ChannelQuery,
  signal?: AbortSignal,
): Promise<ListPage<ChannelEntry>> {
  const { keyword, model, group, status, type, tag, sort = '' } = listQuery
  const isSearch = [keyword, model, group].some((text) => text !== '')
  const query = {
    keyword,
    model,
    group,
    status,
    type,
    tag,
    sort,
    order: sort === '' ? '' : listQuery.isDescending === true ? 'desc' : 'asc',
    id_sort: listQuery.isIdSort === true ? 'true' : '',
    tag_mode: listQuery.isTagMode === true ? 'true' : '',
    children: listQuery.isTagMode === true ? 'false' : '',
    p: listQuery.page,
    page_size: listQuery.pageSize,
  }
  return call(isSearch ? 'GET /api/channel/search' : 'GET /api/channel/', { query, signal })
}

type ChannelOrder = Pick<ChannelQuery, 'sort' | 'isDescending' | 'isIdSort'>
type ChannelFilter = Omit<ChannelQuery, 'page' | 'pageSize'>

/** Reads all channels that have the tag `tag` as one page. The filters of the list do not apply. */
export const channelsOfTagQuery = (tag: string, order: ChannelOrder = {}) =>
  channelsThat([...channelsKey, 'of-tag', tag, order], { ...order, tag })

/** Reads up to 1000 channels that match the filters, ordered by id. */
export const matchingChannelsQuery = (filters: ChannelFilter) =>
  channelsThat([...channelsKey, 'matching', filters], { ...filters, sort: 'id' }, MATCHING_MAX)

const channelsThat = (queryKey: readonly unknown[], filter: Partial<ChannelFilter>, max?: number) =>
  queryOptions({
    queryKey,
    queryFn: ({ signal }) =>
      fetchAllPages(async (page, pageSize) => {
        const ask = { keyword: '', model: '', group: '', ...filter, page, pageSize }
        const found = await listChannels(ask, signal)
        return { ...found, items: channelsOfPage(found) }
      }, max),
  })

export const channelsOfPage = ({ items }: ListPage<ChannelEntry>): Channel[] =>
  items.flatMap((item) => ('children' in item ? [] : [item]))

export const knownModelsQuery = queryOptions({
  queryKey: ['known-models'],
  queryFn: async ({ signal }) =>
    (await call('GET /api/channel/models', { signal })).map(({ id }) => id),
})

export const enabledModelsQuery = apiQuery('GET /api/channel/models_enabled')

export const channelTypesQuery = {
  ...apiQuery('GET /api/channel/types'),
  staleTime: Number.POSITIVE_INFINITY,
}

export const testProgressKey = ['channel-test-progress'] as const

export const testProgressQuery = (isLive: boolean) =>
  queryOptions({
    queryKey: testProgressKey,
    queryFn: ({ signal }) => call('GET /api/channel/test/progress', { signal }),
    staleTime: 0,
    // While a scratch copy (the site as of an earlier time) is open, a test that is running now is
    // not shown.
    enabled: currentScratchCopy() === null,
    refetchInterval: ({ state }) => (state.data?.is_running === true && !isLive ? 1_000 : false),
  })

export type TestOutcome =
  | { readonly isSuccess: true; readonly seconds: number }
  | { readonly isSuccess: false; readonly message: string }

/**
 * Tests a channel by sending a call through it. If the test fails or is aborted, the promise is
 * still fulfilled. The result then contains the reason of the failure, or an empty text after an
 * abort.
 */
export async function testChannel(
  id: number,
  model: string,
  signal: AbortSignal,
): Promise<TestOutcome> {
  try {
    const input = { params: { id }, query: { model }, signal }
    const { time: seconds } = await call('GET /api/channel/test/:id', input)
    return { isSuccess: true, seconds }
  } catch (error) {
    if (signal.aborted) return { isSuccess: false, message: '' }
    if (!(error instanceof ApiError)) throw error
    return { isSuccess: false, message: error.message }
  }
}

/**
 * Changes a channel and returns the message of the server. A `status` of 1 enables the channel, and
 * 2 disables it.
 */
export const updateChannel = async (body: UpdateChannel): Promise<string> =>
  (await callForEnvelope('PUT /api/channel/', { body })).message

/**
 * Reports whether the server rejected a change because unfinished work needs the channel or its
 * keys.
 */
export const isWorkInFlight = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === 'WorkInFlight'
