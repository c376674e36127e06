import { queryOptions } from '@tanstack/react-query'
import { fetchData } from './request.ts'

type SitePage = 'notice' | 'about' | 'home_page_content'

const FRESH_MS = 60_000

/** A text of the operator's, Markdown or HTML; empty for none. */
export const sitePageQuery = (page: SitePage) =>
  queryOptions({
    queryKey: ['site-page', page],
    queryFn: ({ signal }) => fetchData<string>({ path: `/api/${page}`, signal }),
    staleTime: FRESH_MS,
  })
