import { queryOptions } from '@tanstack/react-query'
import { request } from './request.ts'

type SitePage = 'notice' | 'about' | 'home_page_content'

const FRESH_MS = 60_000

/** A text of the operator's, Markdown or HTML; empty for none. */
export const sitePageQuery = (page: SitePage) =>
  queryOptions({
    queryKey: ['site-page', page],
    queryFn: async ({ signal }) => (await request<string>({ path: `/api/${page}`, signal })).data,
    staleTime: FRESH_MS,
  })
