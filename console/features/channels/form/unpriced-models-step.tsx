import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, Navigate, useLocation, useNavigate } from 'react-router-dom'
import { enabledModelsQuery } from '#console/api/channels.ts'
import { optionsKey, optionsQuery } from '#console/api/options.ts'
import { usableModelsQuery } from '#console/api/own-user-group-and-model-queries.ts'
import {
  type PresetPrice,
  presetPrices,
  savePresetPrices,
} from '#console/api/unpriced-models-and-preset-prices.ts'
import { Drawer } from '#console/ui/dialogs/drawer.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { Icon } from '#console/ui/elements/icons.tsx'
import { TableHead } from '#console/ui/elements/table-head.tsx'
import { formReturnPath, type ReturnState } from '#console/ui/forms/form-return-path.ts'
import { LEAVE_CONFIRMED } from '#console/ui/forms/use-leave-guard.ts'
import { useSubmit } from '#console/ui/forms/use-submit.ts'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import { flagParam } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import { useUnpricedModels } from '../unpriced-models-tag.tsx'

type Props = {
  isOpen: boolean
  models: readonly string[]
  /**
   * True if the channel is already saved. A link to a price form then opens this form without
   * asking about unsaved changes.
   */
  isSaved?: boolean
  /** The path of the page to open when the price form of a model is closed. */
  returnTo?: string
  onClose: () => void
}

const URL_PARAMS = { unpriced: flagParam() }
const LINKED_STEP = '/admin/channels?unpriced=1'
const AFTER_PRICE = { isAfterPrice: true }

export function LinkedUnpricedModelsStep() {
  const [{ unpriced: isLinked }, setUrlParams] = useUrlState(URL_PARAMS)
  const enabled = useQuery({ ...enabledModelsQuery, enabled: isLinked })
  const find = useUnpricedModels()
  const navigate = useNavigate()
  const { state } = useLocation()
  const returnTo = formReturnPath(state)
  const areOptionsRead = useQuery({ ...optionsQuery, retry: false }).data !== undefined
  // Keeps the models that were initially without a price. Otherwise, a model would disappear from
  // the list when its price is saved.
  const [models, setModels] = useState<readonly string[]>([])
  const foundModels =
    isLinked && models.length === 0 ? find({ models: enabled.data ?? [], prefix: '' }) : []
  if (foundModels.length > 0) setModels(foundModels)
  const close = () => {
    if (returnTo === null) setUrlParams({ unpriced: false }, { replace: true })
    else void navigate(returnTo)
  }
  const isLoaded = areOptionsRead && enabled.data !== undefined
  const isAfterPrice = (state as Partial<typeof AFTER_PRICE> | null)?.isAfterPrice === true
  if (isLinked && isAfterPrice && isLoaded && models.length + foundModels.length === 0) {
    return <Navigate to={returnTo ?? '/admin/channels'} replace />
  }
  return (
    <UnpricedModelsStep isOpen={isLinked && models.length > 0} models={models} onClose={close} />
  )
}

export function UnpricedModelsStep(props: Props) {
  const { isOpen, models, isSaved, onClose } = props
  const { t } = useTranslation()
  const back = formReturnPath(useLocation().state)
  const linkState: ReturnState = {
    ...(isSaved === true ? LEAVE_CONFIRMED : {}),
    returnTo: props.returnTo ?? LINKED_STEP,
    returnState: { ...(back === null ? {} : { returnTo: back }), ...AFTER_PRICE },
  }
  const client = useQueryClient()
  const query = useQuery({
    queryKey: ['preset-prices', models],
    queryFn: () => presetPrices(client, models),
    enabled: isOpen,
    retry: false,
  })
  const priced = (query.data ?? []).filter(({ ratio }) => ratio !== null)
  const { isBusy, submit } = useSubmit(async () => {
    await savePresetPrices(client, priced)
    await Promise.all([
      client.invalidateQueries({ queryKey: usableModelsQuery.queryKey }),
      client.invalidateQueries({ queryKey: optionsKey }),
    ])
    showSuccess(t('channelForm.presetSaved', { count: priced.length }), { staysOnNavigation: true })
    onClose()
  }, onClose)
  return (
    <Drawer
      isOpen={isOpen}
      onClose={onClose}
      title={t('channelForm.unpricedTitle', { count: models.length })}
      lead={t(isSaved === true ? 'channelForm.unpricedLead' : 'shared.unpricedRefused')}
      footer={
        <>
          <Button onClick={onClose}>{t('channelForm.unpricedLater')}</Button>
          {priced.length > 0 && (
            <Button tone="primary" isBusy={isBusy} onClick={() => void submit()}>
              {t('channelForm.usePresets', { count: priced.length })}
            </Button>
          )}
        </>
      }
    >
      {query.isPending ? (
        <Skeleton height={160} />
      ) : (
        <PriceList prices={query.data ?? models.map(withoutPreset)} linkState={linkState} />
      )}
    </Drawer>
  )
}

const withoutPreset = (model: string): PresetPrice => ({
  model,
  ratio: null,
  completionRatio: null,
  maxOutputTokens: null,
})

function PriceList(props: { prices: readonly PresetPrice[]; linkState: ReturnState }) {
  const { prices, linkState } = props
  const { t } = useTranslation()
  return (
    <table className="tg-unpriced-list">
      <TableHead titles={[t('ui.model'), t('channelForm.presetInput'), t('ui.outputPrice')]} />
      <tbody>
        {prices.map((price) => (
          <tr key={price.model}>
            <th scope="row" className="tg-mono">
              {price.model}
            </th>
            {price.ratio === null ? (
              <td colSpan={2}>
                <Icon name="alert" size={14} /> {t('channelForm.presetMissing')}{' '}
                <Link to={priceForm(price.model)} state={linkState}>
                  {t('channelForm.setPrice')}
                </Link>
              </td>
            ) : (
              <>
                <td>{dollarsPerMillion(price.ratio)}</td>
                <td>{dollarsPerMillion(price.ratio, price.completionRatio ?? '1')}</td>
              </>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const priceForm = (model: string): string =>
  `/admin/settings?${new URLSearchParams({ prices: 'unset', price: model })}`

/** Converts ratios to dollars per million tokens. Ratio 1 is $2. */
function dollarsPerMillion(ratio: string, completionRatio = '1'): string {
  const dollars = Number(ratio) * Number(completionRatio) * 2
  return `$${Number(dollars.toPrecision(6))}`
}
