import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { LiveData } from '#console/api/live/live-event.ts'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import type { ListPage } from '#console/api/request.ts'
import { useStatus } from '#console/api/status.ts'
import { matchingTokensQuery, tokensKey, tokensQuery } from '#console/api/tokens.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { useNow } from '#console/ui/elements/time.tsx'
import { Select, TextInput } from '#console/ui/forms/inputs.tsx'
import { ChosenBar } from '#console/ui/lists/chosen-bar.tsx'
import { listAddress } from '#console/ui/lists/list-address.ts'
import { KeywordFilter, ListPanel } from '#console/ui/lists/list-panel.tsx'
import { type ChosenRows, useChosenRows } from '#console/ui/lists/use-chosen-rows.ts'
import { useListPage } from '#console/ui/lists/use-list-page.ts'
import { chatClients } from '#console/ui/state/chat-links.ts'
import { choiceParam, textParam } from '#console/ui/state/url-state.ts'
import type { Token } from '#read-api/contract/tokens.ts'
import { tokenColumns } from './token-columns.tsx'
import { asOf } from './token-status.ts'
import type { TokenActions } from './use-token-actions.ts'

/** The server's name of each sortable column, by column id. */
const SORTS = {
  id: 'id',
  name: 'name',
  status: 'status',
  quota: 'remain_quota',
  expiry: 'expired_time',
  group: 'group',
  lastUsed: 'accessed_time',
  created: 'created_time',
}
const STATUSES = ['1', '2', '3', '4'] as const
const STATE_WORDS = { 1: 'enabled', 2: 'disabled', 3: 'expired', 4: 'exhausted' } as const

const ADDRESS = listAddress(
  { keyword: textParam(), status: choiceParam<'' | (typeof STATUSES)[number]>(STATUSES, '') },
  { sorts: SORTS },
)

/**
 * Reads the page of tokens that the URL selects. NOTE: A searched key is a secret. It is not in the
 * URL, which the browser's history and shared links reveal.
 */
function useTokenList() {
  const [key, setKey] = useState('')
  const now = useNow()
  const token = key.trim()
  const page = useListPage(ADDRESS, (ask) => tokensQuery({ ...ask, token }))
  const searchKey = (next: string) => {
    setKey(next)
    page.setFilter({})
  }
  return {
    ...page,
    rows: page.rows.map((row) => asOf(row, now)),
    /** The filters of the list, without page and order. */
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

function TokenFilters({ view }: { view: ReturnType<typeof useTokenList> }): ReactElement {
  const { t } = useTranslation()
  return (
    <>
      <KeywordFilter label={t('tokens.search')} view={view} />
      <TextInput
        type="search"
        icon="key"
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        aria-label={t('tokens.searchKey')}
        placeholder={t('tokens.searchKey')}
        value={view.key}
        onChange={view.searchKey}
      />
      <Select
        aria-label={t('words.status')}
        value={view.filter.status}
        choices={[
          { value: '' as const, label: t('words.anyStatus') },
          ...STATUSES.map((value) => ({ value, label: t(`tokens.state.${STATE_WORDS[value]}`) })),
        ]}
        onChange={(status) => view.setFilter({ status })}
      />
    </>
  )
}

function ChosenTokens(props: { chosen: ChosenRows<Token>; actions: TokenActions }): ReactElement {
  const { t } = useTranslation()
  const { actions, chosen } = props
  const { picked } = chosen
  const remove = async () => {
    if (await actions.remove(picked)) chosen.chooseNone()
  }
  return (
    <ChosenBar chosen={chosen}>
      <Button size="small" icon="copy" onClick={() => void actions.copyKeys(picked)}>
        {t('tokens.copyChosen')}
      </Button>
      <Button size="small" icon="play" onClick={() => void actions.setEnabled(picked, true)}>
        {t('words.enableChosen')}
      </Button>
      <Button size="small" icon="pause" onClick={() => void actions.setEnabled(picked, false)}>
        {t('words.disableChosen')}
      </Button>
      <Button size="small" icon="trash" onClick={() => void remove()}>
        {t('words.deleteChosen')}
      </Button>
    </ChosenBar>
  )
}

/** Updates visible rows from live events. A deletion or a resync reloads the list. */
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

export function TokenList(props: TokenListProps): ReactElement {
  const { t } = useTranslation()
  const view = useTokenList()
  const { rows, total, matched } = view
  const matching = matchingTokensQuery(matched)
  const chosen = useChosenRows({ rows, total, filters: matched, matching })
  const columns = useTokenColumns(props)
  useLiveTokens()
  return (
    <div className="tg-token-list">
      <ListPanel
        label={t('tokens.grid')}
        view={view}
        layoutKey="tokens-table-columns"
        columns={columns}
        rowKey={rowKey}
        filters={<TokenFilters view={view} />}
        create={{ text: t('tokens.create'), act: props.onCreate }}
        none={{ icon: 'key', title: t('tokens.noneTitle'), body: t('tokens.noneBody') }}
        notFound={{ title: t('tokens.notFoundTitle'), body: t('tokens.notFoundBody') }}
        chosen={<ChosenTokens chosen={chosen} actions={props.actions} />}
        isMuted={isMuted}
        isEnded
        onOpen={props.onEdit}
        selection={{ keys: chosen.keys, onChange: chosen.choose }}
      />
    </div>
  )
}

function useTokenColumns({ actions, onEdit, onSnippets }: TokenListProps) {
  const { t } = useTranslation()
  const status = useStatus()
  const site = status?.server_address || window.location.origin
  const links = useMemo(() => chatClients(status), [status])
  return useMemo(
    () =>
      tokenColumns(t, {
        onToggle: (token) => void actions.setEnabled([token], token.status !== 1),
        onEdit,
        onSnippets,
        onDelete: (token) => void actions.remove([token]),
        chat: { links, site },
      }),
    [t, actions, onEdit, onSnippets, links, site],
  )
}

const rowKey = (token: Token): string => String(token.id)
const isMuted = (token: Token): boolean => token.status !== 1
