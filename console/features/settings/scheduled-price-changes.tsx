import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { optionsKey, priceScheduleKey, priceScheduleQuery } from '#console/api/options.ts'
import { confirm } from '#console/ui/dialogs/confirm.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { StatusTag, type Tone } from '#console/ui/elements/status-tag.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { formProps, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { showError, showSuccess } from '#console/ui/messages/toast.ts'
import type { ScheduledChange } from '#read-api/contract/options.ts'
import { fallbackErrorKey } from './fallback-price-draft.ts'
import { ScheduledEntries } from './price-change-subject-and-value.tsx'
import {
  ScheduledPriceChangeEditor,
  type ScheduleErrorKey,
  ScheduleTimeField,
  scheduleErrorText,
  secondsOfSchedule,
  validateScheduleTime,
} from './scheduled-price-change-editor.tsx'
import { isPriceOption, unsavedPriceEntries } from './unsaved-price-entries.ts'
import { useOptionTexts } from './use-option-texts.ts'
import type { SettingsForm } from './use-settings-form.ts'

function ScheduleForm({ form }: { form: SettingsForm }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const entries = unsavedPriceEntries(form.changes) ?? []
  const scheduleForm = useDraftForm<{ at: string }, ScheduleErrorKey>({
    initial: () => ({ at: '' }),
    validate: ({ at }) => validateScheduleTime(secondsOfSchedule(at)),
    errorText: scheduleErrorText,
    save: async ({ at }) => {
      const changed = new Set(form.changes.map(({ key }) => key))
      if (fallbackErrorKey(changed, form.value)) throw new Error(t('settings.checkInput'))
      const body = { at: secondsOfSchedule(at), changes: entries }
      await call('POST /api/option/price_schedule', { body })
      for (const { key } of form.changes.filter((change) => isPriceOption(change.key)))
        form.reset(key)
      await client.invalidateQueries({ queryKey: priceScheduleKey })
      showSuccess(t('pricing.scheduled', { count: entries.length }))
    },
  })
  if (entries.length === 0) return <p className="tg-hint">{t('pricing.scheduleNoDraft')}</p>
  return (
    <form className="tg-plan" {...formProps(scheduleForm)}>
      <h3 className="tg-drawer-part">{t('pricing.scheduleDraft')}</h3>
      <ScheduledEntries entries={entries} />
      {form.changes.some(({ key }) => !isPriceOption(key)) && (
        <p className="tg-hint">{t('pricing.scheduleUnsupported')}</p>
      )}
      <ScheduleTimeField {...scheduleForm.field('at')} />
      <Button type="submit" tone="primary" isBusy={scheduleForm.isBusy}>
        {t('pricing.schedulePlan')}
      </Button>
    </form>
  )
}

export function ScheduledPriceChanges({ form }: { form: SettingsForm }) {
  const { t } = useTranslation()
  return (
    <>
      <ScheduleForm form={form} />
      <h3 className="tg-drawer-part">{t('pricing.scheduleList')}</h3>
      <ScheduledChangeList />
    </>
  )
}

function ScheduledChangeList() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const query = useQuery({ ...priceScheduleQuery, refetchInterval: pollInterval })
  const applied = query.data?.filter(({ status }) => status === 'applied')
  const lastAppliedAt = Math.max(0, ...(applied ?? []).map((change) => change.ended_time))
  // Reads the options again if a scheduled change has taken effect since the last read.
  useEffect(() => {
    const readAt = client.getQueryState(optionsKey)?.dataUpdatedAt ?? 0
    if (lastAppliedAt * 1_000 >= readAt - CLOCK_SKEW_MAX_MS)
      void client.invalidateQueries({ queryKey: optionsKey })
  }, [client, lastAppliedAt])
  if (query.data === undefined) {
    if (query.error === null) return <Skeleton height={120} />
    return <ErrorState error={query.error} onRetry={() => void query.refetch()} />
  }
  if (query.data.length === 0) {
    return <EmptyState icon="clock" title={t('pricing.scheduleNone')} />
  }
  return (
    <ul className="tg-planned">
      {query.data.map((change) => (
        <ScheduledChangeItem key={change.id} change={change} />
      ))}
    </ul>
  )
}

const POLL_INTERVAL_MS = 5_000
/** The maximum clock skew (ms) that is assumed between the server and the browser. */
const CLOCK_SKEW_MAX_MS = 60_000

const pollInterval = ({ state }: { state: { data?: ScheduledChange[] | undefined } }) =>
  state.data?.some(({ status }) => status === 'planned') === true
    ? POLL_INTERVAL_MS
    : (false as const)

const TONES: Readonly<Record<ScheduledChange['status'], Tone>> = {
  planned: 'info',
  applied: 'good',
  cancelled: 'neutral',
  failed: 'bad',
}

function ScheduledChangeItem({ change }: { change: ScheduledChange }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const errorText = useScheduleErrorText()
  const [isEdited, setEdited] = useState(false)
  const cancel = async () => {
    const texts = {
      title: t('pricing.scheduleCancelTitle'),
      body: t('pricing.scheduleCancelBody'),
      confirmText: t('pricing.scheduleCancelYes'),
      cancelText: t('pricing.scheduleCancelNo'),
    }
    if (!(await confirm({ ...texts, tone: 'danger' }))) return
    try {
      await call('DELETE /api/option/price_schedule/:id', { params: { id: change.id } })
      showSuccess(t('pricing.status.cancelled'))
    } catch (error) {
      showError(error)
    }
    await client.invalidateQueries({ queryKey: priceScheduleKey })
  }
  return (
    <li>
      <div className="tg-planned-head">
        <StatusTag tone={TONES[change.status]}>{t(`pricing.status.${change.status}`)}</StatusTag>
        <strong>
          <Time at={change.at} style="stamp" mayBeInFuture />
        </strong>
        <span className="tg-quiet">{change.username}</span>
        {change.status === 'planned' && !isEdited && (
          <span className="tg-planned-actions">
            <Button size="small" onClick={() => setEdited(true)}>
              {t('pricing.scheduleEdit')}
            </Button>
            <Button size="small" onClick={() => void cancel()}>
              {t('ui.cancel')}
            </Button>
          </span>
        )}
      </div>
      {change.fault !== '' && <p className="tg-field-error">{errorText(change.fault)}</p>}
      {isEdited ? (
        <ScheduledPriceChangeEditor change={change} onClose={() => setEdited(false)} />
      ) : (
        <ScheduledEntries entries={change.changes} />
      )}
    </li>
  )
}

const CAUSES = {
  'entry-missing': 'entryMissing',
  'not-ratio': 'notRatio',
  'not-number': 'notRatio',
  'below-minimum': 'outOfBounds',
  'above-maximum': 'outOfBounds',
  'too-long': 'tooLong',
  'too-many-bytes': 'tooLong',
  'name-missing': 'badName',
  'name-too-long': 'badName',
  'name-reserved': 'badName',
  'bad-character': 'badName',
} as const

/**
 * Returns a function that translates an error of the server. The error has the form `option: code`.
 */
function useScheduleErrorText(): (errorKey: string) => string {
  const { t } = useTranslation()
  const { label: optionLabel } = useOptionTexts()
  return (errorKey) => {
    const [option = '', code = ''] = errorKey.split(': ')
    const cause = Object.hasOwn(CAUSES, code) ? CAUSES[code as keyof typeof CAUSES] : 'other'
    return t(`pricing.scheduleError.${cause}`, { option: optionLabel(option), code })
  }
}
