import { useQuery } from '@tanstack/react-query'
import type { ReactElement, ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { groupsQuery } from '#console/api/groups/list-groups.ts'
import { Button } from '#console/ui/button.tsx'
import { Select } from '#console/ui/inputs.tsx'
import { MenuButton } from '#console/ui/menu.tsx'
import { SearchInput } from '#console/ui/search-input.tsx'
import { Toolbar } from '#console/ui/toolbar.tsx'
import type { Channel } from '#read-api/contract/channel.ts'
import type { ChannelActions } from './use-channel-actions.ts'

export type ChannelFilters = { keyword: string; model: string; group: string }
type SetFilters = (patch: Partial<ChannelFilters>, options?: { isTyping: boolean }) => void

/** Filters at the start, what can be done with the list at the end. */
export function ChannelToolbar(props: {
  filters: ChannelFilters
  picked: readonly Channel[]
  actions: ChannelActions
  columns: ReactNode
  onFilters: SetFilters
  onRefresh: () => void
  onDone: () => void
}): ReactElement {
  const { picked, actions } = props
  const { t } = useTranslation()
  const remove = async () => {
    if (await actions.remove(picked)) props.onDone()
  }
  const end = (
    <>
      <fieldset className="tg-chosen" aria-label={t('channels.chosenLabel')}>
        {picked.length > 0 && <span>{t('channels.chosen', { count: picked.length })}</span>}
        <Button icon="trash" onClick={() => void remove()}>
          {t('channels.deleteChosen')}
        </Button>
      </fieldset>
      <Button icon="refresh" label={t('channels.refresh')} onClick={props.onRefresh} />
      {props.columns}
      <MenuButton
        items={[
          {
            id: 'disabled',
            text: t('channels.deleteDisabled'),
            icon: 'trash',
            tone: 'danger',
            onChoose: () => void actions.removeDisabled(),
          },
        ]}
      >
        <Button icon="more" label={t('channels.moreActions')} />
      </MenuButton>
    </>
  )
  return (
    <Toolbar label={t('channels.filters')} end={end}>
      <FilterFields filters={props.filters} onFilters={props.onFilters} />
    </Toolbar>
  )
}

function FilterFields(props: { filters: ChannelFilters; onFilters: SetFilters }): ReactElement {
  const { filters, onFilters } = props
  const { t } = useTranslation()
  const groups = useQuery(groupsQuery).data ?? []
  const names = filters.group === '' ? groups : [...new Set([...groups, filters.group])]
  return (
    <>
      <SearchInput
        icon="search"
        label={t('channels.searchKeyword')}
        value={filters.keyword}
        onChange={(keyword) => onFilters({ keyword }, { isTyping: true })}
      />
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
    </>
  )
}
