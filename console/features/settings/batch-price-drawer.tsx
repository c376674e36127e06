import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Drawer } from '#console/ui/dialogs/drawer.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { Checkbox, RadioCards } from '#console/ui/forms/choice-inputs.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { showError } from '#console/ui/messages/toast.ts'
import {
  type BatchField,
  type BatchMode,
  type BatchPriceDraft,
  batchRows,
  emptyBatch,
  FIELDS_OF,
  rowsLosingFixedPrice,
  validateBatch,
} from './batch-price-draft.ts'
import { priceOfRatio } from './price-conversion.ts'
import { emptyPrice } from './price-draft.ts'
import { Equivalent } from './price-fields.tsx'
import type { PriceRow } from './price-table.ts'

const HINTS = {
  ratio: 'pricing.batchRatioHint',
  completionRatio: 'pricing.batchCompletionHint',
  cacheRatio: 'pricing.batchCacheHint',
  price: 'pricing.callPriceHint',
} as const satisfies Record<BatchField, string>

/** A completion ratio without a model ratio can't be converted to dollars. */
function Worth({ draft }: { draft: BatchPriceDraft }) {
  const { t } = useTranslation()
  const { ratio, completionRatio, price } = draft
  if (price !== '') {
    return <Equivalent draft={{ ...emptyPrice, mode: 'call', callPrice: price }} />
  }
  if (completionRatio.trim() !== '') {
    return <Equivalent draft={{ ...emptyPrice, mode: 'ratio', ratio, completionRatio }} />
  }
  const input = priceOfRatio(ratio)
  if (input === '' || input.startsWith('-')) return null
  return <output className="tg-equals">{t('pricing.batchWorth', { input: `$${input}` })}</output>
}

export function BatchDrawer(props: {
  isOpen: boolean
  rows: readonly PriceRow[]
  onClose: () => void
  onApply: (rows: readonly PriceRow[]) => void
}) {
  const { t } = useTranslation()
  const [draft, setDraft] = useState<BatchPriceDraft>(emptyBatch)
  const [mode, setMode] = useState<BatchMode>('ratio')
  const [isChecked, setChecked] = useState(false)
  const [isSkipping, setSkipping] = useState(true)
  const ended = rowsLosingFixedPrice(props.rows, draft)
  const errorKeys = isChecked ? validateBatch(draft) : {}
  const reset = () => {
    setDraft(emptyBatch)
    setMode('ratio')
    setChecked(false)
    setSkipping(true)
  }
  const close = () => {
    reset()
    props.onClose()
  }
  const apply = () => {
    setChecked(true)
    if (FIELDS_OF[mode].every((field) => draft[field].trim() === '')) {
      return showError(t('pricing.batchEmpty'))
    }
    if (Object.keys(validateBatch(draft)).length > 0) return
    const rows = isSkipping ? props.rows.filter((row) => !ended.includes(row)) : props.rows
    if (rows.length === 0) return showError(t('pricing.batchAllFixed'))
    props.onApply(batchRows(rows, draft))
    reset()
  }
  return (
    <Drawer
      isOpen={props.isOpen}
      onClose={close}
      title={t('pricing.batchTitle', { count: props.rows.length })}
      lead={t('pricing.batchLead')}
      footer={
        <>
          <Button onClick={close}>{t('ui.cancel')}</Button>
          <Button tone="primary" onClick={apply}>
            {t('pricing.apply')}
          </Button>
        </>
      }
    >
      <div className="tg-form">
        <RadioCards
          label={t('pricing.entry')}
          value={mode}
          choices={[
            { value: 'ratio', label: t('pricing.entryRatio'), hint: t('pricing.entryRatioHint') },
            { value: 'call', label: t('pricing.entryCall'), hint: t('pricing.entryCallHint') },
          ]}
          onChange={(next) => {
            setMode(next)
            setDraft(emptyBatch)
            setChecked(false)
          }}
        />
        {FIELDS_OF[mode].map((field) => (
          <TextField
            key={field}
            label={t(field === 'price' ? 'pricing.callPriceLabel' : `pricing.${field}`)}
            hint={t(HINTS[field])}
            error={errorKeys[field] && t(`pricing.error.${errorKeys[field]}`)}
            inputMode="decimal"
            isMono
            value={draft[field]}
            onChange={(value) => setDraft({ ...draft, [field]: value })}
          />
        ))}
        <Worth draft={draft} />
        {ended.length > 0 && (
          <Checkbox
            label={t('pricing.batchSkipFixed', { count: ended.length })}
            hint={t('pricing.batchSkipFixedHint')}
            isOn={isSkipping}
            onChange={setSkipping}
          />
        )}
      </div>
    </Drawer>
  )
}
