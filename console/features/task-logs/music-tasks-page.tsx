import { type ReactElement, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useStatus } from '#console/api/status/status.ts'
import { Page } from '#console/ui/page.tsx'
import { musicColumns } from './music-columns.tsx'
import { SongDialog } from './song-dialog.tsx'
import { MUSIC } from './task-kind.ts'
import { TaskList } from './task-list.tsx'
import { useTaskList } from './use-task-list.ts'

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
  const isOff = useStatus()?.enable_task === false
  const opened = rows.find(({ id }) => id === open)
  return (
    <Page title={t('taskLogs.music')} lead={t('taskLogs.musicLead')}>
      <TaskList
        name={t('taskLogs.music')}
        layoutKey="music-tasks-table-columns"
        columns={columns}
        view={view}
        none={{
          icon: 'music',
          title: t('taskLogs.noMusic'),
          body: t('taskLogs.noMusicBody'),
          off: isOff ? t('taskLogs.musicOff') : null,
        }}
        onOpen={(task) => setOpen(task.id)}
      />
      {opened !== undefined && (
        <SongDialog key={opened.id} task={opened} isAdmin={isAdmin} onClose={() => setOpen(null)} />
      )}
    </Page>
  )
}
