import { useQueryClient } from '@tanstack/react-query'
import type { LiveData } from '#console/api/live/live-event.ts'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import { type TokenPage, tokensKey } from '#console/api/tokens/list-tokens.ts'

/** Keeps what calls change of the rows on screen; reads again what only the server can tell. */
export function useLiveTokens(): void {
  const client = useQueryClient()
  const readAgain = () => void client.invalidateQueries({ queryKey: tokensKey })
  useLiveTopic('tokens', {
    onEvents: (changes) => {
      const pages = client.getQueriesData<TokenPage>({ queryKey: tokensKey })
      const shown = new Set(pages.flatMap(([, page]) => page?.items.map(({ id }) => id) ?? []))
      client.setQueriesData<TokenPage>({ queryKey: tokensKey }, (page) =>
        page === undefined ? undefined : { ...page, items: patched(page.items, changes) },
      )
      if (changes.some((change) => 'deleted' in change && shown.has(change.id))) readAgain()
    },
    onResync: readAgain,
  })
}

export function patched(
  items: TokenPage['items'],
  changes: readonly LiveData['tokens'][],
): TokenPage['items'] {
  const newest = new Map(changes.map((change) => [change.id, change]))
  return items.map((item) => {
    const change = newest.get(item.id)
    return change === undefined || 'deleted' in change ? item : { ...item, ...change }
  })
}
