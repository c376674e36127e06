import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { ChannelTimeline } from '#read-api/contract/channel-timeline.ts'
import { request } from '../request.ts'
import { healthKey } from './get-health.ts'

/** More than a screen: runs of one circuit are folded into single lines. */
export const TIMELINE_PAGE = 50

/** What happened to a channel up to a moment (unix seconds; 0 now), and how it stood then. */
export const timelineQuery = (ask: { channelId: number; at: number; page: number }) =>
  queryOptions({
    queryKey: [...healthKey, 'timeline', ask],
    queryFn: async ({ signal }) => {
      const { channelId, at, page } = ask
      const moment = at === 0 ? {} : { at, to: at }
      const query = { p: page, page_size: TIMELINE_PAGE, ...moment }
      const path = `/api/channel/${channelId}/timeline`
      return (await request<ChannelTimeline>({ path, query, signal })).data
    },
    placeholderData: keepPreviousData,
  })
