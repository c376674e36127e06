import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { Drawer } from '#console/ui/drawer.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { Checkbox } from '#console/ui/switches.tsx'
import { showError } from '#console/ui/toast.ts'
import {
  BATCH_FIELDS,
  type BatchDraft,
  batchFaults,
  batchRows,
  emptyBatch,
  endedPrices,
} from './batch-draft.ts'
import type { PriceRow } from './price-table.ts'

/** Sets the filled-in ratios of all selected models at once. */
export function BatchPrices(props: {
  isOpen: boolean
  rows: readonly PriceRow[]
  onClose: () => void
  onApply: (rows: readonly PriceRow[]) => void
}): ReactElement {
  const { t } = useTranslation()
  const [draft, setDraft] = useState<BatchDraft>(emptyBatch)
  const [isChecked, setChecked] = useState(false)
  const [isSkipping, setSkipping] = useState(true)
  const ended = endedPrices(props.rows, draft)
  const faults = isChecked ? batchFaults(draft) : {}
  const reset = () => {
    setDraft(emptyBatch)
    setChecked(false)
    setSkipping(true)
  }
  const close = () => {
    reset()
    props.onClose()
  }
  const apply = () => {
    setChecked(true)
    if (BATCH_FIELDS.every((field) => draft[field].trim() === '')) {
      return showError(t('settings.batchEmpty'))
    }
    if (Object.keys(batchFaults(draft)).length > 0) return
    const rows = isSkipping ? props.rows.filter((row) => !ended.includes(row)) : props.rows
    if (rows.length === 0) return showError(t('settings.batchAllFixed'))
    props.onApply(batchRows(rows, draft))
    reset()
  }
  return (
    <Drawer
      isOpen={props.isOpen}
      onClose={close}
      title={t('settings.batchTitle', { count: props.rows.length })}
      lead={t('settings.batchLead')}
      footer={
        <>
          <Button onClick={close}>{t('ui.cancel')}</Button>
          <Button tone="primary" onClick={apply}>
            {t('settings.apply')}
          </Button>
        </>
      }
    >
      {BATCH_FIELDS.map((field) => (
        <FormField
          key={field}
          label={t(`settings.${field}`)}
          error={faults[field] && t(`settings.fault.${faults[field]}`)}
        >
          {(control) => (
            <TextInput
              {...control}
              inputMode="decimal"
              isMono
              value={draft[field]}
              onChange={(value) => setDraft({ ...draft, [field]: value })}
            />
          )}
        </FormField>
      ))}
      {ended.length > 0 && (
        <Checkbox
          label={t('settings.batchSkipFixed', { count: ended.length })}
          hint={t('settings.batchSkipFixedHint')}
          isOn={isSkipping}
          onChange={setSkipping}
        />
      )}
    </Drawer>
  )
}
