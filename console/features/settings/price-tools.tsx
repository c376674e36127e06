import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { request } from '#console/api/request.ts'
import { Button } from '#console/ui/button.tsx'
import { confirm } from '#console/ui/confirm.tsx'
import { showError, showSuccess } from '#console/ui/toast.ts'
import { PresetDrawer } from './preset-drawer.tsx'
import { PriceHistoryDrawer } from './price-history-drawer.tsx'
import { PricePreviewDrawer } from './price-preview-drawer.tsx'
import { PriceScheduleDrawer } from './price-schedule-drawer.tsx'
import type { PriceMaps } from './price-table.ts'
import type { SettingsForm } from './use-settings-form.ts'

type Tool = 'presets' | 'preview' | 'schedule' | 'history'

/** What can be done with the price list as a whole. */
export function PriceTools(props: { form: SettingsForm; maps: PriceMaps | null }): ReactElement {
  const { form, maps } = props
  const { t } = useTranslation()
  const [open, setOpen] = useState<Tool | null>(null)
  const close = () => setOpen(null)
  const reset = async () => {
    const words = { title: t('prices.resetRatios'), body: t('prices.resetRatiosBody') }
    if (!(await confirm({ ...words, tone: 'danger' }))) return
    try {
      await resetModelRatios()
      form.reset('ModelRatio')
      await form.reload()
      showSuccess(t('prices.resetRatiosDone'))
    } catch (error) {
      showError(error)
    }
  }
  return (
    <>
      <fieldset className="tg-price-tools" aria-label={t('prices.tools')}>
        {maps !== null && <Button onClick={() => setOpen('presets')}>{t('prices.presets')}</Button>}
        <Button onClick={() => setOpen('preview')}>{t('prices.preview')}</Button>
        <Button onClick={() => setOpen('schedule')}>{t('prices.schedule')}</Button>
        <Button onClick={() => setOpen('history')}>{t('prices.history')}</Button>
        <Button tone="quiet" onClick={() => void reset()}>
          {t('prices.resetRatios')}
        </Button>
      </fieldset>
      {maps !== null && (
        <PresetDrawer isOpen={open === 'presets'} form={form} maps={maps} onClose={close} />
      )}
      <PricePreviewDrawer isOpen={open === 'preview'} form={form} onClose={close} />
      <PriceScheduleDrawer isOpen={open === 'schedule'} form={form} onClose={close} />
      <PriceHistoryDrawer isOpen={open === 'history'} onClose={close} />
    </>
  )
}

const resetModelRatios = () => request({ method: 'POST', path: '/api/option/rest_model_ratio' })
