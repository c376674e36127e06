import { useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import { useSiteAddress, useStatus } from '#console/api/status.ts'
import {
  matchingTokensQuery,
  tokensKey,
  tokensQuery,
} from '#console/api/token-and-redemption-queries.ts'
import { chatClients } from '#console/ui/chat-links/chat-links.ts'
import { useNow } from '#console/ui/elements/time.tsx'
import { choicesOf } from '#console/ui/forms/inputs.tsx'
import { SearchInput } from '#console/ui/forms/search-input.tsx'
import { cachedRows, changeRows } from '#console/ui/lists/cached-rows.ts'
import { KeywordFilter, ListPanel, rowId } from '#console/ui/lists/list-panel.tsx'
import { listUrlParams } from '#console/ui/lists/list-url-params.ts'
import { StatusFilter } from '#console/ui/lists/select-filter.tsx'
import { SelectionBar } from '#console/ui/lists/selection-bar.tsx'
import { useListPage } from '#console/ui/lists/use-list-page.ts'
import { type SelectedRows, useSelectedRows } from '#console/ui/lists/use-selected-rows.ts'
import { useThrottledCallback } from '#console/ui/state/throttle-debounce-and-live-refetch.ts'
import { choiceParam, textParam } from '#console/ui/state/url-state.ts'
import type { Token } from '#read-api/contract/tokens.ts'
import { tokenColumns } from './token-columns.tsx'
import { withExpiredStatus } from './token-status.ts'
import type { TokenActions } from './use-token-actions.ts'

/**
 * Maps each sortable column to its name on the server. The key column is sorted by the last four
 * characters of the keys. The column of model limits is sorted by the number of models.
 */
const SORTS = {
  id: 'id',
  name: 'name',
  status: 'status',
  key: 'key',
  limits: 'model_limits',
  quota: 'remain_quota',
  expiry: 'expired_time',
  group: 'group',
  lastUsed: 'accessed_time',
  created: 'created_time',
}
const STATUSES = ['1', '2', '3', '4'] as const
const STATE_KEYS = { 1: 'enabled', 2: 'disabled', 3: 'expired', 4: 'exhausted' } as const

const URL_PARAMS = listUrlParams(
  { keyword: textParam(), status: choiceParam<'' | (typeof STATUSES)[number]>(STATUSES, '') },
  { sorts: SORTS, isKeyset: true },
)

/**
 * Returns the current page of tokens with its filters. The key filter is kept in component state
 * and not in the URL, because a key is a secret.
 */
function useTokenList() {
  const [key, setKey] = useState('')
  const now = useNow()
  const token = key.trim()
  const page = useListPage(URL_PARAMS, (query) => tokensQuery({ ...query, token }))
  const searchKey = (next: string) => {
    setKey(next)
    page.setFilter({})
  }
  return {
    ...page,
    rows: page.rows.map((row) => withExpiredStatus(row, now)),
    matched: { ...page.filter, token },
    isFiltered: page.isFiltered || token !== '',
    key,
    searchKey,
    clear: () => {
      setKey('')
      page.clear()
    },
  }
}

function TokenFilters({ view }: { view: ReturnType<typeof useTokenList> }) {
  const { t } = useTranslation()
  return (
    <>
      <KeywordFilter label={t('tokens.search')} view={view} />
      <SearchInput
        icon="key"
        autoComplete="off"
        label={t('tokens.searchKey')}
        value={view.key}
        onChange={view.searchKey}
      />
      <StatusFilter
        value={view.filter.status}
        choices={choicesOf(STATUSES, (value) => t(`shared.state.${STATE_KEYS[value]}`))}
        onChange={(status) => view.setFilter({ status })}
      />
    </>
  )
}

function SelectedTokens(props: { selected: SelectedRows<Token>; actions: TokenActions }) {
  const { t } = useTranslation()
  const { actions, selected } = props
  const { selectedRows } = selected
  const copy = () => void actions.copyKeys(selectedRows)
  const setEnabled = (isEnabled: boolean) => void actions.setEnabled(selectedRows, isEnabled)
  const remove = async () => {
    if (await actions.remove(selectedRows)) selected.clearSelection()
  }
  return (
    <SelectionBar
      selected={selected}
      actions={[
        { icon: 'copy', text: t('tokens.copySelected'), perform: copy },
        { icon: 'play', text: t('shared.enableSelected'), perform: () => setEnabled(true) },
        { icon: 'pause', text: t('shared.disableSelected'), perform: () => setEnabled(false) },
        { icon: 'trash', text: t('shared.deleteSelected'), perform: () => void remove() },
      ]}
    />
  )
}

const REFETCH_INTERVAL_MIN_MS = 1_000

function useLiveTokens(): void {
  const client = useQueryClient()
  const refetch = () => void client.invalidateQueries({ queryKey: tokensKey })
  const refetchSoon = useThrottledCallback(refetch, REFETCH_INTERVAL_MIN_MS)
  useLiveTopic('tokens', {
    onEvents: (changes) => {
      const newest = new Map(changes.map((change) => [change.id, change]))
      const isDeleted = ({ id }: Token) => 'deleted' in (newest.get(id) ?? {})
      const areSomeDeleted = cachedRows<Token>(client, tokensKey).some(isDeleted)
      changeRows<Token>(client, tokensKey, (token) => {
        const change = newest.get(token.id)
        return change === undefined || 'deleted' in change ? token : { ...token, ...change }
      })
      if (areSomeDeleted) refetch()
      // The response to a pending list request may be older than the change and would undo the
      // change on screen. The list is therefore requested again.
      else if (client.isFetching({ queryKey: tokensKey }) > 0) refetchSoon()
    },
    onResync: refetch,
  })
}

export function TokenList(props: { actions: TokenActions; onCreate: () => void }) {
  const { actions } = props
  const { t } = useTranslation()
  const view = useTokenList()
  const { rows, total, matched } = view
  const matching = matchingTokensQuery(matched)
  const selected = useSelectedRows({ rows, total, filters: matched, matching })
  const columns = useTokenColumns(actions)
  useLiveTokens()
  return (
    <div className="tg-token-list">
      <ListPanel
        label={t('tokens.grid')}
        view={view}
        layoutKey="tokens-table-columns"
        columns={columns}
        rowKey={rowId}
        filters={<TokenFilters view={view} />}
        create={{ text: t('tokens.create'), perform: props.onCreate }}
        none={{ icon: 'key', title: t('tokens.noneTitle'), body: t('tokens.noneBody') }}
        notFound={{ title: t('tokens.notFoundTitle'), body: t('tokens.notFoundBody') }}
        selectionBar={<SelectedTokens selected={selected} actions={actions} />}
        isMuted={isMuted}
        isLastColumnSticky
        onOpen={actions.onEdit}
        selection={{ keys: selected.keys, onChange: selected.select }}
      />
    </div>
  )
}

function useTokenColumns(actions: TokenActions) {
  const { t } = useTranslation()
  const [site, status] = [useSiteAddress(), useStatus()]
  return useMemo(
    () => tokenColumns(t, actions, { links: chatClients(status), site }),
    [t, actions, status, site],
  )
}
const isMuted = (token: Token): boolean => token.status !== 1
