import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { apiQuery } from '#console/api/client.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { stamp } from '#console/ui/elements/time.tsx'
import { FilterInput } from '#console/ui/forms/filter-input.tsx'
import { choicesOf, Select } from '#console/ui/forms/inputs.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { Toolbar } from '#console/ui/lists/toolbar.tsx'
import { textParam, type UrlParam } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import { InForceTable } from '../calls/call-charge-usage-and-price-panels.tsx'
import { useEventLabel } from '../elements/act-and-event-labels.ts'
import { AsOfFilter, asOfParam } from '../elements/as-of-filter.tsx'
import { auditorsOnlyPage } from '../elements/auditors-only-page.tsx'
import { ChangesTable, ColumnTable } from '../elements/small-tables.tsx'
import { actorText } from '../elements/user-names.ts'
import {
  type AuditObject,
  type ObjectChange,
  objectHistoryQuery,
  valuesOf,
} from './object-history.ts'
import { ObjectState } from './object-state.tsx'
import '../audit.css'

const KINDS = ['channel', 'token', 'user', 'options', 'prices'] as const

/**
 * Reports whether the site has exactly one object of this kind. The options and the prices are such
 * objects. Objects of other kinds have an id.
 */
const isSingleton = (kind: AuditObject['kind']): boolean => kind === 'options' || kind === 'prices'

const objectParam: UrlParam<string> = {
  ...textParam('options:site', 40),
  read: (text) =>
    /^(?:(?:channel|token|user):(?:[1-9]\d{0,14})?|(?:options|prices):site)$/.test(text)
      ? text
      : null,
}

const URL_PARAMS = {
  ...{ object: objectParam, at: asOfParam, filter: textParam() },
  ...{ model: textParam(), group: textParam('default', 64) },
}

export const HistoryPage = auditorsOnlyPage('shell.history', History)

function History() {
  const { t } = useTranslation()
  const [values, set] = useUrlState(URL_PARAMS)
  const [kind = 'options', id = ''] = values.object.split(':') as [AuditObject['kind'], string]
  const select = (next: AuditObject['kind']): void =>
    set({ object: isSingleton(next) ? `${next}:site` : `${next}:`, filter: '' })
  return (
    <Page title={t('shell.history')} lead={t('audit.history.lead')}>
      <Toolbar label={t('ui.filters')}>
        <Select
          aria-label={t('audit.history.object')}
          value={kind}
          choices={choicesOf(KINDS, (value) => t(`audit.history.kind.${value}`))}
          onChange={select}
        />
        {!isSingleton(kind) && (
          <FilterInput
            label={t('shared.id')}
            value={id}
            wholeNumber={{ errorText: t('audit.history.idInvalid') }}
            onCommit={(text) => set({ object: `${kind}:${Number(text) > 0 ? Number(text) : ''}` })}
          />
        )}
        <AsOfFilter at={values.at} onAt={(at) => set({ at })} />
      </Toolbar>
      {kind === 'prices' && (
        <PriceAsOf model={values.model} group={values.group} at={values.at} onChange={set} />
      )}
      {id === '' ? (
        <Panel>
          <EmptyState icon="clock" title={t('audit.history.enterId')} />
        </Panel>
      ) : (
        <ObjectHistory
          key={values.object}
          object={{ kind, id }}
          at={values.at}
          filter={values.filter}
          onFilter={(filter) => set({ filter })}
        />
      )}
    </Page>
  )
}

function ObjectHistory(props: {
  object: AuditObject
  at: string
  filter: string
  onFilter: (filter: string) => void
}) {
  const { object, at, filter, onFilter } = props
  return (
    <div className="tg-columns tg-audit-columns">
      <Changes object={object} at={at} />
      <ObjectState object={object} at={at} filter={filter} onFilter={onFilter} />
    </div>
  )
}

function Changes({ object, at }: { object: AuditObject; at: string }) {
  const { t } = useTranslation()
  const query = useInfiniteQuery(objectHistoryQuery(object, at))
  return (
    <Panel title={t('audit.history.changes')} lead={t('audit.history.changesLead')}>
      <QueryView query={query} height={280}>
        {({ pages }) => (
          <>
            <ol className="tg-audit-attempts">
              {pages
                .flatMap(({ items }) => items)
                .map((change) => (
                  <Change key={change.position} change={change} />
                ))}
            </ol>
            {pages[0]?.items.length === 0 && (
              <EmptyState icon="clock" title={t('audit.history.none')} />
            )}
            {query.hasNextPage && (
              <Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                {t('audit.loadOlder')}
              </Button>
            )}
          </>
        )}
      </QueryView>
    </Panel>
  )
}

function Change({ change }: { change: ObjectChange }) {
  const { t } = useTranslation()
  const eventLabel = useEventLabel()(change.type)
  const [kind = '', id = ''] = change.actor.split(/:(.*)/s)
  const actor = { kind, id, name: change.actor_name }
  return (
    <li>
      <header>
        <strong>{eventLabel}</strong>
        {eventLabel !== change.type && <code className="tg-audit-type">{change.type}</code>}
        {stamp(change.created_at)}
        <span className="tg-muted">{actorText(t, actor)}</span>
        <Link to={`/app/audit/events?position=${change.position}`}>#{change.position}</Link>
      </header>
      {change.changes.length === 0 ? (
        <p className="tg-muted">{t('audit.history.noValues')}</p>
      ) : (
        <ChangesTable
          label={t('audit.history.changesOf', { type: eventLabel, position: change.position })}
          changes={change.changes}
        />
      )}
    </li>
  )
}

type PriceQuery = { readonly model: string; readonly group: string }

/**
 * Shows the price of a model for a group at a point in the history, and the settings that
 * determined this price.
 */
function PriceAsOf(
  props: PriceQuery & { at: string; onChange: (patch: Partial<PriceQuery>) => void },
) {
  const { t } = useTranslation()
  const { model, group, at, onChange } = props
  return (
    <Panel title={t('audit.history.price')} lead={t('audit.history.priceLead')}>
      <div className="tg-audit-price-filters">
        <FilterInput
          label={t('ui.model')}
          value={model}
          onCommit={(text) => onChange({ model: text.trim() })}
        />
        <FilterInput
          label={t('ui.groupName')}
          value={group}
          onCommit={(text) => onChange({ group: text.trim() })}
        />
      </div>
      {model !== '' && group !== '' && <Price model={model} group={group} at={at} />}
    </Panel>
  )
}

function Price({ model, group, at }: PriceQuery & { at: string }) {
  const { t } = useTranslation()
  const query = useQuery(apiQuery('GET /api/audit/prices', { query: { model, group, at } }))
  return (
    <QueryView query={query} height={160}>
      {({ price, in_force: entries }) =>
        price === null ? (
          <p className="tg-muted">{t('audit.history.noPrice')}</p>
        ) : (
          <>
            <ColumnTable
              label={t('audit.history.priceOf', { model })}
              rows={[...valuesOf(price)]}
              rowKey={([name]) => name}
              columns={[
                [t('shared.item'), ([name]) => <code>{name}</code>],
                [{ end: t('audit.call.value') }, ([, value]) => value],
              ]}
            />
            <InForceTable entries={entries} />
          </>
        )
      }
    </QueryView>
  )
}
