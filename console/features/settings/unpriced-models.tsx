import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { enabledModelsQuery } from '#console/api/channels.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { useReturnToPage } from '#console/ui/forms/form-return-path.ts'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Pagination, usePageSize } from '#console/ui/lists/pagination.tsx'
import { textParam } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import { isKnownModerationModel } from '#read-api/contract/price-unit-by-model-name.ts'
import { PriceDrawer } from './price-drawer.tsx'
import { isPriced, type PriceMaps, priceRows, withRows } from './price-rows.ts'
import { useMediaPrices } from './use-media-prices.ts'
import { useUnitOfPrice } from './use-model-price-unit.ts'
import { useOutputLimitFallback } from './use-output-limit-fallback.ts'
import { type SettingsForm, usePausedRefresh } from './use-settings-form.ts'

/**
 * The URL parameter that names the model whose price form is open. Other pages use this parameter
 * in links to the form.
 */
const URL_PARAMS = { price: textParam('', 200) }

export function UnpricedModels(props: { form: SettingsForm; maps: PriceMaps }) {
  const { form, maps } = props
  const { t } = useTranslation()
  const enabled = useQuery(enabledModelsQuery)
  const { name, setName, close } = usePriceForm(form)
  usePausedRefresh(form, name !== null)
  const capFallback = useOutputLimitFallback(form)
  const mediaPricesOf = useMediaPrices(form)
  const unitOfPrice = useUnitOfPrice(form)
  const [page, setPage] = useState(0)
  const [pageSize, setPageSize] = usePageSize('unpriced-page-size')
  if (enabled.error !== null && enabled.data === undefined) {
    return <ErrorState error={enabled.error} onRetry={() => void enabled.refetch()} />
  }
  if (enabled.data?.length === 0) return <NoChannels />
  const rows = priceRows(maps)
  const priced = new Set(rows.filter(isPriced).map((row) => row.name))
  const missing = (enabled.data ?? [])
    .filter((model) => !priced.has(model) && !isKnownModerationModel(model))
    .sort()
  if (missing.length === 0) {
    if (enabled.isPending) return <p className="tg-hint">{t('ui.loading')}</p>
    const texts = { title: t('pricing.allPricedTitle'), body: t('pricing.allPricedBody') }
    return <EmptyState icon="check" {...texts} />
  }
  const shownPage = Math.min(page, Math.ceil(missing.length / pageSize) - 1)
  return (
    <>
      <p className="tg-hint">{t('pricing.unpricedLead')}</p>
      <ModelsToPrice
        names={missing.slice(shownPage * pageSize, (shownPage + 1) * pageSize)}
        onPrice={setName}
      />
      <Pagination
        page={shownPage}
        pageSize={pageSize}
        total={missing.length}
        onPage={setPage}
        onPageSize={setPageSize}
      />
      <PriceDrawer
        capFallback={capFallback}
        mediaPricesOf={mediaPricesOf}
        unitOfPrice={unitOfPrice}
        edited={name === null ? null : 'new'}
        newName={name ?? ''}
        existingNames={priced}
        onClose={close}
        onApply={(row) => {
          form.set(withRows(maps, [row]))
          setName(null)
        }}
      />
    </>
  )
}

function ModelsToPrice(props: { names: readonly string[]; onPrice: (model: string) => void }) {
  const { t } = useTranslation()
  return (
    <ul className="tg-unpriced">
      {props.names.map((model) => (
        <li key={model}>
          <span className="tg-mono">{model}</span>
          <Button size="small" onClick={() => props.onPrice(model)}>
            {t('pricing.setPrice')}
          </Button>
        </li>
      ))}
    </ul>
  )
}

function usePriceForm({ changes }: SettingsForm) {
  const [{ price }, setUrlParams] = useUrlState(URL_PARAMS)
  const goBack = useReturnToPage()
  const setName = (model: string | null) => setUrlParams({ price: model ?? '' }, { replace: true })
  return {
    name: price === '' ? null : price,
    setName,
    /**
     * Closes the form. If another page linked to the form and there are no unsaved prices, returns
     * to that page. Otherwise, only the form closes and this page stays open. The user can then
     * save any unsaved prices.
     */
    close: () => {
      if (goBack !== null && changes.length === 0) goBack()
      else setName(null)
    },
  }
}

function NoChannels() {
  const { t } = useTranslation()
  return (
    <EmptyState
      icon="channels"
      title={t('pricing.unservedTitle')}
      body={t('pricing.unservedBody')}
      action={<Link to="/admin/channels">{t('shared.toChannels')}</Link>}
    />
  )
}
