import { type ReactElement, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { useStatus } from '#console/api/status/status.ts'
import { useCommands } from '#console/ui/commands/use-commands.ts'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { Icon } from '#console/ui/icons.tsx'
import { ListPanel } from '#console/ui/list-panel.tsx'
import { Page } from '#console/ui/page.tsx'
import type { DrawingTask } from '#read-api/contract/task.ts'
import { drawingColumns, type Shown } from './drawing-columns.tsx'
import { ImageViewer } from './image-viewer.tsx'
import { TaskFacts } from './task-facts.tsx'
import { NoTasks, TaskFilters } from './task-filters.tsx'
import { DRAWINGS } from './task-kind.ts'
import { TaskDialog, TextPart } from './text-dialog.tsx'
import { useTaskList } from './use-task-list.ts'
import '#console/ui/forms.css'
import './task-logs.css'

/** Drawings as they come about: what was asked for, how far each is, and the picture. */
export function DrawingsPage(): ReactElement {
  const { t } = useTranslation()
  const view = useTaskList(DRAWINGS)
  const [open, setOpen] = useState<{ id: number; part: Shown } | null>(null)
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
  const layout = useColumnLayout('drawings-table-columns', columns)
  useRefresh(view.refresh)
  const opened = rows.find(({ id }) => id === open?.id)
  const close = () => setOpen(null)
  return (
    <Page title={t('taskLogs.drawings')} lead={t('taskLogs.drawingsLead')}>
      {isAdmin && <CallbackNotice />}
      <div className="tg-task-list">
        <ListPanel
          label={t('taskLogs.drawings')}
          list={view.list}
          rows={rows}
          rowKey={rowKey}
          layout={layout}
          paging={view.paging}
          filtersLabel={t('taskLogs.filters')}
          filters={<TaskFilters view={view} idLabel={t('taskLogs.column.id')} />}
          refreshText={t('taskLogs.refresh')}
          onRefresh={view.refresh}
          isMuted={isMuted}
          onOpen={(task) => setOpen({ id: task.id, part: 'texts' })}
          openText={t('taskLogs.show')}
          empty={
            <NoTasks
              view={view}
              icon="image"
              title={t('taskLogs.noDrawings')}
              body={t('taskLogs.noDrawingsBody')}
            />
          }
        />
      </div>
      {opened !== undefined && open?.part === 'image' && (
        <ImageViewer key={opened.id} task={opened} onClose={close} />
      )}
      {opened !== undefined && open?.part === 'texts' && (
        <DrawingTexts task={opened} isAdmin={isAdmin} onClose={close} />
      )}
    </Page>
  )
}

const rowKey = ({ id }: DrawingTask): string => String(id)
const isMuted = ({ status }: DrawingTask): boolean => status === 'FAILURE'

/** Without it results come by asking, later, and some of them not at all. */
function CallbackNotice(): ReactElement | null {
  const { t } = useTranslation()
  if (useStatus()?.mj_notify_enabled !== false) return null
  return (
    <p className="tg-alert" role="note">
      <Icon name="info" />
      <span>
        {t('taskLogs.callbackOff')}{' '}
        <Link to="/admin/settings?tab=other">{t('taskLogs.toSettings')}</Link>
      </span>
    </p>
  )
}

function DrawingTexts(props: {
  task: DrawingTask
  isAdmin: boolean
  onClose: () => void
}): ReactElement {
  const { t } = useTranslation()
  const { prompt, prompt_en, description, fail_reason } = props.task
  return (
    <TaskDialog title={t('taskLogs.details')} onClose={props.onClose}>
      <TaskFacts task={props.task} isAdmin={props.isAdmin} />
      <TextPart name={t('taskLogs.column.failReason')} text={fail_reason} />
      <TextPart name={t('taskLogs.column.prompt')} text={prompt} />
      <TextPart name={t('taskLogs.column.promptEn')} text={prompt_en} />
      <TextPart name={t('taskLogs.description')} text={description} />
    </TaskDialog>
  )
}

function useRefresh(refresh: () => void): void {
  const { t } = useTranslation()
  const title = t('taskLogs.refresh')
  useCommands([{ id: 'refresh', title, section: 'page', keys: 'r', icon: 'refresh', act: refresh }])
}
