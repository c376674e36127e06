import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { groupsQuery } from '#console/api/account.ts'
import { type Choice, Select } from '#console/ui/forms/inputs.tsx'
import { SearchInput } from '#console/ui/forms/search-input.tsx'
import { KeywordFilter } from '#console/ui/lists/list-panel.tsx'
import type { ChannelFilters } from './channel-address.ts'
import type { ChannelListView } from './use-channel-list.ts'

const STATES = [
  ['1', 'enabled'],
  ['2', 'disabled'],
  ['3', 'autoDisabled'],
] as const

type FieldsProps = {
  view: Pick<ChannelListView, 'filter' | 'setFilter'>
  types: readonly Choice<string>[]
}

/** Returns the number of active filters that the collapsed filter bar hides on phones. */
export const foldedCount = ({ keyword, ...folded }: ChannelFilters): number =>
  Object.values(folded).filter((text) => text !== '').length

/** The filters of the list, as stored in the URL. Phones show only the search until expanded. */
export function ChannelFilterFields(props: FieldsProps & { isFolded: boolean }): ReactElement {
  const { t } = useTranslation()
  return (
    <>
      <KeywordFilter label={t('channels.searchKeyword')} view={props.view} />
      <div className="tg-channel-fold" hidden={props.isFolded}>
        <FoldedFields {...props} />
      </div>
    </>
  )
}

function FoldedFields(props: FieldsProps): ReactElement {
  const { filter: filters, setFilter: onFilters } = props.view
  const { t } = useTranslation()
  const groups = useQuery(groupsQuery).data ?? []
  const names = filters.group === '' ? groups : [...new Set([...groups, filters.group])]
  const states = STATES.map(([value, state]) => ({ value, label: t(`channels.state.${state}`) }))
  return (
    <>
      <SearchInput
        className="tg-filter-short"
        label={t('ui.model')}
        value={filters.model}
        onChange={(model) => onFilters({ model }, { isTyping: true })}
      />
      <Select
        aria-label={t('ui.groupName')}
        value={filters.group}
        choices={[
          { value: '', label: t('words.allGroups') },
          ...names.map((name) => ({ value: name, label: name })),
        ]}
        onChange={(group) => onFilters({ group })}
      />
      <Select
        aria-label={t('words.status')}
        value={filters.status}
        choices={[{ value: '' as const, label: t('words.anyStatus') }, ...states]}
        onChange={(status) => onFilters({ status })}
      />
      <Select
        aria-label={t('words.type')}
        value={filters.type}
        choices={[{ value: '', label: t('channels.anyType') }, ...props.types]}
        onChange={(type) => onFilters({ type })}
      />
    </>
  )
}
