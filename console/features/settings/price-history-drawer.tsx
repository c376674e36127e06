import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { groupsQuery } from '#console/api/groups/list-groups.ts'
import { priceHistoryQuery } from '#console/api/options/price-history.ts'
import { Drawer } from '#console/ui/drawer.tsx'
import { EmptyState, ErrorState } from '#console/ui/empty-state.tsx'
import { GroupTag } from '#console/ui/group-tag.tsx'
import { Select, TextInput } from '#console/ui/inputs.tsx'
import { Pagination, usePageSize } from '#console/ui/pagination.tsx'
import { Skeleton } from '#console/ui/skeleton.tsx'
import { Time } from '#console/ui/time.tsx'
import type { PriceChange } from '#read-api/contract/option.ts'
import { valueText } from './planned-entries.tsx'
import { useOptionLabel } from './use-option-label.ts'

/** Who changed which price when: of all, or of one model. */
export function PriceHistoryDrawer(props: {
  isOpen: boolean
  model?: string
  onClose: () => void
}): ReactElement {
  const { t } = useTranslation()
  const { model } = props
  const title = model === undefined ? t('prices.history') : t('prices.historyOf', { name: model })
  return (
    <Drawer
      isOpen={props.isOpen}
      onClose={props.onClose}
      title={title}
      lead={t('prices.historyLead')}
      width={900}
    >
      {props.isOpen && (model === undefined ? <AllHistory /> : <History model={model} group="" />)}
    </Drawer>
  )
}

function AllHistory(): ReactElement {
  const { t } = useTranslation()
  const [typed, setTyped] = useState('')
  const [model, setModel] = useState('')
  const [group, setGroup] = useState('')
  const groups = useQuery(groupsQuery).data ?? []
  const all = [{ value: '', label: t('prices.historyAllGroups') }]
  return (
    <>
      <div className="tg-price-filters">
        <form
          onSubmit={(event) => {
            event.preventDefault()
            setModel(typed.trim())
          }}
        >
          <TextInput
            icon="search"
            type="search"
            maxLength={256}
            aria-label={t('prices.historyAnyModel')}
            placeholder={t('prices.historyAnyModel')}
            value={typed}
            onChange={setTyped}
            onBlur={() => setModel(typed.trim())}
          />
        </form>
        <Select
          aria-label={t('prices.historyGroup')}
          value={group}
          choices={[...all, ...groups.map((name) => ({ value: name, label: name }))]}
          onChange={setGroup}
        />
      </div>
      <History key={`${model} ${group}`} model={model} group={group} />
    </>
  )
}

function History({ model, group }: { model: string; group: string }): ReactElement {
  const { t } = useTranslation()
  const [page, setPage] = useState(0)
  const [pageSize, setPageSize] = usePageSize('price-history-page-size')
  const filter = { model, group, p: page, page_size: pageSize }
  const query = useQuery({ ...priceHistoryQuery(filter), placeholderData: keepPreviousData })
  if (query.data === undefined) {
    if (query.error === null) return <Skeleton height={240} />
    return <ErrorState error={query.error} onRetry={() => void query.refetch()} />
  }
  const { items, total } = query.data
  if (total === 0) {
    const words = { title: t('prices.historyNone'), body: t('prices.historyNoneBody') }
    return <EmptyState icon="clock" {...words} />
  }
  return (
    <>
      <table className="tg-figures tg-price-changes" aria-busy={query.isFetching}>
        <thead>
          <tr>
            <th scope="col">{t('prices.time')}</th>
            <th scope="col">{t('prices.by')}</th>
            <th scope="col">{t('prices.what')}</th>
            <th scope="col">{t('prices.change')}</th>
          </tr>
        </thead>
        <tbody>
          {items.map((change) => (
            <ChangeRow key={JSON.stringify(change)} change={change} />
          ))}
        </tbody>
      </table>
      <Pagination
        page={page}
        pageSize={pageSize}
        total={total}
        onPage={setPage}
        onPageSize={setPageSize}
      />
    </>
  )
}

function ChangeRow({ change }: { change: PriceChange }): ReactElement {
  const { t } = useTranslation()
  const optionLabel = useOptionLabel()
  const { model, group, user_group: user, before, after } = change
  const none = t('prices.noValue')
  return (
    <tr>
      <td>
        <Time at={change.time} style="stamp" />
      </td>
      <td>
        {change.user_id === 0 ? t('prices.bySystem') : change.username || change.user_id}
        {change.planned_id > 0 && <span className="tg-quiet">{t('prices.planned')}</span>}
      </td>
      <th scope="row">
        {user !== '' ? (
          <>
            <GroupTag name={user} /> {t('prices.calling')} <GroupTag name={group} />
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
