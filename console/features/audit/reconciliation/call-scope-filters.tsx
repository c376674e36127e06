import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '#console/api/client.ts'
import { FilterInput, NumberFilter } from '#console/ui/forms/filter-input.tsx'
import { ClearFiltersButton } from '#console/ui/lists/clear-filters-button.tsx'
import { integerParam, textParam, type UrlValues } from '#console/ui/state/url-state.ts'
import { RangeFilter } from '#console/ui/time-range/range-filter.tsx'
import { boundsOf, rangeParam, relativeRange } from '#console/ui/time-range/time-range.ts'

/**
 * The URL parameters that select the calls for a recomputation, a what-if computation or a
 * correction.
 */
export const SCOPE_PARAMS = {
  range: rangeParam(relativeRange('7d')),
  model: textParam(),
  channel: integerParam({ fallback: 0 }),
  user: integerParam({ fallback: 0 }),
}
export type Scope = UrlValues<typeof SCOPE_PARAMS>

/** Returns the start and the end of a range in Unix seconds. The end is never later than now. */
export function periodOf(range: Scope['range']): { from: number; to: number } {
  const now = Math.floor(Date.now() / 1000)
  const { from, to } = boundsOf(range, now)
  return { from: from ?? 0, to: Math.min(to ?? now, now) }
}

/** Returns the fields of a request body that select the calls. A relative range ends now. */
export const scanBodyOf = ({ range, model, channel, user }: Scope) => ({
  ...periodOf(range),
  ...(model === '' ? {} : { model }),
  ...(channel === 0 ? {} : { channel_id: channel }),
  ...(user === 0 ? {} : { user_id: user }),
})

/** Reads the current price options of the site. */
export const currentPricesQuery = apiQuery('GET /api/audit/state/:kind/:id', {
  params: { kind: 'prices', id: 'site' },
})

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
      <NumberFilter
        label={t('shared.channelId')}
        value={scope.channel}
        errorText={t('reconciliation.scope.idInvalid')}
        onCommit={(channel) => onScope({ channel })}
      />
      <NumberFilter
        label={t('shared.userId')}
        value={scope.user}
        errorText={t('reconciliation.scope.idInvalid')}
        onCommit={(user) => onScope({ user })}
      />
      {isFiltered && (
        <ClearFiltersButton onClear={() => onScope({ model: '', channel: 0, user: 0 })} />
      )}
    </>
  )
}
