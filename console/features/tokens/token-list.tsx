import { type ReactElement, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useStatus } from '#console/api/status/status.ts'
import { Button } from '#console/ui/button.tsx'
import { chatClients } from '#console/ui/chat-links.ts'
import { ColumnChooser } from '#console/ui/column-chooser.tsx'
import { useListCommands } from '#console/ui/commands/use-list-commands.ts'
import { DataGrid } from '#console/ui/data-grid/data-grid.tsx'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { EmptyState, ErrorState } from '#console/ui/empty-state.tsx'
import { Pagination } from '#console/ui/pagination.tsx'
import { Panel } from '#console/ui/panel.tsx'
import { Toolbar } from '#console/ui/toolbar.tsx'
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
  const { list, rows, total, paging } = shown
  const chosen = useChosenTokens(shown)
  const layout = useTokenLayout(props)
  const refresh = () => void list.refetch()
  useLiveTokens()
  useListCommands(t('tokens.create'), props.onCreate, t('tokens.refresh'), refresh)
  return (
    <Panel isFlush>
      <Toolbar
        label={t('tokens.filters')}
        end={
          <>
            <Button icon="refresh" label={t('tokens.refresh')} onClick={refresh} />
            <ColumnChooser layout={layout} />
          </>
        }
      >
        <TokenFilters
          filter={shown.filter}
          soughtKey={shown.soughtKey}
          onChange={shown.setFilter}
          onSeekKey={shown.seekKey}
        />
      </Toolbar>
      <ChosenActions chosen={chosen} actions={props.actions} />
      {list.error !== null && list.data === undefined ? (
        <ErrorState error={list.error} onRetry={refresh} />
      ) : (
        <div className="tg-list-ended tg-token-list">
          <DataGrid
            label={t('tokens.grid')}
            rows={rows}
            rowKey={rowKey}
            layout={layout}
            total={total}
            firstIndex={paging.page * paging.pageSize}
            isLoading={list.isPending}
            isRefetching={list.isPlaceholderData}
            isMuted={isMuted}
            onOpen={props.onEdit}
            sort={shown.sort}
            onSort={shown.setSort}
            selection={{ keys: chosen.keys, onChange: chosen.choose }}
            empty={
              <NoTokens
                isFiltered={shown.isFiltered}
                onClear={shown.clear}
                onCreate={props.onCreate}
              />
            }
          />
        </div>
      )}
      <Pagination {...paging} />
    </Panel>
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
