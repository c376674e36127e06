import { useTranslation } from 'react-i18next'
import type { Translations } from '#console/i18n/translation-types.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { GroupBadge } from '#console/ui/elements/group-tag.tsx'
import { Icon, type IconName } from '#console/ui/elements/icons.tsx'
import { StatusTag, type Tone } from '#console/ui/elements/status-tag.tsx'
import type { AnyTask } from './task-kinds-and-live-updates.ts'

type Status = keyof Translations['shared']['taskStatus']
type Action = keyof Translations['taskLogs']['action']
type Code = Exclude<keyof Translations['taskLogs']['code'], 'refused'>

/**
 * The color of each status. While a task is being submitted, the server sends an empty status,
 * which is shown as `SUBMITTING`.
 */
const STATUS_TONES: Readonly<Record<Status, Tone>> = {
  SUBMITTING: 'neutral',
  NOT_START: 'neutral',
  SUBMITTED: 'lime',
  QUEUED: 'lime',
  IN_PROGRESS: 'info',
  MODAL: 'warn',
  SUCCESS: 'good',
  FAILURE: 'bad',
  UNKNOWN: 'neutral',
}

const ACTION_COLORS: Readonly<Record<Action, string>> = {
  IMAGINE: 'blue',
  UPSCALE: 'orange',
  VARIATION: 'purple',
  HIGH_VARIATION: 'purple',
  LOW_VARIATION: 'purple',
  PAN: 'cyan',
  DESCRIBE: 'yellow',
  BLEND: 'green',
  UPLOAD: 'blue',
  SHORTEN: 'pink',
  REROLL: 'cyan',
  INPAINT: 'pink',
  ZOOM: 'green',
  CUSTOM_ZOOM: 'green',
  MODAL: 'orange',
  SWAP_FACE: 'red',
  EDITS: 'purple',
  VIDEO: 'blue',
  MUSIC: 'blue',
  LYRICS: 'yellow',
  TEXT_TO_VIDEO: 'blue',
  IMAGE_TO_VIDEO: 'purple',
  REMIX: 'orange',
}

const CODES: Readonly<Record<number, { readonly name: Code; readonly tone: Tone }>> = {
  0: { name: 'none', tone: 'bad' },
  1: { name: 'submitted', tone: 'good' },
  21: { name: 'waiting', tone: 'lime' },
  22: { name: 'duplicate', tone: 'warn' },
}

const keyIn = <Name extends string>(names: Readonly<Record<Name, unknown>>, name: string) =>
  Object.hasOwn(names, name) ? (name as Name) : null

const statusName = (status: string): Status | null =>
  keyIn(STATUS_TONES, status === '' ? 'SUBMITTING' : status)
const actionName = (action: string): Action | null => keyIn(ACTION_COLORS, action)

export const EmptyCell = () => <span className="tg-muted">–</span>

export function ActionCell({ action }: { action: string }) {
  const { t } = useTranslation()
  const name = actionName(action)
  if (name === null) return <GroupBadge name={action} color="grey" />
  return <GroupBadge name={t(`taskLogs.action.${name}`)} color={ACTION_COLORS[name]} />
}

export function StatusCell({ status }: { status: string }) {
  const { t } = useTranslation()
  const name = statusName(status)
  if (name === null) return <StatusTag tone="neutral">{status}</StatusTag>
  return <StatusTag tone={STATUS_TONES[name]}>{t(`shared.taskStatus.${name}`)}</StatusTag>
}

export function CodeCell({ code }: { code: number }) {
  const { t } = useTranslation()
  const status = CODES[code]
  if (status === undefined) {
    return <StatusTag tone="bad">{t('taskLogs.code.refused', { code })}</StatusTag>
  }
  return <StatusTag tone={status.tone}>{t(`taskLogs.code.${status.name}`)}</StatusTag>
}

export function ProgressCell({ task }: { task: AnyTask }) {
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

export function DurationCell(props: { task: AnyTask; isTimed: boolean }) {
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

export function TextCell(props: { text: string; onOpen: () => void; isBad?: boolean }) {
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

/** A button in a row. A click on the button does not count as a click on the row. */
export const OpenButton = (props: { icon: IconName; text: string; onOpen: () => void }) => (
  <Button
    size="small"
    icon={props.icon}
    onClick={(event) => {
      event.stopPropagation()
      props.onOpen()
    }}
  >
    {props.text}
  </Button>
)
