import { type ReactElement, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useStatus } from '#console/api/status/status.ts'
import { Button } from '#console/ui/button.tsx'
import { chatClients } from '#console/ui/chat-links.ts'
import { useListCommands } from '#console/ui/commands/use-list-commands.ts'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { ListPanel } from '#console/ui/list-panel.tsx'
import type { Token } from '#read-api/contract/token.ts'
import { ChosenActions } from './chosen-actions.tsx'
import { tokenColumns } from './token-columns.tsx'
import { TokenFilters } from './token-filters.tsx'
import { useChosenTokens } from './use-chosen-tokens.ts'
import { useLiveTokens } from './use-live-tokens.ts'
import type { TokenActions } from './use-token-actions.ts'
import { isSortable, useTokenList } from './use-token-list.ts'

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
