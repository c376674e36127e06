import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { FilterInput } from '#console/ui/forms/filter-input.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { ColumnTable } from '../elements/small-tables.tsx'
import { type AuditObject, readState, valuesOf } from './object-history.ts'

/**
 * The number of values that are shown initially. Without this limit, the hundreds of options would
 * make the page very long.
 */
const INITIAL_VALUES_MAX = 20

/**
 * Shows the values of an object at a point in the history. If `filter` is not empty, only values
 * whose name or text contains `filter` are shown.
 */
export function ObjectState(props: {
  object: AuditObject
  at: string
  filter: string
  onFilter: (filter: string) => void
}) {
  const { t } = useTranslation()
  const { object, at, filter, onFilter } = props
  const query = useQuery({
    queryKey: ['audit', 'state', object, at],
    queryFn: ({ signal }) => readState(object, at, signal),
  })
  const isOfOptions = object.kind === 'options' || object.kind === 'prices'
  const title = at === '' ? t('audit.history.now') : t('audit.history.stateAtTime')
  return (
    <Panel
      title={title}
      lead={query.data && t('audit.history.upTo', { position: query.data.position })}
    >
      <QueryView query={query} height={280}>
        {(found) => {
          const values = [...valuesOf(found?.state ?? null)]
          if (values.length === 0) {
            return <p className="tg-muted">{t('audit.history.noState')}</p>
          }
          const isLong = values.length > INITIAL_VALUES_MAX || filter !== ''
          return (
            <>
              {isLong && (
                <div className="tg-audit-state-filter">
                  <FilterInput
                    label={t('audit.history.filter')}
                    value={filter}
                    onCommit={onFilter}
                  />
                </div>
              )}
              <Values
                key={filter}
                head={isOfOptions ? t('audit.call.option') : t('shared.item')}
                label={title}
                values={values.filter((entry) => contains(entry, filter))}
              />
            </>
          )
        }}
      </QueryView>
    </Panel>
  )
}

type Entry = readonly [name: string, value: string]

function contains(entry: Entry, filter: string): boolean {
  const text = filter.toLowerCase()
  return entry.some((part) => part.toLowerCase().includes(text))
}

function Values(props: { label: string; head: string; values: readonly Entry[] }) {
  const { label, head, values } = props
  const { t } = useTranslation()
  if (values.length === 0) return <p className="tg-muted">{t('audit.history.noMatch')}</p>
  return (
    <ColumnTable
      label={label}
      initialRows={INITIAL_VALUES_MAX}
      rows={values}
      rowKey={([name]) => name}
      columns={[
        [head, ([name]) => <code>{name}</code>],
        [t('audit.call.value'), ([, value]) => value],
      ]}
    />
  )
}
