import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { priceScheduleKey } from '#console/api/options.ts'
import { translate } from '#console/i18n/i18n.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { dateFieldText, secondsOfDateField } from '#console/ui/forms/date-field-text.ts'
import { TextField } from '#console/ui/forms/fields.tsx'
import { Select, TextInput } from '#console/ui/forms/inputs.tsx'
import { type FieldState, formProps, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { showSuccess } from '#console/ui/messages/toast.ts'
import { isNegative, parseDecimal } from '#console/ui/quota/exact-decimal.ts'
import type { ScheduledChange } from '#read-api/contract/options.ts'
import { PriceSubject } from './price-change-subject-and-value.tsx'
import { useOptionTexts } from './use-option-texts.ts'

type ScheduleDraft = { at: string; entries: ScheduledChange['changes'] }
type Entry = ScheduleDraft['entries'][number]

const isFlag = ({ value }: Entry): boolean => value === 'true' || value === 'false'

function isInvalidPrice(entry: Entry): boolean {
  if (entry.value === null || isFlag(entry)) return false
  const number = parseDecimal(entry.value)
  return number === null || isNegative(number)
}

/**
 * Edits a scheduled price change. Saving replaces the scheduled change. If the scheduled change was
 * applied or canceled in the meantime, saving schedules an additional change.
 */
export function ScheduledPriceChangeEditor(props: {
  change: ScheduledChange
  onClose: () => void
}) {
  const { change, onClose } = props
  const { t } = useTranslation()
  const client = useQueryClient()
  const isNoLongerPlanned = change.status !== 'planned'
  // The time field shows no seconds. If the user has not changed the field, the stored time is kept
  // with its seconds.
  const secondsOf = (at: string, before: string) =>
    at === before ? change.at : secondsOfSchedule(at)
  const form = useDraftForm<ScheduleDraft, ScheduleErrorKey | 'notNumber'>({
    initial: () => ({ at: dateFieldText(change.at), entries: change.changes }),
    validate: ({ at, entries }, before) => ({
      ...validateScheduleTime(secondsOf(at, before.at)),
      ...(entries.some(isInvalidPrice) ? { entries: 'notNumber' } : {}),
    }),
    errorText: (errorKey) =>
      errorKey === 'notNumber' ? t('shared.error.notNumber') : scheduleErrorText(errorKey),
    save: async ({ at, entries }, before) => {
      if (!isNoLongerPlanned && !form.isChanged) throw new Error(t('shared.unchanged'))
      const replacement = isNoLongerPlanned ? {} : { replaces: change.id }
      await call('POST /api/option/price_schedule', {
        body: { at: secondsOf(at, before.at), changes: entries, ...replacement },
      }).finally(() => client.invalidateQueries({ queryKey: priceScheduleKey }))
      showSuccess(t('pricing.scheduleEdited'))
      onClose()
    },
  })
  return (
    <form className="tg-plan" {...formProps(form)}>
      {isNoLongerPlanned && <p className="tg-field-error">{t('pricing.scheduleAlreadyDue')}</p>}
      <EditedEntries {...form.field('entries')} />
      <ScheduleTimeField {...form.field('at')} />
      <div className="tg-planned-actions">
        <Button type="submit" tone="primary" isBusy={form.isBusy}>
          {t('pricing.scheduleSave')}
        </Button>
        <Button onClick={onClose}>{t('pricing.scheduleDiscard')}</Button>
      </div>
    </form>
  )
}

function EditedEntries(props: FieldState<ScheduleDraft['entries']>) {
  const { value: entries, error, onChange } = props
  return (
    <ul className="tg-planned-entries tg-planned-edited">
      {entries.map((entry) => (
        <EditedEntry
          key={`${entry.option} ${entry.name}`}
          entry={entry}
          isWrong={error !== undefined && isInvalidPrice(entry)}
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
  /**
   * Removes this entry from the scheduled change. This function is null for the only entry, because
   * the user can cancel the whole change instead.
   */
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
      {props.isWrong && <p className="tg-field-error">{t('shared.error.notNumber')}</p>}
    </li>
  )
}

/** The server accepts a scheduled time up to this number of days from now. */
const SCHEDULE_DAYS_MAX = 366

export type ScheduleErrorKey = 'scheduleAtPast' | 'scheduleAtFar'

/** Converts the text of a date field to a Unix time in seconds. An invalid text becomes NaN. */
export const secondsOfSchedule = (at: string): number => secondsOfDateField(at) ?? Number.NaN

/**
 * Returns an error for the form field `at` if the time is in the past or too far in the future.
 * `seconds` is in Unix seconds, or NaN for an invalid time.
 */
export function validateScheduleTime(seconds: number): { at?: ScheduleErrorKey } {
  const aheadMs = seconds * 1_000 - Date.now()
  if (!(aheadMs > 0)) return { at: 'scheduleAtPast' }
  return aheadMs > SCHEDULE_DAYS_MAX * 86_400_000 ? { at: 'scheduleAtFar' } : {}
}

export const scheduleErrorText = (errorKey: ScheduleErrorKey): string =>
  translate(`pricing.${errorKey}`, { days: SCHEDULE_DAYS_MAX })

/** The field for a scheduled time, in the browser's time zone. */
export function ScheduleTimeField(props: FieldState<string>) {
  const { t } = useTranslation()
  const { timeZone: zone } = Intl.DateTimeFormat().resolvedOptions()
  return (
    <TextField
      label={t('pricing.scheduleAt')}
      hint={t('pricing.scheduleAtHint', { zone })}
      isRequired
      className="tg-input-short"
      type="datetime-local"
      {...props}
    />
  )
}
