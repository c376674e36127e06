import type { TFunction } from 'i18next'
import type { ReactNode } from 'react'
import type { Translations } from '#console/i18n/translation-types.ts'
import type { Column } from '#console/ui/data-grid/column-and-layout.ts'
import { CopyButton } from '#console/ui/elements/copy-to-clipboard.tsx'
import { MiddleEllipsis } from '#console/ui/elements/middle-ellipsis.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { ActionCell, DurationCell, EmptyCell, ProgressCell, StatusCell } from './task-cells.tsx'
import type { AnyTask, TaskKind } from './task-kinds-and-live-updates.ts'

const SHARED_TITLES = {
  username: 'shared.user',
  channel: 'shared.channel',
  status: 'shared.status',
  model: 'ui.model',
} as const
type OwnTitle = keyof Translations['taskLogs']['column']
export type ColumnId = OwnTitle | keyof typeof SHARED_TITLES
type Cell<Task> = (task: Task) => ReactNode

const hasOwnTitle = (id: ColumnId): id is OwnTitle => !(id in SHARED_TITLES)

export const columnTitle = (t: TFunction, id: ColumnId): string =>
  t(hasOwnTitle(id) ? `taskLogs.column.${id}` : SHARED_TITLES[id])

export const taskColumn = <Task extends AnyTask>(
  t: TFunction,
  id: ColumnId,
  width: number,
  cell: Cell<Task>,
  rest: Partial<Column<Task>> = {},
): Column<Task> => ({ id, title: columnTitle(t, id), width, cell, onCard: 'more', ...rest })

export function commonColumns<Task extends AnyTask>(
  t: TFunction,
  kind: TaskKind<Task>,
  onChannel: (channel: number) => void,
) {
  const column = (
    id: ColumnId,
    width: number,
    cell: Cell<Task>,
    rest: Partial<Column<Task>> = {},
  ) => taskColumn(t, id, width, cell, rest)
  return {
    time: column('submitted', 122, (task) => <Time at={task.submit_time} style="short-stamp" />, {
      isPinned: true,
      onCard: 'bare',
      agoCell: (task) => <Time at={task.submit_time} style="short" />,
    }),
    username: column('username', 70, (task) => task.username || `#${task.user_id}`, {
      onCard: 'bare',
    }),
    channel: column('channel', 96, (task) => <ChannelCell task={task} onChannel={onChannel} />),
    action: column('action', 112, (task) => <ActionCell action={task.action} />, {
      onCard: 'title',
    }),
    id: column('id', 150, (task) => (
      <span className="tg-task-id">
        <MiddleEllipsis text={kind.idOf(task)} />
        <CopyButton text={kind.idOf(task)} label={t('taskLogs.copyId')} />
      </span>
    )),
    status: column('status', 118, (task) => <StatusCell status={task.status} />, {
      onCard: 'aside',
    }),
    // For a failed task, the reason takes the place of the progress.
    progress: column(
      'progress',
      104,
      (task) => (task.status === 'FAILURE' ? null : <ProgressCell task={task} />),
      { onCard: 'line' },
    ),
    duration: column(
      'duration',
      72,
      (task) =>
        task.finish_time === 0 ? null : (
          <DurationCell task={task} isTimed={kind.name === 'drawing'} />
        ),
      { align: 'end', onCard: 'bare' },
    ),
  }
}

function ChannelCell(props: { task: AnyTask; onChannel: (channel: number) => void }) {
  const { channel_id: id, channel_name: name } = props.task
  if (id === 0) return <EmptyCell />
  return (
    <button
      type="button"
      className="tg-cell-button"
      tabIndex={-1}
      onClick={(event) => {
        event.stopPropagation()
        props.onChannel(id)
      }}
    >
      {`#${id} ${name}`.trim()}
    </button>
  )
}
