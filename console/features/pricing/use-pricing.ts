import { queryOptions, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { callForEnvelope } from '#console/api/client.ts'
import { useUser } from '#console/api/session.ts'
import type { Sort } from '#console/ui/data-grid/column-and-layout.ts'
import { showInfo } from '#console/ui/messages/toast.ts'
import { choiceParam, textParam } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import type { PricedModel, Pricing } from '#read-api/contract/pricing.ts'
import { sortPrice } from './model-prices.ts'

export const OTHER_OWNER = '-'
export type Billing = '' | 'tokens' | 'call'
type PriceFilter = { keyword: string; owner: string; billing: Billing; here: '' | '1' }
type SortColumn = 'model' | 'owner' | 'input' | 'output'
const SORTS: readonly SortColumn[] = ['model', 'owner', 'input', 'output']

export const isSortable = (column: string): boolean => SORTS.some((sort) => sort === column)

const URL_PARAMS = {
  group: textParam(),
  keyword: textParam(),
  owner: textParam(),
  billing: choiceParam<Billing>(['tokens', 'call'], ''),
  here: choiceParam<'' | '1'>(['1'], ''),
  sort: choiceParam<SortColumn | ''>(SORTS, ''),
  order: choiceParam<'asc' | 'desc'>(['asc', 'desc'], 'asc'),
}

const NOTHING: readonly PricedModel[] = []
const NO_FILTER: PriceFilter = { keyword: '', owner: '', billing: '', here: '' }

export function usePricing() {
  const query = useQuery(pricingQuery(useUser()?.id ?? null))
  const [{ group: requestedGroup, sort, order, ...filter }, setUrlParams] = useUrlState(URL_PARAMS)
  const { data } = query
  const group = selectedGroupOf(data, requestedGroup)
  const isUnknown = requestedGroup !== '' && requestedGroup !== group
  const { t } = useTranslation()
  useEffect(() => {
    if (!isUnknown) return
    showInfo(t('ui.droppedParams', { names: 'group' }))
    setUrlParams({ group: '' }, { replace: true })
  }, [isUnknown, setUrlParams, t])
  const all = data?.data ?? NOTHING
  const { keyword, owner, billing, here } = filter
  const rows = useMemo(
    () => sorted(matching(all, { keyword, owner, billing, here }, group), sort, order),
    [all, keyword, owner, billing, here, group, sort, order],
  )
  return {
    query,
    rows,
    all,
    group,
    ratio: data?.group_ratio[group] ?? 1,
    groups: data?.usable_group ?? {},
    setGroup: (name: string) => setUrlParams({ group: name === data?.user_group ? '' : name }),
    filter,
    isFiltered: keyword !== '' || owner !== '' || billing !== '' || here !== '',
    setFilter: (patch: Partial<PriceFilter>, isTyping = false) => setUrlParams(patch, { isTyping }),
    clear: () => setUrlParams(NO_FILTER),
    sort: sort === '' ? null : { column: sort, isDescending: order === 'desc' },
    setSort: ({ column, isDescending }: Sort) =>
      setUrlParams({ sort: column as SortColumn, order: isDescending ? 'desc' : 'asc' }),
  }
}

export type PricingView = ReturnType<typeof usePricing>

function selectedGroupOf(data: Pricing | undefined, requestedGroup: string): string {
  if (data === undefined) return requestedGroup
  return Object.hasOwn(data.usable_group, requestedGroup) ? requestedGroup : data.user_group
}

function matching(
  all: readonly PricedModel[],
  { keyword, owner, billing, here }: PriceFilter,
  group: string,
): readonly PricedModel[] {
  const searchText = keyword.trim().toLowerCase()
  return all.filter(
    (model) =>
      (searchText === '' || model.model_name.toLowerCase().includes(searchText)) &&
      (owner === '' || (model.owner_by || OTHER_OWNER) === owner) &&
      (billing === '' || (billing === 'call') === (model.quota_type === 1)) &&
      (here === '' || model.enable_groups.includes(group)),
  )
}

function sorted(
  rows: readonly PricedModel[],
  sort: SortColumn | '',
  order: 'asc' | 'desc',
): readonly PricedModel[] {
  if (sort === '') return rows
  const upwards = (left: PricedModel, right: PricedModel): number => {
    if (sort === 'model') return byName(left.model_name, right.model_name)
    if (sort === 'owner') return byName(left.owner_by, right.owner_by)
    const kinds = left.quota_type - right.quota_type
    return kinds === 0 ? sortPrice(left, sort) - sortPrice(right, sort) : kinds
  }
  const sign = order === 'desc' ? -1 : 1
  return rows.toSorted(
    (left, right) => sign * upwards(left, right) || byName(left.model_name, right.model_name),
  )
}

const byName = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

export function ownersOf(all: readonly PricedModel[]): readonly string[] {
  const names = new Set(all.map(({ owner_by }) => owner_by || OTHER_OWNER))
  const owners = [...names].filter((name) => name !== OTHER_OWNER).sort(byName)
  return names.has(OTHER_OWNER) && owners.length > 0 ? [...owners, OTHER_OWNER] : owners
}

/** Reads the prices of the models. `userId` is null for a visitor who is not logged in. */
const pricingQuery = (userId: number | null) =>
  queryOptions({
    queryKey: ['pricing', userId],
    queryFn: async ({ signal }) => (await callForEnvelope('GET /api/pricing', { signal })).envelope,
  })
