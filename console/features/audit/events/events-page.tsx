import { useInfiniteQuery } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { call } from '#console/api/client.ts'
import { currentSeconds } from '#console/api/scratch-copy.ts'
import { type Column, column, TITLE_COLUMN } from '#console/ui/data-grid/column-and-layout.ts'
import { CopyButton } from '#console/ui/elements/copy-to-clipboard.tsx'
import { FilterInput, NumberFilter } from '#console/ui/forms/filter-input.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { ClearFiltersButton } from '#console/ui/lists/clear-filters-button.tsx'
import {
  fallbacksOf,
  integerParam,
  textParam,
  type UrlValues,
} from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import { RangeFilter } from '#console/ui/time-range/range-filter.tsx'
import {
  boundsOf,
  rangeParam,
  rangeText,
  relativeRange,
  zoneName,
} from '#console/ui/time-range/time-range.ts'
import type { RawEvent } from '#read-api/contract/time-travel.ts'
import { useEventLabel, useEventTypeSearch } from '../elements/act-and-event-labels.ts'
import { auditorsOnlyPage } from '../elements/auditors-only-page.tsx'
import { CursorList, cursorQuery } from '../elements/cursor-list.tsx'
import { timeColumn } from '../elements/time-and-amount-columns.tsx'
import '../audit.css'

const FILTERS = {
  /**
   * The event log position at which the list starts. If it is not 0, the time range does not apply.
   */
  position: integerParam({ fallback: 0, max: 999_999_999_999_999 }),
  range: rangeParam(relativeRange('today')),
  stream: textParam(),
  type: textParam(),
  actor: textParam(),
  user: integerParam({ fallback: 0, max: 2 ** 31 - 1 }),
}
type Filters = UrlValues<typeof FILTERS>

export const EventsPage = auditorsOnlyPage('shell.events', Events)

function Events() {
  const { t } = useTranslation()
  const [filters, set] = useUrlState(FILTERS)
  const query = useInfiniteQuery(
    cursorQuery(
      ['audit', 'events', { ...filters, range: rangeText(filters.range) }],
      (cursor, signal) =>
        call('GET /api/audit/events', {
          query: { ...queryOf(filters), after: cursor, limit: 50 },
          signal,
        }),
    ),
  )
  const labelOf = useEventLabel()
  const columns = useMemo(() => eventColumns(t, labelOf), [t, labelOf])
  return (
    <Page title={t('shell.events')} lead={t('audit.events.lead', { zone: zoneName() })}>
      <CursorList
        label={t('shell.events')}
        query={query}
        rowKey={rowKey}
        layoutKey="audit-events-columns"
        columns={columns}
        expand={(event) => <EventData event={event} />}
        openKey={filters.position > 0 ? String(filters.position) : undefined}
        filters={<EventFilters filters={filters} onFilters={set} />}
        moreText={t('audit.loadMore')}
        empty={
          <EmptyState
            icon="list"
            title={t('audit.events.none')}
            body={t(query.hasNextPage ? 'audit.events.notYet' : 'audit.events.noneLead')}
          />
        }
      />
    </Page>
  )
}

const rowKey = ({ position }: RawEvent): string => String(position)

function queryOf({ position, range, stream, type, actor, user }: Filters) {
  const shared = { stream, type, actor, user_id: user === 0 ? undefined : user }
  if (position > 0) return { ...shared, from: String(position) }
  const { from, to } = boundsOf(range, currentSeconds())
  // The times of events have milliseconds, so the range ends with the last one of its last second.
  return { ...shared, from: isoText(from), to: isoText(to, 999) }
}

const isoText = (seconds: number | null, ms = 0): string | undefined =>
  seconds === null ? undefined : new Date(seconds * 1000 + ms).toISOString()

function EventFilters(props: { filters: Filters; onFilters: (patch: Partial<Filters>) => void }) {
  const { t } = useTranslation()
  const { filters, onFilters } = props
  const labelOf = useEventLabel()
  const search = useEventTypeSearch()
  const isFiltered = Object.keys(FILTERS).some(
    (name) => filters[name as keyof Filters] !== NO_FILTERS[name as keyof Filters],
  )
  return (
    <>
      {filters.position === 0 && (
        <RangeFilter range={filters.range} onRange={(range) => onFilters({ range })} />
      )}
      <NumberFilter
        label={t('audit.position')}
        value={filters.position}
        errorText={t('audit.export.positionWrong')}
        onCommit={(position) => onFilters({ position })}
      />
      <FilterInput
        label={t('audit.verify.stream')}
        value={filters.stream}
        onCommit={(stream) => onFilters({ stream })}
      />
      <FilterInput
        label={t('audit.events.type')}
        value={labelOf(filters.type)}
        suggestions={search.labels}
        onCommit={(text) => onFilters({ type: search.nameOf(text) })}
      />
      <FilterInput
        label={t('audit.actor')}
        value={filters.actor}
        onCommit={(actor) => onFilters({ actor })}
      />
      <NumberFilter
        label={t('shared.userId')}
        value={filters.user}
        errorText={t('audit.history.idInvalid')}
        onCommit={(user) => onFilters({ user })}
      />
      {isFiltered && <ClearFiltersButton onClear={() => onFilters(NO_FILTERS)} />}
    </>
  )
}

const NO_FILTERS: Filters = fallbacksOf(FILTERS)

const eventColumns = (t: TFunction, labelOf: (type: string) => string): Column<RawEvent>[] => [
  column('position', t('audit.position'), 96, ({ position }) => `#${position}`, {
    align: 'end',
    onCard: 'aside',
  }),
  timeColumn('time', t('shared.time'), ({ at }) => Math.floor(at / 1000)),
  column('event', t('audit.event'), 200, ({ type }) => labelOf(type), {
    ...{ ...TITLE_COLUMN, isGrowing: true },
  }),
  // The type is not translated, because the offline verifier and exports show the untranslated
  // type.
  column('type', t('audit.events.type'), 196, ({ type }) => <code title={type}>{type}</code>),
  column(
    'stream',
    t('audit.verify.stream'),
    190,
    ({ stream, revision }) => `${stream} #${revision}`,
  ),
  column('actor', t('audit.actor'), 120, ({ actor }) => actor),
  column('cause', t('audit.events.cause'), 190, ({ cause }) => cause ?? '–', {
    isHiddenAtFirst: true,
    onCard: 'more',
  }),
]

/** Shows the data of an event as stored. Personal data in the event is not decrypted. */
function EventData({ event }: { event: RawEvent }) {
  const { t } = useTranslation()
  const text = JSON.stringify(event, null, 2)
  return (
    <figure className="tg-audit-raw tg-audit-event">
      <figcaption>
        {t('audit.events.stored')} <CopyButton text={text} label={t('ui.copy')} />
        {event.position > 1 && (
          <Link to={`/app/audit/proofs?tab=copies&before=${event.position}`}>
            {t('audit.events.siteBefore')}
          </Link>
        )}
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must scroll it */}
      <pre tabIndex={0}>{text}</pre>
    </figure>
  )
}
