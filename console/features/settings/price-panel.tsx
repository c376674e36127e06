import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { Segmented } from '#console/ui/switches.tsx'
import { choiceParam } from '#console/ui/url-state.ts'
import { useUrlState } from '#console/ui/use-url-state.ts'
import { JsonOption } from './json-option.tsx'
import { PriceEditor } from './price-editor.tsx'
import { PRICE_KEYS, readPriceMaps } from './price-table.ts'
import { PriceTools } from './price-tools.tsx'
import { SettingField } from './setting-field.tsx'
import { UnpricedModels } from './unpriced-models.tsx'
import type { SettingsForm } from './use-settings-form.ts'

const PRICE_VIEWS = ['visual', 'json', 'unset'] as const
const ADDRESS = { prices: choiceParam(PRICE_VIEWS, 'visual') }

/** The prices of models: as a table, as JSON, and those still without one. */
export function PricePanel({ form }: { form: SettingsForm }): ReactElement {
  const { t } = useTranslation()
  const [{ prices: view }, setAddress] = useUrlState(ADDRESS)
  const onView = (prices: typeof view) => setAddress({ prices })
  const others = form
    .optionsOf('prices')
    .filter(({ key }) => !PRICE_KEYS.some((own) => own === key))
  const maps = readPriceMaps(new Map(PRICE_KEYS.map((key) => [key, form.value(key) || '{}'])))
  const defaultCap = form.option('DefaultMaxOutputTokens')
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
    <>
      <div className="tg-price-views">
        <Segmented
          label={t('settings.priceViews')}
          value={view}
          choices={choices}
          onChange={onView}
        />
        <PriceTools form={form} maps={maps} />
      </div>
      {view === 'json' && (
        <div className="tg-json-grid">
          {PRICE_KEYS.filter((key) => form.has(key)).map((key) => (
            <JsonOption key={key} option={key} form={form} />
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
