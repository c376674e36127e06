import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import {
  groupsQuery,
  usableGroupsQuery,
  usableModelsQuery,
} from '#console/api/own-user-group-and-model-queries.ts'
import { tokensQuery } from '#console/api/token-and-redemption-queries.ts'
import { channelNameQuery } from '#console/api/usage-log-queries.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { findRequestId } from '#console/ui/elements/find-request-id.ts'
import { FilterInput, NumberFilter } from '#console/ui/forms/filter-input.tsx'
import { Select, TextInput } from '#console/ui/forms/inputs.tsx'
import { GroupFilter } from '#console/ui/lists/select-filter.tsx'
import { Toolbar } from '#console/ui/lists/toolbar.tsx'
import { RangeFilter } from '#console/ui/time-range/range-filter.tsx'
import { findFullRequestId } from '#read-api/contract/find-full-request-id.ts'
import { useIsCompact } from './call-chart-bars.ts'
import { typeName } from './log-type.ts'
import { DEFAULT_RANGE, filterCount, LOG_TYPES, type LogFilters } from './log-url-params.ts'
import type { LogView } from './use-log-view.ts'

export function LogFilterBar(props: { view: LogView }) {
  const { t } = useTranslation()
  const { filters, setFilters, clearFilters } = props.view
  const [isOpen, setOpen] = useState(false)
  const isTight = useIsCompact()
  const count = filterCount(filters)
  const search = (
    <RequestIdSearch value={filters.request} onCommit={(request) => setFilters({ request })} />
  )
  return (
    <Toolbar label={t('ui.filters')}>
      {!isTight && search}
      {filters.request === '' ? (
        <RangeFilter range={filters.range} onRange={(range) => setFilters({ range })} />
      ) : (
        <Button icon="clock" isDisabled>
          {t('usageLog.anyTime')}
        </Button>
      )}
      {isTight && (
        <Button
          icon="filter"
          endIcon={isOpen ? 'chevronUp' : 'chevronDown'}
          isExpanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {hiddenFilterCount(filters) === 0
            ? t('ui.filters')
            : t('shared.filtersCount', { count: hiddenFilterCount(filters) })}
        </Button>
      )}
      {isTight ? (
        <div className="tg-log-fold" hidden={!isOpen}>
          {search}
          <Fields view={props.view} />
        </div>
      ) : (
        <Fields view={props.view} />
      )}
      {filters.failed_channel > 0 && (
        <FailedChannelChip
          id={filters.failed_channel}
          onRemove={() => setFilters({ failed_channel: 0 })}
        />
      )}
      {count > 0 && (
        <Button
          tone="quiet"
          icon="close"
          label={t('usageLog.clear', { count })}
          onClick={clearFilters}
        >
          {isTight ? t('usageLog.clear', { count }) : undefined}
        </Button>
      )}
    </Toolbar>
  )
}

function FailedChannelChip(props: { id: number; onRemove: () => void }) {
  const { t } = useTranslation()
  const name = useQuery(channelNameQuery(props.id)).data || `#${props.id}`
  const filterText = t('usageLog.failedOn', { name })
  return (
    <Button
      className="tg-log-failed-channel"
      endIcon="close"
      label={t('usageLog.removeFilter', { filter: filterText })}
      onClick={props.onRemove}
    >
      {filterText}
    </Button>
  )
}

function Fields({ view }: { view: LogView }) {
  const { t } = useTranslation()
  const { filters, setFilters, isAdmin } = view
  const names = useSuggestions(isAdmin)
  return (
    <>
      <TypeFilter type={filters.type} onType={(type) => setFilters({ type })} />
      <FilterInput
        label={t('ui.model')}
        value={filters.model}
        suggestions={names.models}
        onCommit={(model) => setFilters({ model })}
      />
      <FilterInput
        label={t('shared.token')}
        value={filters.token}
        suggestions={names.tokens}
        onCommit={(token) => setFilters({ token })}
      />
      <GroupFilter
        className="tg-filter tg-log-group"
        groups={names.groups}
        value={filters.group}
        onChange={(group) => setFilters({ group })}
      />
      {isAdmin && <AdminFields view={view} />}
    </>
  )
}

function AdminFields({ view }: { view: LogView }) {
  const { t } = useTranslation()
  const { filters, setFilters } = view
  return (
    <>
      <FilterInput
        label={t('auth.name')}
        value={filters.username}
        onCommit={(username) => setFilters({ username })}
      />
      <NumberFilter
        label={t('shared.channelId')}
        value={filters.channel}
        errorText={t('shared.channelIdInvalid')}
        onCommit={(channel) => setFilters({ channel })}
      />
    </>
  )
}

/**
 * Returns the number of active filters that are visible only after a click on the button for
 * filters. The button shows this number.
 */
const hiddenFilterCount = (filters: LogFilters): number =>
  filterCount({ ...filters, range: DEFAULT_RANGE, failed_channel: 0 })

function TypeFilter(props: { type: number; onType: (type: number) => void }) {
  const { t } = useTranslation()
  const typeText = (type: number): string => {
    const name = typeName(type)
    return name === null ? t('shared.allTypes') : t(`usageLog.type.${name}`)
  }
  return (
    <Select
      aria-label={t('usageLog.typeFilter')}
      className="tg-filter tg-log-type"
      value={String(props.type)}
      choices={LOG_TYPES.map((type) => ({ value: String(type), label: typeText(type) }))}
      onChange={(value) => props.onType(Number(value))}
    />
  )
}

const FIRST_TOKENS = { keyword: '', page: 0, pageSize: 100 }

/** Returns the names that filter fields suggest. The user can also enter any other name. */
function useSuggestions(isAdmin: boolean) {
  const models = useQuery(usableModelsQuery).data
  const tokens = useQuery(tokensQuery(FIRST_TOKENS)).data?.items
  const all = useQuery({ ...groupsQuery, enabled: isAdmin }).data
  const ownGroups = useQuery({ ...usableGroupsQuery, enabled: !isAdmin }).data
  return {
    models: models ?? [],
    tokens: (tokens ?? []).map(({ name }) => name),
    groups: all ?? Object.keys(ownGroups ?? {}),
  }
}

type Props = { value: string; onCommit: (requestId: string) => void }

/**
 * Searches for a call by its id. A complete id starts the search immediately. The beginning of an
 * id starts the search when the user presses Enter or leaves the field.
 */
function RequestIdSearch({ value, onCommit }: Props) {
  const { t } = useTranslation()
  const id = useId()
  const [draft, setDraft] = useState({ from: value, text: value, isInvalid: false })
  const set = (text: string, isInvalid = false): void => setDraft({ from: value, text, isInvalid })
  // The URL was changed by another control, such as the browser's Back button.
  if (draft.from !== value) set(value)
  const commit = (text: string): void => {
    const requestId = text.trim() === '' ? '' : findRequestId(text)
    if (requestId === null) return set(text, true)
    set(requestId)
    if (requestId !== value) onCommit(requestId)
  }
  const change = (text: string): void => {
    if (text === '' || findFullRequestId(text) !== null) commit(text)
    else set(text)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && !event.nativeEvent.isComposing) commit(draft.text)
  }
  return (
    <span className="tg-filter tg-log-search">
      <TextInput
        type="search"
        icon="search"
        aria-label={t('usageLog.findRequest')}
        placeholder={t('shared.requestId')}
        title={draft.text || t('usageLog.findRequestHint')}
        value={draft.text}
        autoComplete="off"
        maxLength={500}
        aria-invalid={draft.isInvalid}
        aria-describedby={draft.isInvalid ? `${id}-error` : undefined}
        onChange={change}
        onKeyDown={onKeyDown}
        onBlur={() => commit(draft.text)}
      />
      {draft.isInvalid && (
        <span id={`${id}-error`} className="tg-filter-error" role="alert">
          {t('usageLog.requestIdInvalid')}
        </span>
      )}
    </span>
  )
}
