import type { TFunction } from 'i18next'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { useStatus } from '#console/api/status.ts'
import type { Column } from '#console/ui/data-grid/column-and-layout.ts'
import { Icon } from '#console/ui/elements/icons.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { Alert } from '#console/ui/messages/alert.tsx'
import type { DrawingTask } from '#read-api/contract/tasks.ts'
import { commonColumns, taskColumn } from './common-task-columns.tsx'
import { CodeCell, OpenButton, TextCell } from './task-cells.tsx'
import { CopyableText, TaskDetails, TaskDialogFrame } from './task-details-and-dialog-frame.tsx'
import { DRAWINGS } from './task-kinds-and-live-updates.ts'
import { TaskList } from './task-list.tsx'
import { useTaskList } from './use-task-list.ts'

function ImageViewer(props: { task: DrawingTask; onClose: () => void }) {
  const { t } = useTranslation()
  const { image_url: url, prompt } = props.task
  const [state, setState] = useState<'loading' | 'shown' | 'failed'>('loading')
  return (
    <TaskDialogFrame title={t('taskLogs.image')} isWide onClose={props.onClose}>
      <div className="tg-task-image" aria-busy={state === 'loading'}>
        {state === 'failed' ? (
          <p className="tg-alert tg-alert-bad" role="alert">
            {t('taskLogs.imageFailed')}
          </p>
        ) : (
          <>
            {state === 'loading' && <Skeleton width={320} height={240} />}
            <img
              src={url}
              alt={prompt || t('taskLogs.image')}
              hidden={state === 'loading'}
              referrerPolicy="no-referrer"
              onLoad={() => setState('shown')}
              onError={() => setState('failed')}
            />
          </>
        )}
      </div>
      <p className="tg-ends tg-task-caption">
        <span>{prompt}</span>
        <a href={url} target="_blank" rel="noreferrer">
          {t('taskLogs.openImage')}
          <Icon name="external" size={13} />
        </a>
      </p>
    </TaskDialogFrame>
  )
}

export function DrawingsPage() {
  const { t } = useTranslation()
  const view = useTaskList(DRAWINGS)
  const [open, setOpen] = useState<{ id: number; part: TaskDetailsKind } | null>(null)
  const { isAdmin, setFilter, rows } = view
  const columns = useMemo(
    () =>
      drawingColumns(t, {
        isAdmin,
        onOpen: (task, part) => setOpen({ id: task.id, part }),
        onChannel: (channel) => setFilter({ channel }),
      }),
    [t, isAdmin, setFilter],
  )
  const isDrawingDisabled = useStatus()?.enable_drawing === false
  const opened = rows.find(({ id }) => id === open?.id)
  const close = () => setOpen(null)
  return (
    <Page title={t('shell.drawings')} lead={t('taskLogs.drawingsLead')}>
      {isAdmin && !isDrawingDisabled && <CallbackNotice />}
      <TaskList
        name={t('shell.drawings')}
        layoutKey="drawings-table-columns"
        columns={columns}
        view={view}
        none={{
          icon: 'image',
          title: t('taskLogs.noDrawings'),
          body: t('taskLogs.noDrawingsBody'),
          disabledText: isDrawingDisabled ? t('taskLogs.drawingsOff') : null,
        }}
        onOpen={(task) => setOpen({ id: task.id, part: 'texts' })}
      />
      {opened !== undefined && open?.part === 'image' && (
        <ImageViewer key={opened.id} task={opened} onClose={close} />
      )}
      {opened !== undefined && open?.part === 'texts' && (
        <DrawingTexts task={opened} isAdmin={isAdmin} onClose={close} />
      )}
    </Page>
  )
}

/**
 * Shows a warning if the site gives providers no callback URL. Without callbacks, the results of
 * drawings may arrive late or never.
 */
function CallbackNotice() {
  const { t } = useTranslation()
  if (useStatus()?.mj_notify_enabled !== false) return null
  return (
    <Alert role="note">
      <span>
        {t('taskLogs.callbackOff')}{' '}
        <Link to="/admin/settings?tab=other">{t('ui.openSettings')}</Link>
      </span>
    </Alert>
  )
}

function DrawingTexts(props: { task: DrawingTask; isAdmin: boolean; onClose: () => void }) {
  const { t } = useTranslation()
  const { prompt, prompt_en, description, fail_reason } = props.task
  return (
    <TaskDialogFrame title={t('taskLogs.details')} onClose={props.onClose}>
      <TaskDetails task={props.task} isAdmin={props.isAdmin} />
      <CopyableText name={t('taskLogs.column.failReason')} text={fail_reason} />
      <CopyableText name={t('taskLogs.column.prompt')} text={prompt} />
      <CopyableText name={t('taskLogs.column.promptEn')} text={prompt_en} />
      <CopyableText name={t('taskLogs.description')} text={description} />
    </TaskDialogFrame>
  )
}

type TaskDetailsKind = 'image' | 'texts'

type ColumnContext = {
  readonly isAdmin: boolean
  readonly onOpen: (task: DrawingTask, part: TaskDetailsKind) => void
  readonly onChannel: (channel: number) => void
}

function drawingColumns(t: TFunction, actions: ColumnContext): Column<DrawingTask>[] {
  const common = commonColumns(t, DRAWINGS, actions.onChannel)
  const text = (
    id: 'prompt' | 'promptEn',
    read: (task: DrawingTask) => string,
    rest: Partial<Column<DrawingTask>>,
  ): Column<DrawingTask> =>
    taskColumn(
      t,
      id,
      104,
      (task) =>
        read(task) === '' ? null : (
          <TextCell text={read(task)} onOpen={() => actions.onOpen(task, 'texts')} />
        ),
      rest,
    )
  return [
    common.time,
    ...(actions.isAdmin ? [common.username] : []),
    common.action,
    text('prompt', ({ prompt }) => prompt, { isGrowing: true, onCard: 'line' }),
    common.status,
    common.progress,
    common.duration,
    taskColumn<DrawingTask>(t, 'result', 96, (task) => result(t, task, actions), {
      onCard: 'line',
    }),
    // For admins, the code is initially hidden, because the result column of admins already
    // explains failures.
    taskColumn<DrawingTask>(t, 'code', 117, ({ code }) => <CodeCell code={code} />, {
      isHiddenAtFirst: actions.isAdmin,
    }),
    ...(actions.isAdmin ? [common.channel] : []),
    { ...common.id, isHiddenAtFirst: true },
    text('promptEn', ({ prompt_en }) => prompt_en, { isHiddenAtFirst: true }),
  ]
}

function result(t: TFunction, task: DrawingTask, { onOpen }: ColumnContext) {
  const { fail_reason: reason, image_url: image } = task
  if (reason !== '') {
    return <TextCell text={reason} isBad onOpen={() => onOpen(task, 'texts')} />
  }
  if (image === '') return null
  return <OpenButton icon="image" text={t('shared.view')} onOpen={() => onOpen(task, 'image')} />
}
