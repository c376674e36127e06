import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery, call } from '#console/api/client.ts'
import { currentScratchCopy, openScratchCopy } from '#console/api/scratch-copy.ts'
import { isAdmin, useUser } from '#console/api/session.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { StatusTag, type Tone } from '#console/ui/elements/status-tag.tsx'
import { stamp } from '#console/ui/elements/time.tsx'
import { FormField } from '#console/ui/forms/form-field.tsx'
import { Select, TextInput } from '#console/ui/forms/inputs.tsx'
import { useSubmit } from '#console/ui/forms/use-submit.ts'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { localTimeText, readLocalTime } from '#console/ui/time-range/time-range.ts'
import type { ScratchCopy, ScratchCopyStatus } from '#read-api/contract/scratch-copies.ts'
import { ProgressBar, pollWhile } from './job-progress.tsx'

const KEY = ['audit', 'scratch-copies'] as const

const TONES: Readonly<Record<ScratchCopyStatus, Tone>> = {
  waiting: 'info',
  building: 'info',
  ready: 'good',
  failed: 'bad',
  deleted: 'neutral',
  expired: 'neutral',
  too_large: 'bad',
  erased: 'neutral',
}

const isUnfinished = ({ status }: ScratchCopy): boolean =>
  status === 'waiting' || status === 'building'
const existsOnServer = (copy: ScratchCopy): boolean => isUnfinished(copy) || copy.status === 'ready'

/**
 * Lists scratch copies, which show the site as of an earlier time, and creates new ones. `before`
 * is the initial value of the form: a new copy contains the events that precede this position of
 * the event log.
 */
export function CopiesPanel({ before }: { before: number }) {
  const { t } = useTranslation()
  const query = useQuery({
    ...apiQuery('GET /api/audit/scratch-copies', undefined, KEY),
    refetchInterval: pollWhile(isUnfinished),
  })
  return (
    <Panel title={t('audit.copies.title')} lead={t('audit.copies.lead')}>
      <QueryView query={query} height={280}>
        {({ items, max, kept_hours: hours, head }) => (
          <>
            {currentScratchCopy() === null && (
              <CreateCopy
                key={before}
                before={before}
                head={head}
                isFull={items.filter(existsOnServer).length >= max}
              />
            )}
            <p className="tg-hint">{t('audit.copies.limits', { max, hours })}</p>
            {items.length === 0 ? (
              <p className="tg-muted">{t('audit.copies.none')}</p>
            ) : (
              <ul className="tg-proofs-copies">
                {items.map((copy) => (
                  <Copy key={copy.id} copy={copy} />
                ))}
              </ul>
            )}
          </>
        )}
      </QueryView>
    </Panel>
  )
}

type Moment = 'time' | 'position'
const POSITION = /^[1-9]\d{0,14}$/

function CreateCopy(props: { before: number; head: number; isFull: boolean }) {
  const { t } = useTranslation()
  const { before, head } = props
  const client = useQueryClient()
  const [moment, setMoment] = useState<Moment>(before > 1 ? 'position' : 'time')
  const [position, setPosition] = useState(String(before > 1 ? before - 1 : head))
  const [time, setTime] = useState(() => localTimeText(Date.now() / 1_000))
  const number = POSITION.test(position.trim()) ? Number(position.trim()) : null
  const seconds = readLocalTime(time)
  const isInvalid = moment === 'time' ? seconds === null : number === null || number > head
  const { isBusy, submit } = useSubmit(async () => {
    // The copy includes the whole selected minute.
    const body =
      moment === 'time'
        ? { position: null, time: (seconds ?? 0) + 59 }
        : { position: number, time: null }
    await call('POST /api/audit/scratch-copies', { body })
    await client.invalidateQueries({ queryKey: KEY })
  })
  const invalidTextKey = moment === 'time' ? 'audit.copies.timeWrong' : 'audit.copies.positionWrong'
  return (
    <form
      className="tg-proofs-export"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <Select
        aria-label={t('audit.copies.moment')}
        value={moment}
        choices={[
          { value: 'time' as const, label: t('audit.copies.byTime') },
          { value: 'position' as const, label: t('audit.copies.byPosition') },
        ]}
        onChange={setMoment}
      />
      <FormField
        label={t(moment === 'time' ? 'shared.time' : 'audit.copies.lastPosition')}
        error={isInvalid ? t(invalidTextKey, { head }) : undefined}
      >
        {(field) =>
          moment === 'time' ? (
            <TextInput {...field} type="datetime-local" value={time} onChange={setTime} />
          ) : (
            <TextInput {...field} inputMode="numeric" value={position} onChange={setPosition} />
          )
        }
      </FormField>
      <Button
        type="submit"
        tone="primary"
        icon="copy"
        isDisabled={isInvalid || isBusy || props.isFull}
      >
        {t('audit.copies.create')}
      </Button>
    </form>
  )
}

const MEGABYTE = 1_000_000

function Copy({ copy }: { copy: ScratchCopy }) {
  const { t } = useTranslation()
  const number = useNumberFormat({ maximumFractionDigits: 1 })
  const { status, position, as_of: asOf, bytes, progress, expires_at: expires } = copy
  return (
    <li className="tg-ends tg-proofs-copy">
      <div className="tg-proofs-copy-text">
        <h3>
          {t('audit.asOf')} {stamp(asOf)} <span className="tg-muted">#{position}</span>
        </h3>
        <div className="tg-proofs-job">
          <StatusTag tone={TONES[status]}>{t(`audit.copies.status.${status}`)}</StatusTag>
          {isUnfinished(copy) && progress !== null && <ProgressBar progress={progress} />}
          {status === 'ready' && (
            <span className="tg-muted">
              {bytes !== null &&
                `${t('audit.copies.size', { size: number.format(bytes / MEGABYTE) })} · `}
              {t('audit.copies.until')} {stamp(expires)}
            </span>
          )}
        </div>
      </div>
      {existsOnServer(copy) && <CopyActions copy={copy} />}
    </li>
  )
}

function CopyActions({ copy }: { copy: ScratchCopy }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const user = useUser()
  const { isBusy, submit } = useSubmit(async () => {
    await call('DELETE /api/audit/scratch-copies/:id', { params: { id: copy.id } })
    await client.invalidateQueries({ queryKey: KEY })
  })
  const mayDelete = isAdmin(user) || user?.id === copy.requested_by
  const isReady = copy.status === 'ready'
  const open = currentScratchCopy()
  return (
    <div className="tg-proofs-copy-actions">
      {isReady && open?.id !== copy.id && (
        <Button icon="eye" onClick={() => openScratchCopy(copy)}>
          {t('audit.copies.open')}
        </Button>
      )}
      {mayDelete && open === null && (
        <Button tone="quiet" icon="trash" isDisabled={isBusy} onClick={() => void submit()}>
          {t(isReady ? 'shared.delete' : 'ui.cancel')}
        </Button>
      )}
    </div>
  )
}
