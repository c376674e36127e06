import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { GroupBadge } from '#console/ui/group-tag.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { StatusTag } from '#console/ui/status-tag.tsx'
import type { AnyTask } from './task-kind.ts'
import { ACTION_COLORS, actionName, CODES, STATUS_TONES, statusName } from './task-words.ts'

export const Nothing = (): ReactElement => <span className="tg-muted">–</span>

export function ActionCell({ action }: { action: string }): ReactElement {
  const { t } = useTranslation()
  const name = actionName(action)
  if (name === null) return <GroupBadge name={action} color="grey" />
  return <GroupBadge name={t(`taskLogs.action.${name}`)} color={ACTION_COLORS[name]} />
}

export function StatusCell({ status }: { status: string }): ReactElement {
  const { t } = useTranslation()
  const name = statusName(status)
  if (name === null) return <StatusTag tone="neutral">{status}</StatusTag>
  return <StatusTag tone={STATUS_TONES[name]}>{t(`taskLogs.status.${name}`)}</StatusTag>
}

/** What the provider answered as the drawing was handed in. */
export function CodeCell({ code }: { code: number }): ReactElement {
  const { t } = useTranslation()
  const known = CODES[code]
  if (known === undefined) {
    return <StatusTag tone="bad">{t('taskLogs.code.refused', { code })}</StatusTag>
  }
  return <StatusTag tone={known.tone}>{t(`taskLogs.code.${known.name}`)}</StatusTag>
}

export function ProgressCell({ task }: { task: AnyTask }): ReactElement {
  const { t } = useTranslation()
  const percent = Number(/^(\d{1,3})%$/.exec(task.progress)?.[1] ?? 0)
  const kind = task.status === 'SUCCESS' ? 'good' : 'going'
  return (
    <span className={`tg-task-progress tg-task-progress-${kind}`}>
      <progress aria-label={t('taskLogs.column.progress')} max={100} value={percent} />
      {percent}%
    </span>
  )
}

const SLOW_SECONDS = 60

/** From handing it in to its end; `isTimed`: more than a minute is called slow. */
export function DurationCell(props: { task: AnyTask; isTimed: boolean }): ReactElement {
  const { t } = useTranslation()
  const { submit_time: from, finish_time: to } = props.task
  const seconds = Math.max(0, to - from)
  const text = t('taskLogs.seconds', { count: seconds })
  if (!props.isTimed) return <span>{text}</span>
  const isSlow = seconds > SLOW_SECONDS
  return (
    <span className={isSlow ? 'tg-task-slow' : 'tg-task-fast'}>
      {isSlow && (
        <>
          <Icon name="alert" size={13} />
          <span className="tg-visually-hidden">{t('taskLogs.slow')}</span>
        </>
      )}
      {text}
    </span>
  )
}

/** A text that is cut to its cell, and read whole as its title or in a dialog. */
export function TextCell(props: {
  text: string
  onOpen: () => void
  isBad?: boolean
}): ReactElement {
  return (
    <button
      type="button"
      className={props.isBad === true ? 'tg-cell-button tg-task-text-bad' : 'tg-cell-button'}
      tabIndex={-1}
      title={props.text}
      onClick={(event) => {
        event.stopPropagation()
        props.onOpen()
      }}
    >
      {props.text}
    </button>
  )
}
