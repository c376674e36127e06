import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { confirm } from '#console/ui/dialogs/confirm.tsx'
import { Drawer } from '#console/ui/dialogs/drawer.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { Segmented } from '#console/ui/forms/choice-inputs.tsx'
import { choicesOf } from '#console/ui/forms/inputs.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { showError, showSuccess } from '#console/ui/messages/toast.ts'
import { choiceParam } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import { ChargePreview } from './past-calls-at-unsaved-prices.tsx'
import { PriceEditor } from './price-editor.tsx'
import { PriceHistory } from './price-history.tsx'
import { PricePresetDrawer } from './price-preset-drawer.tsx'
import { PRICE_KEYS, type PriceMaps, readPriceMaps } from './price-rows.ts'
import { ScheduledPriceChanges } from './scheduled-price-changes.tsx'
import { JsonOptionField, SettingField } from './setting-field.tsx'
import { UnpricedModels } from './unpriced-models.tsx'
import type { SettingsForm } from './use-settings-form.ts'

/**
 * The tools that do not read the prices. They are therefore available even if the JSON of a price
 * option is malformed.
 */
const TOOLS = [
  { name: 'preview', Tool: ChargePreview, isWide: true },
  { name: 'schedule', Tool: ScheduledPriceChanges, isWide: false },
  { name: 'history', Tool: PriceHistory, isWide: true },
] as const
type ToolName = 'presets' | (typeof TOOLS)[number]['name']

function PriceTools(props: { form: SettingsForm; maps: PriceMaps | null }) {
  const { form, maps } = props
  const { t } = useTranslation()
  const [open, setOpen] = useState<ToolName | null>(null)
  const close = () => setOpen(null)
  const reset = async () => {
    const texts = { title: t('pricing.resetRatios'), body: t('pricing.resetRatiosBody') }
    if (!(await confirm({ ...texts, tone: 'danger' }))) return
    try {
      await call('POST /api/option/rest_model_ratio')
      form.reset('ModelRatio')
      await form.reload()
      showSuccess(t('pricing.resetRatiosDone'))
    } catch (error) {
      showError(error)
    }
  }
  return (
    <>
      <fieldset className="tg-price-tools" aria-label={t('pricing.tools')}>
        {maps !== null && (
          <Button onClick={() => setOpen('presets')}>{t('pricing.presets')}</Button>
        )}
        {TOOLS.map(({ name }) => (
          <Button key={name} onClick={() => setOpen(name)}>
            {t(`pricing.${name}`)}
          </Button>
        ))}
        <Button tone="quiet" onClick={() => void reset()}>
          {t('pricing.resetRatios')}
        </Button>
      </fieldset>
      {maps !== null && (
        <PricePresetDrawer isOpen={open === 'presets'} form={form} maps={maps} onClose={close} />
      )}
      {TOOLS.map(({ name, Tool, isWide }) => (
        <Drawer
          key={name}
          isOpen={open === name}
          onClose={close}
          title={t(`pricing.${name}`)}
          lead={t(`pricing.${name}Lead`)}
          isWide={isWide}
        >
          {open === name && <Tool form={form} />}
        </Drawer>
      ))}
    </>
  )
}

const PRICE_VIEWS = ['visual', 'json', 'unset'] as const
const URL_PARAMS = { prices: choiceParam(PRICE_VIEWS, 'visual') }

export function PriceSettings({ form }: { form: SettingsForm }) {
  const { t } = useTranslation()
  const [{ prices: view }, setUrlParams] = useUrlState(URL_PARAMS)
  const onView = (prices: typeof view) => setUrlParams({ prices })
  const others = form
    .optionsOf('prices')
    .filter(({ key }) => !PRICE_KEYS.some((own) => own === key))
  const maps = readPriceMaps(new Map(PRICE_KEYS.map((key) => [key, form.value(key) || '{}'])))
  const defaultCap = form.option('DefaultMaxOutputTokens')
  const choices = choicesOf(PRICE_VIEWS, (value) => t(`pricing.view.${value}`))
  const broken = (
    <EmptyState
      icon="alert"
      title={t('pricing.jsonBrokenTitle')}
      body={t('pricing.jsonBrokenBody')}
      action={<Button onClick={() => onView('json')}>{t('pricing.openJson')}</Button>}
    />
  )
  return (
    <>
      <div className="tg-price-views">
        <Segmented
          label={t('pricing.priceViews')}
          value={view}
          choices={choices}
          onChange={onView}
        />
        <PriceTools form={form} maps={maps} />
      </div>
      {view === 'json' && (
        <div className="tg-json-grid">
          {PRICE_KEYS.filter((key) => form.has(key)).map((key) => (
            <JsonOptionField key={key} option={key} form={form} />
          ))}
          {others.map((option) => (
            <SettingField key={option.key} option={option} form={form} />
          ))}
        </div>
      )}
      {view === 'visual' && (maps === null ? broken : <PriceEditor form={form} maps={maps} />)}
      {view === 'visual' && defaultCap !== undefined && (
        <div className="tg-price-default">
          <SettingField option={defaultCap} form={form} />
        </div>
      )}
      {view === 'unset' && (maps === null ? broken : <UnpricedModels form={form} maps={maps} />)}
    </>
  )
}
