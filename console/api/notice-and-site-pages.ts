import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import { apiQuery, call } from './client.ts'

type SitePage = 'notice' | 'about' | 'home_page_content'

const PAGE_FRESH_MS = 60_000

/**
 * Reads a page that the operator can write in Markdown or HTML. The text is empty if the operator
 * has not written the page.
 */
export const sitePageQuery = (page: SitePage) => ({
  ...apiQuery(`GET /api/${page}`),
  staleTime: PAGE_FRESH_MS,
})

const NOTICE_KEY = 'notice'

/**
 * Reads the operator's notice and stores it in this browser, so that the next visit shows it at
 * once. A notice that appears late would move the page.
 */
const noticeQuery = queryOptions({
  ...sitePageQuery('notice'),
  queryFn: async ({ signal }) => {
    const text = await call('GET /api/notice', { signal })
    localStorage.setItem(NOTICE_KEY, text)
    return text
  },
})

export function useNotice(): string {
  const storedNotice = localStorage.getItem(NOTICE_KEY)
  const query =
    storedNotice === null ? noticeQuery : { ...noticeQuery, placeholderData: storedNotice }
  return useQuery(query).data ?? ''
}

const NOTICE_WAIT_MS_MAX = 2_000

/** Loads the notice before the first page is rendered, but waits at most two seconds for it. */
export async function loadNotice(client: QueryClient): Promise<void> {
  const timeLimit = new Promise<void>((done) => setTimeout(done, NOTICE_WAIT_MS_MAX))
  await Promise.race([client.prefetchQuery(noticeQuery), timeLimit])
}
