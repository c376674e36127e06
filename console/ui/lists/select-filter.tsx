import { useTranslation } from 'react-i18next'
import type { Sort } from '../data-grid/column-and-layout.ts'
import { type Choice, choicesOf, Select } from '../forms/inputs.tsx'

/** A filter with a fixed list of values. `any` is the label of the choice that selects all rows. */
export function SelectFilter<Value extends string>(props: {
  label: string
  any: string
  choices: readonly Choice<Value>[]
  value: Value | ''
  className?: string
  onChange: (value: Value | '') => void
}) {
  const { label, any, choices, ...rest } = props
  return (
    <Select<Value | ''>
      aria-label={label}
      choices={[{ value: '', label: any }, ...choices]}
      {...rest}
    />
  )
}

export function StatusFilter<Value extends string>(
  props: Omit<Parameters<typeof SelectFilter<Value>>[0], 'label' | 'any'>,
) {
  const { t } = useTranslation()
  return <SelectFilter label={t('shared.status')} any={t('shared.anyStatus')} {...props} />
}

/**
 * Selects the order of a list without column headers, such as a list of cards. The default is
 * newest first.
 */
export function SortSelect(props: {
  orders: readonly { sort: Sort; label: string }[]
  sort: Sort | null
  onSort: (sort: Sort | null) => void
}) {
  const { t } = useTranslation()
  const choices = props.orders.map(({ sort, label }) => ({ value: nameOf(sort), label }))
  return (
    <SelectFilter
      label={t('shared.order')}
      any={t('shared.newestFirst')}
      choices={choices}
      value={props.sort === null ? '' : nameOf(props.sort)}
      onChange={(value) =>
        props.onSort(props.orders.find(({ sort }) => nameOf(sort) === value)?.sort ?? null)
      }
    />
  )
}

const nameOf = ({ column, isDescending }: Sort): string =>
  `${column} ${isDescending ? 'desc' : 'asc'}`

/** A filter by group. A group that is in the URL can be selected even if it no longer exists. */
export function GroupFilter(props: {
  groups: readonly string[]
  value: string
  className?: string
  onChange: (group: string) => void
}) {
  const { t } = useTranslation()
  const { groups, ...rest } = props
  const names = [...new Set([...groups, props.value])].filter((name) => name !== '')
  return (
    <SelectFilter
      label={t('ui.groupName')}
      any={t('shared.allGroups')}
      choices={choicesOf(names)}
      {...rest}
    />
  )
}
