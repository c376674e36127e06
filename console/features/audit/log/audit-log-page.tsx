import { useInfiniteQuery } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useCallback, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { call } from '#console/api/client.ts'
import { useMinPosition } from '#console/api/live/use-live-topic.ts'
import { currentSeconds } from '#console/api/scratch-copy.ts'
import {
  type Column,
  column,
  HIDDEN_COLUMN,
  TITLE_COLUMN,
} from '#console/ui/data-grid/column-and-layout.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { LiveIndicator } from '#console/ui/elements/live-indicator.tsx'
import { MenuButton } from '#console/ui/elements/menu.tsx'
import { stampText } from '#console/ui/elements/time-text.ts'
import { FilterInput } from '#console/ui/forms/filter-input.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { ClearFiltersButton } from '#console/ui/lists/clear-filters-button.tsx'
import { exactQuotaText, quotaOf } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import { fallbacksOf, textParam, type UrlValues } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import { RangeFilter } from '#console/ui/time-range/range-filter.tsx'
import {
  boundsBeforeEnd,
  isWithin,
  rangeParam,
  rangeText,
  relativeRange,
  zoneName,
} from '#console/ui/time-range/time-range.ts'
import type { AuditAct } from '#read-api/contract/audit-log.ts'
import { useActSearch, useEventLabel } from '../elements/act-and-event-labels.ts'
import { auditorsOnlyPage } from '../elements/auditors-only-page.tsx'
import { CursorList, cursorQuery } from '../elements/cursor-list.tsx'
import { exportItems, useFileDownload } from '../elements/file-download.tsx'
import { ChangesTable, Facts } from '../elements/small-tables.tsx'
import { timeColumn } from '../elements/time-and-amount-columns.tsx'
import { actorText } from '../elements/user-names.ts'
import { changesBetween } from '../history/object-history.ts'
import { actKey, useLiveActs, withLiveActs } from './use-live-acts.ts'
import '../audit.css'

const FILTERS = {
  range: rangeParam(relativeRange('30d')),
  actor: textParam(),
  act: textParam(),
  object: textParam(),
}
type Filters = UrlValues<typeof FILTERS>
const NO_FILTERS: Filters = fallbacksOf(FILTERS)

const ACTS_PER_PAGE = 50

export const AuditLogPage = auditorsOnlyPage('shell.auditLog', AuditLog)

function AuditLog() {
  const { t } = useTranslation()
  const [filters, set] = useUrlState(FILTERS)
  const { query, live } = useActs(filters)
  const labelOf = useEventLabel()
  const columns = useMemo(() => actColumns(t, labelOf), [t, labelOf])
  const fresh = new Set(live.map(actKey))
  const isRangePast = filters.range.kind === 'absolute' && filters.range.to * 1_000 < Date.now()
  return (
    <Page
      title={t('shell.auditLog')}
      lead={t('audit.acts.lead', { zone: zoneName() })}
      actions={<LiveIndicator kind={isRangePast ? 'past' : 'live'} />}
    >
      <CursorList
        label={t('shell.auditLog')}
        query={query}
        withLive={(listed) => withLiveActs(listed, live, !query.hasNextPage)}
        isFresh={(act) => fresh.has(actKey(act))}
        rowKey={actKey}
        layoutKey="audit-log-columns"
        columns={columns}
        expand={(act) => <ActDetails act={act} />}
        filters={<ActFilters filters={filters} onFilters={set} />}
        tools={<ExportMenu filters={filters} />}
        moreText={t('audit.loadOlder')}
        empty={
          <EmptyState icon="list" title={t('audit.acts.none')} body={t('audit.events.noneLead')} />
        }
      />
    </Page>
  )
}

/**
 * Reads the acts that match the filters, and adds later acts from live events. An act is something
 * that a user or the system did, as recorded in the audit log.
 */
function useActs(filters: Filters) {
  /**
   * The event log position of the last resync. Each later response must include all acts up to this
   * position.
   */
  const minPosition = useMinPosition()
  const view = JSON.stringify({ ...filters, range: rangeText(filters.range) })
  const query = useInfiniteQuery(
    cursorQuery(['audit', 'log', view], (cursor, signal) =>
      call('GET /api/audit/log', {
        query: { ...queryOf(filters), cursor, limit: ACTS_PER_PAGE },
        afterPosition: minPosition.current(),
        signal,
      }),
    ),
  )
  const { refetch } = query
  const refetchUpTo = useCallback(
    (position: number | null) => {
      minPosition.raiseTo(position)
      void refetch()
    },
    [refetch, minPosition],
  )
  const live = useLiveActs({
    view,
    isListed: (act) => matches(act, filters),
    refetch: refetchUpTo,
  })
  return { query, live }
}

/**
 * Reports whether an act from a live event matches the filters. The server applies the same rules
 * to listed acts.
 */
function matches({ actor, act, object, created_at: at }: AuditAct, filters: Filters): boolean {
  const { range } = filters
  const isInRange = range.kind === 'relative' || isWithin(range, at)
  const matchesActor = ['', actor.name, `${actor.kind}:${actor.id}`].includes(filters.actor)
  const matchesAct = filters.act === '' || filters.act === act
  const isObject = filters.object === '' || filters.object === `${object.kind}:${object.id}`
  return isInRange && matchesActor && matchesAct && isObject
}

function queryOf({ range, actor, act, object }: Filters) {
  const { from, to } = boundsBeforeEnd(range, currentSeconds())
  return { from, to, actor, act, object }
}

function ActFilters(props: { filters: Filters; onFilters: (patch: Partial<Filters>) => void }) {
  const { t } = useTranslation()
  const { filters, onFilters } = props
  const labelOf = useEventLabel()
  const search = useActSearch()
  const isFiltered = filters.actor !== '' || filters.act !== '' || filters.object !== ''
  return (
    <>
      <RangeFilter range={filters.range} onRange={(range) => onFilters({ range })} />
      <FilterInput
        label={t('audit.actor')}
        value={filters.actor}
        onCommit={(actor) => onFilters({ actor })}
      />
      <FilterInput
        label={t('audit.acts.act')}
        value={labelOf(filters.act)}
        isWide
        suggestions={search.labels}
        onCommit={(text) => onFilters({ act: search.nameOf(text) })}
      />
      <FilterInput
        label={t('audit.acts.object')}
        value={filters.object}
        onCommit={(object) => onFilters({ object })}
      />
      {isFiltered && <ClearFiltersButton onClear={() => onFilters(NO_FILTERS)} />}
    </>
  )
}

function ExportMenu({ filters }: { filters: Filters }) {
  const { t } = useTranslation()
  const download = useFileDownload()
  const start = (format: 'csv' | 'ndjson') =>
    download.start({
      route: 'GET /api/audit/log/export',
      query: { ...queryOf(filters), format },
      name: `audit-log.${format}`,
    })
  return (
    <MenuButton items={exportItems(t, start)}>
      <Button icon="download" label={t('shared.export')} isDisabled={download.bytes !== null} />
    </MenuButton>
  )
}

type Named = AuditAct['object']

/** The kinds of objects that have a translated name. */
const KINDS = [
  ...(['channel', 'correction', 'invoice', 'job', 'message', 'option', 'order'] as const),
  ...(['price-change', 'redemption', 'token', 'user'] as const),
]

const codeOf = ({ kind, id }: Named): string => `${kind}:${id}`

/**
 * Returns the kind and the name of an object in the language of the console. If the kind has no
 * translated name, returns the object's code (kind and id). The filter for objects and the details
 * of an act always use this code.
 */
function objectText(t: TFunction, object: Named): string {
  const { kind, id, name } = object
  if (kind === 'site') return t('audit.site')
  const known = KINDS.find((one) => one === kind)
  if (known === undefined) return codeOf(object)
  if (known === 'user' && name !== '') return `${name} (#${id})`
  const number = /^\d+$/.test(id) ? `#${id}` : id
  const text = name === '' ? number : `${name} (${number})`
  return `${t(`audit.object.${known}`)} ${text}`
}

/**
 * The acts for which the console asks the admin for a reason. An API request can omit the reason.
 */
const REASONED_ACTS: readonly string[] = ['quota-granted', 'quota-deducted']

function reasonOf(t: TFunction, { act, reason, is_reason_erased: isErased }: AuditAct): string {
  if (isErased) return t('audit.reasonErased')
  return reason === '' && REASONED_ACTS.includes(act) ? t('audit.noReason') : reason
}

const actColumns = (t: TFunction, labelOf: (act: string) => string): Column<AuditAct>[] => [
  timeColumn('time', t('shared.time'), ({ created_at: at }) => at, { onCard: 'aside' }),
  column('actor', t('audit.actor'), 130, ({ actor }) => actorText(t, actor)),
  column('act', t('audit.acts.act'), 240, ({ act }) => labelOf(act), {
    ...TITLE_COLUMN,
    isGrowing: false,
  }),
  column('object', t('audit.acts.object'), 190, ({ object }) => objectText(t, object)),
  column('reason', t('audit.acts.reason'), 170, (act) => reasonOf(t, act) || '–', {
    isGrowing: true,
  }),
  column('ip', t('audit.acts.ip'), 120, ({ client_ip: ip }) => ip || '–', HIDDEN_COLUMN),
]

/**
 * For each act, lists the names of the values that are in quota units. The name `quota` is not
 * listed, because a value with this name is in quota units in every act.
 */
const QUOTA_VALUES: Readonly<Record<string, readonly string[]>> = {
  'quota-granted': ['amount'],
  'quota-deducted': ['amount'],
  'correction-started': ['refunded', 'charged'],
}

/** For each act, lists the names of the values that are times in Unix seconds. */
const TIME_VALUES: Readonly<Record<string, readonly string[]>> = {
  'correction-started': ['from', 'to'],
}

/**
 * Returns a function that makes a value readable. To a value in quota units, it appends the amount
 * in dollars, if the site shows dollars. To a time in Unix seconds, it appends the local time. It
 * returns other values unchanged.
 */
function useReadableValue({ act }: AuditAct) {
  const rule = useMoneyRule()
  return (name: string, value: string | null): string | null => {
    if (value === null || !/^-?\d{1,15}$/.test(value)) return value
    if (TIME_VALUES[act]?.includes(name) === true) return `${value} (${stampText(Number(value))})`
    const isQuota = name === 'quota' || QUOTA_VALUES[act]?.includes(name) === true
    if (!rule.isCurrency || !isQuota) return value
    const money = exactQuotaText(quotaOf(Math.abs(Number(value))), rule)
    return `${value} (${value.startsWith('-') ? '−' : ''}${money})`
  }
}

/**
 * Shows the values that an act changed, before and after the act, and the origin of the request.
 * One link lists all acts on the same object, and another link opens the stored event.
 */
function ActDetails({ act }: { act: AuditAct }) {
  const { t } = useTranslation()
  const readable = useReadableValue(act)
  const object = codeOf(act.object)
  const changes = changesBetween(act.before, act.after).map(({ name, before, after }) => ({
    ...{ name, before: readable(name, before), after: readable(name, after) },
  }))
  return (
    <div className="tg-audit-act">
      <ChangesTable label={t('audit.history.changes')} changes={changes} />
      <Facts
        facts={[
          [t('audit.acts.act'), <code key="act">{act.act}</code>],
          [t('audit.actor'), <code key="actor">{codeOf(act.actor)}</code>],
          [
            t('audit.acts.object'),
            <Link key="object" to={`?${new URLSearchParams({ object, range: 'all' })}`}>
              <code>{object}</code>
            </Link>,
          ],
          [t('audit.acts.reason'), reasonOf(t, act)],
          [t('audit.acts.ip'), act.client_ip],
          [t('shared.requestId'), act.request_id],
          [
            t('audit.position'),
            <Link key="position" to={`/app/audit/events?position=${act.position}`}>
              #{act.position}
            </Link>,
          ],
        ]}
      />
    </div>
  )
}
