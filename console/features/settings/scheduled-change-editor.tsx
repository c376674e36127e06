import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { priceScheduleKey } from '#console/api/options.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { dateFieldText, secondsOfDateField } from '#console/ui/forms/date-field.ts'
import { Select, TextInput } from '#console/ui/forms/inputs.tsx'
import { focusFirstError, useSubmit } from '#console/ui/forms/use-submit.ts'
import { showError, showSuccess } from '#console/ui/messages/toast.ts'
import { isNegative, parseDecimal } from '#console/ui/quota/exact-decimal.ts'
import type { ScheduledChange } from '#read-api/contract/options.ts'
import { ScheduleTimeField, validateScheduleTime } from './schedule-time-field.tsx'
import { PriceSubject } from './scheduled-entries.tsx'
import { useOptionTexts } from './use-option-texts.ts'

type Entry = ScheduledChange['changes'][number]

const isFlag = ({ value }: Entry): boolean => value === 'true' || value === 'false'

function isWrong(entry: Entry): boolean {
  if (entry.value === null || isFlag(entry)) return false
  const number = parseDecimal(entry.value)
  return number === null || isNegative(number)
}

/** Saving replaces the plan, or creates a second plan if the first is no longer pending. */
export function ScheduledChangeEditor(props: { change: ScheduledChange; onClose: () => void }) {
  const { change, onClose } = props
  const { t } = useTranslation()
  const client = useQueryClient()
  const form = useRef<HTMLDivElement>(null)
  const before = dateFieldText(change.at)
  const isOver = change.status !== 'planned'
  const [at, setAt] = useState(before)
  const [entries, setEntries] = useState(change.changes)
  const [isChecked, setChecked] = useState(false)
  // The time field has no seconds, so an unchanged time keeps its stored seconds.
  const seconds = at === before ? change.at : (secondsOfDateField(at) ?? Number.NaN)
  const errorKey = validateScheduleTime(seconds)
  const { isBusy, submit } = useSubmit(async () => {
    setChecked(true)
    if (errorKey !== null || entries.some(isWrong)) return focusFirstError(form)
    if (
      !isOver &&
      seconds === change.at &&
      JSON.stringify(entries) === JSON.stringify(change.changes)
    ) {
      return showError(t('settings.nothingChanged'))
    }
    try {
      const place = isOver ? {} : { replaces: change.id }
      await call('POST /api/option/price_schedule', {
        body: { at: seconds, changes: entries, ...place },
      })
    } catch (error) {
      showError(error)
      return await client.invalidateQueries({ queryKey: priceScheduleKey })
    }
    showSuccess(t('pricing.scheduleEdited'))
    await client.invalidateQueries({ queryKey: priceScheduleKey })
    onClose()
  })
  return (
    <div className="tg-plan" ref={form}>
      {isOver && <p className="tg-field-error">{t('pricing.scheduleAlreadyDue')}</p>}
      <EditedEntries entries={entries} isChecked={isChecked} onChange={setEntries} />
      <ScheduleTimeField value={at} errorKey={isChecked ? errorKey : null} onChange={setAt} />
      <div className="tg-planned-acts">
        <Button tone="primary" isBusy={isBusy} onClick={() => void submit()}>
          {t('pricing.scheduleSave')}
        </Button>
        <Button onClick={onClose}>{t('pricing.scheduleDiscard')}</Button>
      </div>
    </div>
  )
}

function EditedEntries(props: {
  entries: ScheduledChange['changes']
  isChecked: boolean
  onChange: (entries: ScheduledChange['changes']) => void
}) {
  const { entries, isChecked, onChange } = props
  return (
    <ul className="tg-planned-entries tg-planned-edited">
      {entries.map((entry) => (
        <EditedEntry
          key={`${entry.option} ${entry.name}`}
          entry={entry}
          isWrong={isChecked && isWrong(entry)}
          onChange={(value) =>
            onChange(entries.map((one) => (one === entry ? { ...entry, value } : one)))
          }
          onRemove={
            entries.length === 1 ? null : () => onChange(entries.filter((one) => one !== entry))
          }
        />
      ))}
    </ul>
  )
}

function EditedEntry(props: {
  entry: Entry
  isWrong: boolean
  onChange: (value: string) => void
  /** Null for the only entry, because the user can cancel the plan instead. */
  onRemove: (() => void) | null
}) {
  const { entry, onChange, onRemove } = props
  const { t } = useTranslation()
  const { label: optionLabel } = useOptionTexts()
  const { option, name, value } = entry
  const label = name === '' ? optionLabel(option) : `${name} · ${optionLabel(option)}`
  return (
    <li>
      <span>
        <PriceSubject option={option} name={name} />{' '}
        <span className="tg-quiet">{name === '' ? '' : optionLabel(option)}</span>
      </span>
      {value === null ? (
        <span>{t('pricing.removed')}</span>
      ) : isFlag(entry) ? (
        <Select
          aria-label={label}
          value={value}
          choices={[
            { value: 'true', label: t('pricing.on') },
            { value: 'false', label: t('pricing.off') },
          ]}
          onChange={onChange}
        />
      ) : (
        <TextInput
          aria-label={label}
          aria-invalid={props.isWrong || undefined}
          inputMode="decimal"
          value={value}
          onChange={onChange}
        />
      )}
      {onRemove === null ? null : (
        <Button
          tone="quiet"
          size="small"
          icon="close"
          label={t('pricing.scheduleRemoveEntry', { name: label })}
          onClick={onRemove}
        />
      )}
      {props.isWrong && <p className="tg-field-error">{t('settings.notNumber')}</p>}
    </li>
  )
}
