import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { groupsQuery } from '#console/api/groups.ts'
import { Button } from '#console/ui/button.tsx'
import { type Choice, Select } from '#console/ui/inputs.tsx'
import { SearchInput } from '#console/ui/search-input.tsx'
import { type ChannelFilters, isFiltered, NO_FILTERS } from './channel-address.ts'

export type SetFilters = (patch: Partial<ChannelFilters>, options?: { isTyping: boolean }) => void

const STATES = [
  ['1', 'enabled'],
  ['2', 'disabled'],
  ['3', 'autoDisabled'],
] as const

export type FieldsProps = {
  filters: ChannelFilters
  /** The types to choose from. */
  types: readonly Choice<string>[]
  onFilters: SetFilters
}

/** How many of those are set that are folded away on phones. */
export const foldedCount = ({ keyword, ...folded }: ChannelFilters): number =>
  Object.values(folded).filter((text) => text !== '').length

/** What the list is narrowed to: kept in the address. On phones all but the search folds. */
export function ChannelFilterFields(props: FieldsProps & { isFolded: boolean }): ReactElement {
  const { filters, onFilters } = props
  const { t } = useTranslation()
  return (
    <>
      <SearchInput
        icon="search"
        label={t('channels.searchKeyword')}
        value={filters.keyword}
        onChange={(text) => onFilters({ keyword: text }, { isTyping: true })}
      />
      <div className="tg-channel-fold" hidden={props.isFolded}>
        <FoldedFields {...props} />
      </div>
      {isFiltered(filters) && (
        <Button tone="quiet" icon="close" onClick={() => onFilters(NO_FILTERS)}>
          {t('channels.clear')}
        </Button>
      )}
    </>
  )
}

function FoldedFields(props: FieldsProps): ReactElement {
  const { filters, onFilters } = props
  const { t } = useTranslation()
  const groups = useQuery(groupsQuery).data ?? []
  const names = filters.group === '' ? groups : [...new Set([...groups, filters.group])]
  const states = STATES.map(([value, state]) => ({ value, label: t(`channels.state.${state}`) }))
  return (
    <>
      <SearchInput
        className="tg-filter-short"
        label={t('channels.searchModel')}
        value={filters.model}
        onChange={(model) => onFilters({ model }, { isTyping: true })}
      />
      <Select
        aria-label={t('channels.searchGroup')}
        value={filters.group}
        choices={[
          { value: '', label: t('channels.anyGroup') },
          ...names.map((name) => ({ value: name, label: name })),
        ]}
        onChange={(group) => onFilters({ group })}
      />
      <Select
        aria-label={t('channels.searchStatus')}
        value={filters.status}
        choices={[{ value: '' as const, label: t('channels.anyStatus') }, ...states]}
        onChange={(status) => onFilters({ status })}
      />
      <Select
        aria-label={t('channels.searchType')}
        value={filters.type}
        choices={[{ value: '', label: t('channels.anyType') }, ...props.types]}
        onChange={(type) => onFilters({ type })}
      />
    </>
  )
}
