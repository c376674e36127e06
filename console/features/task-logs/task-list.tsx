import { useTranslation } from 'react-i18next'
import type { Column } from '#console/ui/data-grid/column-and-layout.ts'
import { ListPanel, rowId } from '#console/ui/lists/list-panel.tsx'
import { type EmptyTaskListText, NoTasks, TaskFilters, TasksDisabledNote } from './task-filters.tsx'
import type { AnyTask } from './task-kind.ts'
import type { useTaskList } from './use-task-list.ts'
import '#console/ui/forms/forms.css'
import './task-logs.css'

export function TaskList<Task extends AnyTask>(props: {
  name: string
  layoutKey: string
  columns: readonly Column<Task>[]
  view: ReturnType<typeof useTaskList<Task>>
  none: EmptyTaskListText
  onOpen: (task: Task) => void
}) {
  const { t } = useTranslation()
  const { name, view } = props
  const { disabledText } = props.none
  return (
    <>
      {disabledText !== null && view.rows.length > 0 && (
        <TasksDisabledNote disabledText={disabledText} isAdmin={view.isAdmin} />
      )}
      <div className="tg-task-list">
        <ListPanel
          label={name}
          view={view}
          layoutKey={props.layoutKey}
          columns={props.columns}
          rowKey={rowId}
          filters={<TaskFilters view={view} />}
          isClearable
          isMuted={isMuted}
          onOpen={props.onOpen}
          openText={t('taskLogs.show')}
          empty={<NoTasks view={view} {...props.none} />}
        />
      </div>
    </>
  )
}
const isMuted = ({ status }: AnyTask): boolean => status === 'FAILURE'
