import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { groupsQuery } from '#console/api/own-user-group-and-model-queries.ts'
import { Button } from '#console/ui/elements/button.tsx'
import type { Choice } from '#console/ui/forms/inputs.tsx'
import { SearchInput } from '#console/ui/forms/search-input.tsx'
import { KeywordFilter } from '#console/ui/lists/list-panel.tsx'
import { GroupFilter, SelectFilter, StatusFilter } from '#console/ui/lists/select-filter.tsx'
import type { ChannelFilters } from './channel-url-params.ts'
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

export const collapsedFilterCount = ({ keyword, ...folded }: ChannelFilters): number =>
  Object.values(folded).filter((text) => text !== '').length

/**
 * The filters of the channel list. With `isFolded`, which is used on phones, only the search field
 * is visible.
 */
export function ChannelFilterFields(props: FieldsProps & { isFolded: boolean }) {
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

function FoldedFields(props: FieldsProps) {
  const { filter: filters, setFilter: onFilters } = props.view
  const { t } = useTranslation()
  const groups = useQuery(groupsQuery).data ?? []
  return (
    <>
      <SearchInput
        className="tg-filter-short"
        icon={undefined}
        label={t('ui.model')}
        value={filters.model}
        onChange={(model) => onFilters({ model }, { isTyping: true })}
      />
      <GroupFilter
        groups={groups}
        value={filters.group}
        onChange={(group) => onFilters({ group })}
      />
      <StatusFilter
        value={filters.status}
        choices={STATES.map(([value, state]) => ({ value, label: t(`shared.state.${state}`) }))}
        onChange={(status) => onFilters({ status })}
      />
      <SelectFilter
        label={t('shared.type')}
        any={t('shared.allTypes')}
        value={filters.type}
        choices={props.types}
        onChange={(type) => onFilters({ type })}
      />
    </>
  )
}

export function ChannelModes({ modes }: Pick<ChannelListView, 'modes'>) {
  const { isTagMode, setTagMode, isSelecting, setSelecting, isIdSort, setIdSort } = modes
  const { t } = useTranslation()
  return (
    <>
      <Button icon="tag" isPressed={isTagMode} onClick={() => setTagMode(!isTagMode)}>
        {t('channels.tagMode')}
      </Button>
      <Button icon="check" isPressed={isSelecting} onClick={() => setSelecting(!isSelecting)}>
        {t('channels.bulkMode')}
      </Button>
      <Button icon="arrowDown" isPressed={isIdSort} onClick={() => setIdSort(!isIdSort)}>
        {t('channels.idSort')}
      </Button>
    </>
  )
}
