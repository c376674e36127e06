import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { PRESET_SOURCES, type PresetSource, presetRatiosQuery } from '#console/api/options.ts'
import { Drawer } from '#console/ui/dialogs/drawer.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { Icon } from '#console/ui/elements/icons.tsx'
import { TableHead } from '#console/ui/elements/table-head.tsx'
import { Segmented } from '#console/ui/forms/choice-inputs.tsx'
import { choicesOf } from '#console/ui/forms/inputs.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { showError, showSuccess } from '#console/ui/messages/toast.ts'
import type { PresetRatios } from '#read-api/contract/options.ts'
import { type PresetRow, presetRows, withoutPresets, withPresets } from './apply-price-presets.ts'
import type { PriceMaps } from './price-rows.ts'
import { SettingField } from './setting-field.tsx'
import { type SettingsForm, usePausedRefresh } from './use-settings-form.ts'

type PresetProps = { isOpen: boolean; form: SettingsForm; maps: PriceMaps; onClose: () => void }

export function PricePresetDrawer({ isOpen, form, maps, onClose }: PresetProps) {
  const { t } = useTranslation()
  const [source, setSource] = useState<PresetSource>('flexible')
  const query = useQuery({ ...presetRatiosQuery(source), enabled: isOpen })
  usePausedRefresh(form, isOpen)
  const lists = query.data
  const address = form.option('PresetRatioUrl')
  const perform = (kind: 'get' | 'reset') => {
    if (lists === undefined) {
      return showError(t(kind === 'get' ? 'pricing.fetchFailed' : 'pricing.resetFailed'))
    }
    const texts = kind === 'get' ? withPresets(maps, lists) : withoutPresets(maps, lists)
    if (texts.size === 0) return showError(t('shared.unchanged'))
    form.set(texts)
    const { length: count } = presetRows(maps, lists)
    showSuccess(t(kind === 'get' ? 'pricing.presetsMerged' : 'pricing.presetsRemoved', { count }))
    onClose()
  }
  return (
    <Drawer
      isOpen={isOpen}
      onClose={onClose}
      title={t('pricing.presets')}
      lead={t('pricing.presetsLead')}
      footer={
        <>
          <Button isDisabled={query.isFetching} onClick={() => perform('reset')}>
            {t('pricing.resetPresets')}
          </Button>
          <Button tone="primary" isBusy={query.isFetching} onClick={() => perform('get')}>
            {t('pricing.getPresets')}
          </Button>
        </>
      }
    >
      <Segmented
        label={t('shared.source')}
        value={source}
        choices={choicesOf(PRESET_SOURCES, (value) => t(`pricing.source.${value}`))}
        onChange={setSource}
      />
      <p className="tg-hint tg-preset-hint">{t(`pricing.sourceHint.${source}`)}</p>
      {address !== undefined && <SettingField option={address} form={form} />}
      {query.isFetching && <Skeleton height={240} />}
      {!query.isFetching && lists === undefined && (
        <Warning text={t('pricing.fetchFailed')} onRetry={() => void query.refetch()} />
      )}
      {!query.isFetching && lists !== undefined && (
        <PresetList lists={lists} maps={maps} onRetry={() => void query.refetch()} />
      )}
    </Drawer>
  )
}

function Warning(props: { text: string; hint?: string; onRetry: () => void }) {
  const { t } = useTranslation()
  return (
    <div className="tg-price-warning" role="alert">
      <Icon name="alert" size={16} />
      <div>
        <strong>{props.text}</strong>
        {props.hint === undefined ? null : <p>{props.hint}</p>}
      </div>
      <Button size="small" onClick={props.onRetry}>
        {t('ui.retry')}
      </Button>
    </div>
  )
}

function PresetList(props: { lists: PresetRatios; maps: PriceMaps; onRetry: () => void }) {
  const { lists, maps } = props
  const { t } = useTranslation()
  const rows = presetRows(maps, lists)
  const count = (state: PresetRow['state']) => rows.filter((row) => row.state === state).length
  const { as_of: date, price_source: source, older } = lists
  const olderModels = new Set(older?.models)
  const origin =
    lists.origin === 'shipped' ? 'shippedAsOf' : date === '' ? 'fetchedUndated' : 'fetchedAsOf'
  return (
    <>
      {lists.is_fetch_failed && (
        <Warning
          text={t('pricing.fetchFailed')}
          hint={t('pricing.fetchFailedHint')}
          onRetry={props.onRetry}
        />
      )}
      <p className="tg-preset-sums">
        <strong>{t('pricing.models', { count: rows.length })}</strong>
        <span>{t('pricing.presetNew', { count: count('new') })}</span>
        <span>{t('pricing.presetChanged', { count: count('changed') })}</span>
        <span>{t('pricing.presetSame', { count: count('same') })}</span>
        <span className="tg-quiet">{t(`pricing.${origin}`, { date, source })}</span>
      </p>
      {older !== null && (
        <p className="tg-hint">
          {t('pricing.olderPrices', { count: older.models.length, date: older.as_of })}
        </p>
      )}
      <table className="tg-figures">
        <TableHead titles={[t('ui.model'), t('pricing.currentValue'), t('pricing.presetValue')]} />
        <tbody>
          {rows.map((row) => (
            <tr key={row.name} data-quiet={row.state === 'same' || undefined}>
              <th scope="row">
                {row.name}
                {olderModels.has(row.name) && <small className="tg-quiet"> {older?.as_of}</small>}
              </th>
              <td>{valuesText(row.current)}</td>
              <td>{valuesText(row.preset)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

const valuesText = (values: PresetRow['current']): string =>
  values.every((value) => value === '') ? '–' : values.map((value) => value || '–').join(' · ')
