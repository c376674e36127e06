import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery, type Input } from '#console/api/client.ts'
import { groupsQuery } from '#console/api/own-user-group-and-model-queries.ts'
import { Drawer } from '#console/ui/dialogs/drawer.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { GroupTag } from '#console/ui/elements/group-tag.tsx'
import { TableHead } from '#console/ui/elements/table-head.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { choicesOf, Select, TextInput } from '#console/ui/forms/inputs.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { Pagination, pagingOf, usePageSize } from '#console/ui/lists/pagination.tsx'
import { useDebouncedValue } from '#console/ui/state/throttle-debounce-and-live-refetch.ts'
import type { PriceChange } from '#read-api/contract/options.ts'
import { valueText } from './price-change-subject-and-value.tsx'
import { useOptionTexts } from './use-option-texts.ts'

/** The search starts when the user has stopped typing for this time (ms). */
const SEARCH_DELAY_MS = 200

export function ModelHistoryDrawer(props: { model: string | null; onClose: () => void }) {
  const { t } = useTranslation()
  const { model, onClose } = props
  return (
    <Drawer
      isOpen={model !== null}
      onClose={onClose}
      title={t('pricing.historyOf', { name: model ?? '' })}
      lead={t('pricing.historyLead')}
      isWide
    >
      {model !== null && <PriceChanges model={model} />}
    </Drawer>
  )
}

export function PriceHistory() {
  const { t } = useTranslation()
  const search = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState('')
  const [group, setGroup] = useState('')
  const searchText = typed.trim()
  const keyword = useDebouncedValue(searchText, searchText === '' ? 0 : SEARCH_DELAY_MS)
  const groups = useQuery(groupsQuery).data ?? []
  const all = [{ value: '', label: t('shared.allGroups') }]
  const clear = () => {
    setTyped('')
    setGroup('')
    // The clicked button disappears, so the search field gets the focus.
    search.current?.focus()
  }
  return (
    <>
      <div className="tg-price-filters">
        <TextInput
          ref={search}
          icon="search"
          type="search"
          maxLength={200}
          aria-label={t('pricing.historyAnyModel')}
          placeholder={t('pricing.historyAnyModel')}
          value={typed}
          onChange={setTyped}
        />
        <Select
          aria-label={t('ui.groupName')}
          value={group}
          choices={[...all, ...choicesOf(groups)]}
          onChange={setGroup}
        />
      </div>
      <PriceChanges keyword={keyword} group={group} onClear={clear} />
    </>
  )
}

type Filter = { model?: string; keyword?: string; group?: string }

function PriceChanges({ onClear, ...filter }: Filter & { onClear?: () => void }) {
  const filterKey = JSON.stringify(filter)
  const [openPage, setOpenPage] = useState({ filterKey, page: 0 })
  const page = openPage.filterKey === filterKey ? openPage.page : 0
  const setPage = (next: number) => setOpenPage({ filterKey, page: next })
  const [pageSize, setPageSize] = usePageSize('price-history-page-size')
  const pageQuery = { ...filter, p: page, page_size: pageSize }
  const query = useQuery({ ...priceHistoryQuery(pageQuery), placeholderData: keepPreviousData })
  if (query.data === undefined) {
    if (query.error === null) return <Skeleton height={240} />
    return <ErrorState error={query.error} onRetry={() => void query.refetch()} />
  }
  if (query.data.total === 0) {
    const isFiltered = `${filter.keyword ?? ''}${filter.group ?? ''}` !== ''
    return <NoChanges onClear={isFiltered ? onClear : undefined} />
  }
  return (
    <>
      <Changes items={query.data.items} isBusy={query.isFetching} />
      <Pagination
        {...pagingOf({ page, total: query.data.total }, [pageSize, setPageSize], setPage)}
      />
    </>
  )
}

function NoChanges({ onClear }: { onClear: (() => void) | undefined }) {
  const { t } = useTranslation()
  if (onClear === undefined) {
    const texts = { title: t('pricing.historyNone'), body: t('pricing.historyNoneBody') }
    return <EmptyState icon="clock" {...texts} />
  }
  return (
    <EmptyState
      icon="search"
      title={t('pricing.historyNoMatch')}
      body={t('pricing.historyNoMatchBody')}
      action={<Button onClick={onClear}>{t('ui.clearFilters')}</Button>}
    />
  )
}

function Changes(props: { items: readonly PriceChange[]; isBusy: boolean }) {
  const { t } = useTranslation()
  return (
    <table className="tg-figures tg-price-changes" aria-busy={props.isBusy}>
      <TableHead
        titles={[t('shared.time'), t('pricing.by'), t('shared.item'), t('pricing.change')]}
      />
      <tbody>
        {props.items.map((change) => (
          <ChangeRow key={JSON.stringify(change)} change={change} />
        ))}
      </tbody>
    </table>
  )
}

function ChangeRow({ change }: { change: PriceChange }) {
  const { t } = useTranslation()
  const { label: optionLabel } = useOptionTexts()
  const { model, group, user_group: user, before, after } = change
  const none = t('pricing.noValue')
  return (
    <tr>
      <td>
        <Time at={change.time} style="stamp" />
      </td>
      <td>
        {change.user_id === 0 ? t('pricing.bySystem') : change.username || change.user_id}
        {change.planned_id > 0 && <span className="tg-quiet">{t('pricing.planned')}</span>}
      </td>
      <th scope="row">
        {user !== '' ? (
          <>
            <GroupTag name={user} /> {t('pricing.usersCalling')} <GroupTag name={group} />
          </>
        ) : (
          model || (group === '' ? null : <GroupTag name={group} />)
        )}
        <span className={`${model}${group}` === '' ? undefined : 'tg-quiet'}>
          {optionLabel(change.option)}
        </span>
      </th>
      <td>
        <span className="tg-quiet">{valueText(t, before, none)}</span>
        <span aria-hidden="true"> → </span>
        {valueText(t, after, none)}
      </td>
    </tr>
  )
}

const priceHistoryKey = ['price-history'] as const

type PriceHistoryFilter = NonNullable<Input<'GET /api/option/price_history'>['query']>

const priceHistoryQuery = (query: PriceHistoryFilter) =>
  apiQuery('GET /api/option/price_history', { query }, [...priceHistoryKey, query])
