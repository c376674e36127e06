import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { LiveData } from '#console/api/live/live-event.ts'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import type { ListPage } from '#console/api/request.ts'
import { useStatus } from '#console/api/status.ts'
import { tokensKey } from '#console/api/tokens.ts'
import { Button } from '#console/ui/button.tsx'
import { chatClients } from '#console/ui/chat-links.ts'
import { useListCommands } from '#console/ui/commands/use-list-commands.ts'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { ListPanel } from '#console/ui/list-panel.tsx'
import type { Token } from '#read-api/contract/tokens.ts'
import { tokenColumns } from './token-columns.tsx'
import { TokenFilters } from './token-filters.tsx'
import { useChosenTokens } from './use-chosen-tokens.ts'
import type { TokenActions } from './use-token-actions.ts'
import { isSortable, useTokenList } from './use-token-list.ts'

/** What can be done to the selected tokens; nothing while none is. */
function ChosenActions(props: {
  chosen: ReturnType<typeof useChosenTokens>
  actions: TokenActions
}): ReactElement | null {
  const { t } = useTranslation()
  const { actions, chosen } = props
  const { picked, choosable } = chosen
  const remove = async () => {
    if (await actions.remove(picked)) chosen.chooseNone()
  }
  if (picked.length === 0) return null
  return (
    <fieldset className="tg-chosen tg-bulk" aria-label={t('tokens.chosenLabel')}>
      <span role="status">{t('tokens.chosen', { count: picked.length })}</span>
      {choosable > 0 && (
        <Button tone="quiet" size="small" onClick={() => void chosen.chooseAll()}>
          {t('tokens.chooseMatching', { count: choosable })}
        </Button>
      )}
      <Button tone="quiet" size="small" onClick={chosen.chooseNone}>
        {t('tokens.chooseNone')}
      </Button>
      <Button size="small" icon="copy" onClick={() => void actions.copyKeys(picked)}>
        {t('tokens.copyChosen')}
      </Button>
      <Button size="small" icon="play" onClick={() => void actions.setEnabled(picked, true)}>
        {t('tokens.enableChosen')}
      </Button>
      <Button size="small" icon="pause" onClick={() => void actions.setEnabled(picked, false)}>
        {t('tokens.disableChosen')}
      </Button>
      <Button size="small" icon="trash" onClick={() => void remove()}>
        {t('tokens.deleteChosen')}
      </Button>
    </fieldset>
  )
}

/** Keeps what calls change of the rows on screen; reads again what only the server can tell. */
function useLiveTokens(): void {
  const client = useQueryClient()
  const readAgain = () => void client.invalidateQueries({ queryKey: tokensKey })
  useLiveTopic('tokens', {
    onEvents: (changes) => {
      const pages = client.getQueriesData<ListPage<Token>>({ queryKey: tokensKey })
      const shown = new Set(pages.flatMap(([, page]) => page?.items.map(({ id }) => id) ?? []))
      client.setQueriesData<ListPage<Token>>({ queryKey: tokensKey }, (page) =>
        page === undefined ? undefined : { ...page, items: patched(page.items, changes) },
      )
      if (changes.some((change) => 'deleted' in change && shown.has(change.id))) readAgain()
    },
    onResync: readAgain,
  })
}

function patched(
  items: ListPage<Token>['items'],
  changes: readonly LiveData['tokens'][],
): ListPage<Token>['items'] {
  const newest = new Map(changes.map((change) => [change.id, change]))
  return items.map((item) => {
    const change = newest.get(item.id)
    return change === undefined || 'deleted' in change ? item : { ...item, ...change }
  })
}

type TokenListProps = {
  actions: TokenActions
  onEdit: (token: Token) => void
  onSnippets: (token: Token) => void
  onCreate: () => void
}

/** One's tokens, live: filtered, sorted, page by page, some of them selected. */
export function TokenList(props: TokenListProps): ReactElement {
  const { t } = useTranslation()
  const shown = useTokenList()
  const { list, rows, paging } = shown
  const chosen = useChosenTokens(shown)
  const layout = useTokenLayout(props)
  const refresh = () => void list.refetch()
  useLiveTokens()
  useListCommands(t('tokens.create'), props.onCreate, t('tokens.refresh'), refresh)
  return (
    <div className="tg-token-list">
      <ListPanel
        label={t('tokens.grid')}
        list={list}
        rows={rows}
        rowKey={rowKey}
        layout={layout}
        paging={paging}
        filtersLabel={t('tokens.filters')}
        filters={
          <TokenFilters
            filter={shown.filter}
            soughtKey={shown.soughtKey}
            onChange={shown.setFilter}
            onSeekKey={shown.seekKey}
          />
        }
        refreshText={t('tokens.refresh')}
        onRefresh={refresh}
        chosen={<ChosenActions chosen={chosen} actions={props.actions} />}
        isMuted={isMuted}
        isEnded
        onOpen={props.onEdit}
        sort={shown.sort}
        onSort={shown.setSort}
        selection={{ keys: chosen.keys, onChange: chosen.choose }}
        empty={
          <NoTokens isFiltered={shown.isFiltered} onClear={shown.clear} onCreate={props.onCreate} />
        }
      />
    </div>
  )
}

function useTokenLayout({ actions, onEdit, onSnippets }: TokenListProps) {
  const { t } = useTranslation()
  const status = useStatus()
  const site = status?.server_address || window.location.origin
  const links = useMemo(() => chatClients(status), [status])
  const columns = useMemo(
    () =>
      tokenColumns(t, {
        onToggle: (token) => void actions.setEnabled([token], token.status !== 1),
        onEdit,
        onSnippets,
        onDelete: (token) => void actions.remove([token]),
        chat: { links, site },
      }).map((column) => ({ ...column, isSortable: isSortable(column.id) })),
    [t, actions, onEdit, onSnippets, links, site],
  )
  return useColumnLayout('tokens-table-columns', columns)
}

const rowKey = (token: Token): string => String(token.id)
const isMuted = (token: Token): boolean => token.status !== 1

function NoTokens(props: {
  isFiltered: boolean
  onClear: () => void
  onCreate: () => void
}): ReactElement {
  const { t } = useTranslation()
  if (props.isFiltered) {
    return (
      <EmptyState
        icon="search"
        title={t('tokens.notFoundTitle')}
        body={t('tokens.notFoundBody')}
        action={<Button onClick={props.onClear}>{t('tokens.clear')}</Button>}
      />
    )
  }
  return (
    <EmptyState
      icon="key"
      title={t('tokens.noneTitle')}
      body={t('tokens.noneBody')}
      action={
        <Button tone="primary" icon="add" onClick={props.onCreate}>
          {t('tokens.create')}
        </Button>
      }
    />
  )
}
