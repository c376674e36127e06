import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '#console/api/client.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { FilterInput } from '#console/ui/forms/filter-input.tsx'
import { RangeFilter } from '#console/ui/time-range/range-filter.tsx'
import type { Scope } from './scan-scope.ts'

/**
 * Returns the suggestions for the model field: the models that the logged-in user may call. The
 * user can also enter any other name.
 */
export const useModelNames = (): readonly string[] =>
  useQuery(apiQuery('GET /api/user/models')).data ?? []

export function ScopeFilters(props: { scope: Scope; onScope: (patch: Partial<Scope>) => void }) {
  const { t } = useTranslation()
  const { scope, onScope } = props
  const models = useModelNames()
  const isFiltered = scope.model !== '' || scope.channel !== 0 || scope.user !== 0
  return (
    <>
      <RangeFilter range={scope.range} onRange={(range) => onScope({ range })} />
      <FilterInput
        label={t('ui.model')}
        value={scope.model}
        suggestions={models}
        onCommit={(model) => onScope({ model })}
      />
      <IdFilter
        label={t('reconciliation.scope.channel')}
        value={scope.channel}
        onCommit={(channel) => onScope({ channel })}
      />
      <IdFilter
        label={t('reconciliation.scope.user')}
        value={scope.user}
        onCommit={(user) => onScope({ user })}
      />
      {isFiltered && (
        <Button
          tone="quiet"
          icon="close"
          onClick={() => onScope({ model: '', channel: 0, user: 0 })}
        >
          {t('ui.clearFilters')}
        </Button>
      )}
    </>
  )
}

function IdFilter(props: { label: string; value: number; onCommit: (id: number) => void }) {
  const { t } = useTranslation()
  return (
    <FilterInput
      label={props.label}
      value={props.value === 0 ? '' : String(props.value)}
      wholeNumber={{ errorText: t('reconciliation.scope.idInvalid') }}
      onCommit={(text) => props.onCommit(Number(text))}
    />
  )
}
