import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '#console/api/client.ts'
import { FilterInput } from '#console/ui/forms/filter-input.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { InForceTable } from '../calls/call-charge-panels.tsx'
import { ColumnTable } from '../elements/data-table.tsx'
import { valuesOf } from './object-history.ts'

type PriceQuery = { readonly model: string; readonly group: string }

/**
 * Shows the price of a model for a group at a point in the history, and the settings that led to
 * this price.
 */
export function PriceAsOf(
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
