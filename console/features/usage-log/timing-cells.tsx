import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { otherOf } from '#console/api/logs.ts'
import { Icon } from '#console/ui/elements/icons.tsx'
import type { LogEntry } from '#read-api/contract/logs.ts'
import { ERROR } from './log-type.ts'
import { durationMs, type Pace, paceOfDuration, paceOfFirstToken, shortDuration } from './timing.ts'

export function DurationCell({ row }: { row: LogEntry }): ReactElement {
  const ms = row.request_id === '' ? null : durationMs(row, otherOf(row))
  if (ms === null) return <span className="tg-muted">–</span>
  // A call that failed is not marked as fast, however short it was.
  if (row.type === ERROR) return <span>{shortDuration(ms)}</span>
  return <Paced pace={paceOfDuration(ms / 1000)} text={shortDuration(ms)} />
}

/** The time to the first token, or a note that the call was not streamed. */
export function FirstTokenCell({ row }: { row: LogEntry }): ReactElement {
  const { t } = useTranslation()
  const { frt } = otherOf(row)
  if (row.request_id !== '' && !row.is_stream) {
    return <span className="tg-log-mode">{t('usageLog.notStreamed')}</span>
  }
  if (frt === undefined || row.type === ERROR) return <span className="tg-muted">–</span>
  return <Paced pace={paceOfFirstToken(frt)} text={shortDuration(frt)} />
}

/** A time and, if the call was not fast, a mark with a label, because color alone is not enough. */
function Paced(props: { pace: Pace; text: string }): ReactElement {
  const { t } = useTranslation()
  const words = t(`usageLog.pace.${props.pace}`)
  return (
    <span className={`tg-log-pace tg-log-pace-${props.pace}`} title={words}>
      {props.pace !== 'good' && (
        <>
          <Icon name={props.pace === 'slow' ? 'clock' : 'alert'} size={13} />
          <span className="tg-visually-hidden">{words}</span>
        </>
      )}
      {props.text}
    </span>
  )
}
