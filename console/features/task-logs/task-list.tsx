import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import type { Column } from '#console/ui/data-grid/column-and-layout.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { ButtonLink } from '#console/ui/elements/button-link.tsx'
import type { IconName } from '#console/ui/elements/icons.tsx'
import { FilterInput, NumberFilter } from '#console/ui/forms/filter-input.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { ListPanel, rowId } from '#console/ui/lists/list-panel.tsx'
import { Alert } from '#console/ui/messages/alert.tsx'
import { RangeFilter } from '#console/ui/time-range/range-filter.tsx'
import { relativeRange } from '#console/ui/time-range/time-range.ts'
import type { AnyTask } from './task-kinds-and-live-updates.ts'
import type { TaskListView, useTaskList } from './use-task-list.ts'
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

function TaskFilters(props: { view: TaskListView }) {
  const { t } = useTranslation()
  const { filter, setFilter, isAdmin } = props.view
  return (
    <>
      <RangeFilter range={filter.range} onRange={(range) => setFilter({ range })} />
      <span className="tg-task-filters">
        <FilterInput
          label={t('taskLogs.column.id')}
          value={filter.id}
          onCommit={(id) => setFilter({ id })}
        />
        {isAdmin && (
          <NumberFilter
            label={t('shared.channelId')}
            value={filter.channel}
            errorText={t('shared.channelIdInvalid')}
            onCommit={(channel) => setFilter({ channel })}
          />
        )}
      </span>
    </>
  )
}

type EmptyTaskListText = {
  readonly icon: IconName
  readonly title: string
  readonly body: string
  /** A message that the site has disabled this kind of task, or null if the kind is enabled. */
  readonly disabledText: string | null
}

function TasksDisabledNote(props: { disabledText: string; isAdmin: boolean }) {
  const { t } = useTranslation()
  return (
    <Alert role="note">
      <span>
        {t('taskLogs.offNote', { off: props.disabledText })}{' '}
        {props.isAdmin && <Link to="/admin/settings?tab=other">{t('ui.openSettings')}</Link>}
      </span>
    </Alert>
  )
}

function NoTasks(props: EmptyTaskListText & { view: TaskListView }) {
  const { t } = useTranslation()
  const { filter, setFilter, isFiltered, isAdmin, clear } = props.view
  const isAll = filter.range.kind === 'relative' && filter.range.span === 'all'
  const isNarrow = filter.id !== '' || filter.channel !== 0
  if (isFiltered && (isNarrow || !isAll)) {
    return (
      <EmptyState
        icon="search"
        title={t('taskLogs.notFound')}
        body={t('taskLogs.notFoundBody')}
        action={<Button onClick={clear}>{t('ui.clearFilters')}</Button>}
      />
    )
  }
  const showAll = (
    <Button onClick={() => setFilter({ range: relativeRange('all') })}>
      {t('shared.showAllTime')}
    </Button>
  )
  if (props.disabledText !== null) {
    return (
      <EmptyState
        icon={props.icon}
        title={props.disabledText}
        body={isAdmin ? t('taskLogs.offLead') : t('taskLogs.offUser')}
        action={
          <>
            {!isAll && showAll}
            {isAdmin && (
              <ButtonLink to="/admin/settings?tab=other">{t('ui.openSettings')}</ButtonLink>
            )}
          </>
        }
      />
    )
  }
  return (
    <EmptyState
      icon={props.icon}
      title={props.title}
      body={props.body}
      action={
        <>
          {!isAll && showAll}
          <ButtonLink to="/app/tokens" icon="key">
            {t('taskLogs.toTokens')}
          </ButtonLink>
        </>
      }
    />
  )
}
