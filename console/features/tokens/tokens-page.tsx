import { useQuery } from '@tanstack/react-query'
import { type ReactElement, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { tokensQuery } from '#console/api/tokens/list-tokens.ts'
import { Button } from '#console/ui/button.tsx'
import { ColumnChooser } from '#console/ui/column-chooser.tsx'
import { useListCommands } from '#console/ui/commands/use-list-commands.ts'
import { DataGrid } from '#console/ui/data-grid/data-grid.tsx'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { EmptyState, ErrorState } from '#console/ui/empty-state.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { Page } from '#console/ui/page.tsx'
import { Pagination, usePageSize } from '#console/ui/pagination.tsx'
import { Panel } from '#console/ui/panel.tsx'
import { SearchInput } from '#console/ui/search-input.tsx'
import { Toolbar } from '#console/ui/toolbar.tsx'
import { integerParam, textParam } from '#console/ui/url-state.ts'
import { useUrlState } from '#console/ui/use-url-state.ts'
import type { Token } from '#read-api/contract/token.ts'
import { tokenColumns } from './token-columns.tsx'
import { TokenDrawer } from './token-drawer.tsx'
import { TokenReady } from './token-ready.tsx'
import { type TokenActions, useTokenActions } from './use-token-actions.ts'
import '#console/ui/forms.css'
import './tokens.css'

const ADDRESS = { keyword: textParam(), page: integerParam({ fallback: 0, max: 1_000_000 }) }

type Shown = { edited: Token | 'new' | null; ready: readonly Token[] | null }

/** One's own API tokens: list, search, create, edit, switch off, copy, delete. */
export function TokensPage(): ReactElement {
  const { t } = useTranslation()
  const [shown, setShown] = useState<Shown>({ edited: null, ready: null })
  const actions = useTokenActions()
  const create = () => setShown({ edited: 'new', ready: null })
  return (
    <Page
      title={t('tokens.title')}
      lead={t('tokens.lead')}
      actions={
        <Button tone="primary" icon="add" onClick={create}>
          {t('tokens.create')}
        </Button>
      }
    >
      <p className="tg-alert">
        <Icon name="info" />
        {t('tokens.banner')}
      </p>
      <TokenList actions={actions} onShow={setShown} onCreate={create} />
      <TokenDrawer
        edited={shown.edited}
        onClose={() => setShown({ edited: null, ready: null })}
        onCreated={(ready) => setShown({ edited: null, ready })}
      />
      <TokenReady tokens={shown.ready} onClose={() => setShown({ edited: null, ready: null })} />
    </Page>
  )
}

function TokenList(props: {
  actions: TokenActions
  onShow: (shown: Shown) => void
  onCreate: () => void
}): ReactElement {
  const { actions, onShow } = props
  const { t } = useTranslation()
  const [{ keyword, page }, setAddress] = useUrlState(ADDRESS)
  const [pageSize, setPageSize] = usePageSize()
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const list = useQuery({
    ...tokensQuery({ keyword, page, pageSize }),
    // Every call changes what a token has left.
    refetchOnMount: 'always',
  })
  const columns = useMemo(
    () =>
      tokenColumns(t, {
        onToggle: (token) => void actions.setEnabled(token, token.status !== 1),
        onEdit: (token) => onShow({ edited: token, ready: null }),
        onSnippets: (token) => onShow({ edited: null, ready: [token] }),
        onDelete: (token) => void actions.remove([token]),
      }),
    [t, actions, onShow],
  )
  const layout = useColumnLayout('tokens-table-columns', columns)
  const refresh = () => void list.refetch()
  useListCommands(t('tokens.create'), props.onCreate, t('tokens.refresh'), refresh)
  const rows = list.data?.items ?? []
  const picked = rows.filter(({ id }) => chosen.has(String(id)))
  return (
    <Panel isFlush>
      <Toolbar
        label={t('tokens.filters')}
        end={
          <>
            <ChosenActions picked={picked} actions={actions} onDone={() => setChosen(new Set())} />
            <Button icon="refresh" label={t('tokens.refresh')} onClick={refresh} />
            <ColumnChooser layout={layout} />
          </>
        }
      >
        <SearchInput
          icon="search"
          label={t('tokens.search')}
          value={keyword}
          onChange={(value) => setAddress({ keyword: value, page: 0 }, { isTyping: true })}
        />
      </Toolbar>
      {list.error !== null && list.data === undefined ? (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <div className="tg-list-ended">
          <DataGrid
            label={t('tokens.grid')}
            rows={rows}
            rowKey={rowKey}
            layout={layout}
            total={list.data?.total ?? 0}
            firstIndex={page * pageSize}
            isLoading={list.isPending}
            isRefetching={list.isPlaceholderData}
            isMuted={isMuted}
            selection={{ keys: chosen, onChange: setChosen }}
            empty={
              <NoTokens
                isFiltered={keyword !== ''}
                onClear={() => setAddress({ keyword: '', page: 0 })}
                onCreate={props.onCreate}
              />
            }
          />
        </div>
      )}
      <Pagination
        page={page}
        pageSize={pageSize}
        total={list.data?.total ?? 0}
        onPage={(next) => setAddress({ page: next })}
        onPageSize={(size) => {
          setPageSize(size)
          setAddress({ page: 0 })
        }}
      />
    </Panel>
  )
}

const rowKey = (token: Token): string => String(token.id)
const isMuted = (token: Token): boolean => token.status !== 1

function ChosenActions(props: {
  picked: readonly Token[]
  actions: TokenActions
  onDone: () => void
}): ReactElement {
  const { t } = useTranslation()
  const { picked, actions } = props
  const remove = async () => {
    if (await actions.remove(picked)) props.onDone()
  }
  return (
    <fieldset className="tg-chosen" aria-label={t('tokens.chosenLabel')}>
      {picked.length > 0 && <span>{t('tokens.chosen', { count: picked.length })}</span>}
      <Button icon="copy" onClick={() => void actions.copyKeys(picked)}>
        {t('tokens.copyChosen')}
      </Button>
      <Button icon="trash" onClick={() => void remove()}>
        {t('tokens.deleteChosen')}
      </Button>
    </fieldset>
  )
}

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
