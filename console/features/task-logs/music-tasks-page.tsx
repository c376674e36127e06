import { type ReactElement, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useCommands } from '#console/ui/commands/use-commands.ts'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { ListPanel } from '#console/ui/list-panel.tsx'
import { Page } from '#console/ui/page.tsx'
import type { MusicTask } from '#read-api/contract/task.ts'
import { musicColumns } from './music-columns.tsx'
import { SongDialog } from './song-dialog.tsx'
import { NoTasks, TaskFilters } from './task-filters.tsx'
import { MUSIC } from './task-kind.ts'
import { useTaskList } from './use-task-list.ts'
import '#console/ui/forms.css'
import './task-logs.css'

/** Music and lyrics as they come about: how far each is, and what there is to hear. */
export function MusicTasksPage(): ReactElement {
  const { t } = useTranslation()
  const view = useTaskList(MUSIC)
  const [open, setOpen] = useState<number | null>(null)
  const { isAdmin, setFilter, rows } = view
  const columns = useMemo(
    () =>
      musicColumns(t, {
        isAdmin,
        onOpen: (task) => setOpen(task.id),
        onChannel: (channel) => setFilter({ channel }),
      }),
    [t, isAdmin, setFilter],
  )
  const layout = useColumnLayout('music-tasks-table-columns', columns)
  const title = t('taskLogs.refresh')
  useCommands([
    { id: 'refresh', title, section: 'page', keys: 'r', icon: 'refresh', act: view.refresh },
  ])
  const opened = rows.find(({ id }) => id === open)
  return (
    <Page title={t('taskLogs.music')} lead={t('taskLogs.musicLead')}>
      <div className="tg-task-list">
        <ListPanel
          label={t('taskLogs.music')}
          list={view.list}
          rows={rows}
          rowKey={rowKey}
          layout={layout}
          paging={view.paging}
          filtersLabel={t('taskLogs.filters')}
          filters={<TaskFilters view={view} idLabel={t('taskLogs.column.id')} />}
          refreshText={title}
          onRefresh={view.refresh}
          isMuted={isMuted}
          onOpen={(task) => setOpen(task.id)}
          openText={t('taskLogs.show')}
          empty={
            <NoTasks
              view={view}
              icon="music"
              title={t('taskLogs.noMusic')}
              body={t('taskLogs.noMusicBody')}
            />
          }
        />
      </div>
      {opened !== undefined && (
        <SongDialog key={opened.id} task={opened} isAdmin={isAdmin} onClose={() => setOpen(null)} />
      )}
    </Page>
  )
}

const rowKey = ({ id }: MusicTask): string => String(id)
const isMuted = ({ status }: MusicTask): boolean => status === 'FAILURE'
