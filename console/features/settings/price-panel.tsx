import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { Panel } from '#console/ui/panel.tsx'
import { Segmented } from '#console/ui/switches.tsx'
import { JsonOption } from './json-option.tsx'
import { PriceEditor } from './price-editor.tsx'
import { PRICE_KEYS, readPriceMaps } from './price-table.ts'
import { UnpricedModels } from './unpriced-models.tsx'
import type { SettingsForm } from './use-settings-form.ts'

export const PRICE_VIEWS = ['visual', 'json', 'unset'] as const
export type PriceView = (typeof PRICE_VIEWS)[number]

/** The prices of models: as a table, as JSON, and those still without one. */
export function PricePanel(props: {
  form: SettingsForm
  view: PriceView
  onView: (view: PriceView) => void
}): ReactElement {
  const { form, view, onView } = props
  const { t } = useTranslation()
  const maps = readPriceMaps(new Map(PRICE_KEYS.map((key) => [key, form.value(key) || '{}'])))
  const choices = PRICE_VIEWS.map((value) => ({ value, label: t(`settings.view.${value}`) }))
  const broken = (
    <EmptyState
      icon="alert"
      title={t('settings.jsonBrokenTitle')}
      body={t('settings.jsonBrokenBody')}
      action={<Button onClick={() => onView('json')}>{t('settings.openJson')}</Button>}
    />
  )
  return (
    <Panel title={t('settings.prices')} lead={t('settings.pricesLead')}>
      <div className="tg-price-views">
        <Segmented
          label={t('settings.priceViews')}
          value={view}
          choices={choices}
          onChange={onView}
        />
      </div>
      {view === 'json' && (
        <div className="tg-json-grid">
          {PRICE_KEYS.filter((key) => form.has(key)).map((key) => (
            <JsonOption key={key} option={key} form={form} />
          ))}
        </div>
      )}
      {view === 'visual' && (maps === null ? broken : <PriceEditor form={form} maps={maps} />)}
      {view === 'unset' && (maps === null ? broken : <UnpricedModels form={form} maps={maps} />)}
    </Panel>
  )
}
