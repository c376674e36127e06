import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { StatusTag, type Tone } from '#console/ui/elements/status-tag.tsx'
import type { Verification } from '#read-api/contract/verifications.ts'

type Job = Pick<Verification, 'status' | 'progress' | 'error'>

const JOB_POLL_INTERVAL_MS = 1_000

type ListState<Item> = { state: { data: { items: readonly Item[] } | undefined } }

/**
 * Returns a function for the `refetchInterval` of a list's query. The list is polled while at least
 * one of its items is unfinished.
 */
export const pollWhile =
  <Item,>(isItemUnfinished: (item: Item) => boolean) =>
  ({ state }: ListState<Item>): number | false =>
    state.data?.items.some(isItemUnfinished) === true ? JOB_POLL_INTERVAL_MS : false

export const isUnfinished = ({ status }: Pick<Job, 'status'>): boolean =>
  status === 'waiting' || status === 'running'

export const JOB_TONES: Readonly<Record<Job['status'], Tone>> = {
  waiting: 'info',
  running: 'info',
  finished: 'good',
  failed: 'bad',
}

export function JobStatus({ status }: { status: Job['status'] }) {
  const { t } = useTranslation()
  return <StatusTag tone={JOB_TONES[status]}>{t(`audit.job.${status}`)}</StatusTag>
}

/**
 * Shows the status of a job, and its error if there is one. While the job is unfinished and its
 * progress is known, also shows a progress bar and the estimated time left.
 */
export function JobProgress({ job }: { job: Job }) {
  const { progress, status, error } = job
  return (
    <div className="tg-proofs-job">
      <JobStatus status={status} />
      {error !== '' && <span className="tg-proofs-error">{error}</span>}
      {isUnfinished(job) && progress !== null && <ProgressBar progress={progress} />}
    </div>
  )
}

export function ProgressBar({ progress }: { progress: NonNullable<Job['progress']> }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  return (
    <>
      <progress
        aria-label={t('audit.job.progress')}
        value={progress.done}
        max={Math.max(progress.total, 1)}
      />
      <span className="tg-muted">
        {t('audit.job.of', {
          done: number.format(progress.done),
          total: number.format(progress.total),
        })}
        {progress.seconds_left !== null &&
          ` · ${t('audit.job.left', { time: timeText(t, progress.seconds_left) })}`}
      </span>
    </>
  )
}

const MINUTE = 60

const timeText = (t: TFunction, seconds: number): string =>
  seconds < 2 * MINUTE
    ? t('audit.seconds', { value: String(seconds) })
    : t('audit.minutes', { value: String(Math.round(seconds / MINUTE)) })
