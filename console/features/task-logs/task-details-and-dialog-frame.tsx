import { type ReactNode, useId } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { Overlay } from '#console/ui/dialogs/overlay.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { CopyButton } from '#console/ui/elements/copy-to-clipboard.tsx'
import { LabelledValues } from '#console/ui/elements/labelled-value.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { type ColumnId, columnTitle } from './common-task-columns.tsx'
import { ChargeOfTask, hasListedPrice, PriceOfTask, useBillOfTask } from './price-of-task.tsx'
import { ActionCell, CodeCell, StatusCell } from './task-cells.tsx'
import type { AnyTask } from './task-kinds-and-live-updates.ts'

type FactValue = readonly [ColumnId, ReactNode]

const NO_VIDEO = { seconds: 0, resolution: '' }

export function TaskDetails(props: { task: AnyTask; isAdmin: boolean }) {
  const { t } = useTranslation()
  const { task, isAdmin } = props
  const id = 'mj_id' in task ? task.mj_id : task.task_id
  const channel = task.channel_id === 0 ? '' : `#${task.channel_id} ${task.channel_name}`.trim()
  const { seconds, resolution } = ('video' in task && task.video) || NO_VIDEO
  const bill = useBillOfTask(id, task.finish_time !== 0, isAdmin)
  const facts: readonly FactValue[] = [
    ['action', <ActionCell key="action" action={task.action} />],
    ['status', <StatusCell key="status" status={task.status} />],
    ['submitted', <Time key="submitted" at={task.submit_time} style="stamp" />],
    ['finished', task.finish_time !== 0 && <Time at={task.finish_time} style="stamp" />],
    ['username', isAdmin && (task.username || `#${task.user_id}`)],
    ['channel', channel],
    ['model', 'model' in task && task.model],
    ['length', seconds > 0 && t('taskLogs.seconds', { count: seconds })],
    ['resolution', resolution],
    ['price', bill !== null && hasListedPrice(bill) && <PriceOfTask key="price" bill={bill} />],
    ['charge', bill !== null && <ChargeOfTask key="charge" bill={bill} />],
    ['code', 'code' in task && <CodeCell code={task.code} />],
    [
      'id',
      <span key="id" className="tg-task-whole-id">
        <Link to={`/app/calls/${id}`}>{id}</Link>
        <CopyButton text={id} label={t('taskLogs.copyId')} />
      </span>,
    ],
  ]
  return (
    <LabelledValues
      className="tg-task-facts"
      values={facts.map(([name, value]) => [columnTitle(t, name), value])}
    />
  )
}

export function TaskDialogFrame(props: {
  title: string
  isWide?: boolean
  onClose: () => void
  children: ReactNode
}) {
  const { t } = useTranslation()
  const id = useId()
  return (
    <Overlay
      isOpen
      onClose={props.onClose}
      labelledBy={id}
      className={props.isWide === true ? 'tg-dialog tg-task-wide' : 'tg-dialog tg-task-dialog'}
    >
      <div className="tg-task-head">
        <h2 id={id}>{props.title}</h2>
        <Button tone="quiet" icon="close" label={t('ui.close')} onClick={props.onClose} />
      </div>
      {props.children}
    </Overlay>
  )
}

export function CopyableText(props: { name: string; text: string }) {
  const { t } = useTranslation()
  if (props.text === '') return null
  return (
    <section className="tg-task-part">
      <h3>
        {props.name}
        <CopyButton text={props.text} label={t('taskLogs.copyText', { name: props.name })} />
      </h3>
      <p>{props.text}</p>
    </section>
  )
}
