import type { TFunction } from 'i18next'
import type { Column } from '#console/ui/data-grid/column-and-layout.ts'
import type { DrawingTask } from '#read-api/contract/tasks.ts'
import { CodeCell, OpenButton, TextCell } from './task-cells.tsx'
import { commonColumns, taskColumn } from './task-columns.tsx'
import { DRAWINGS } from './task-kind.ts'

export type TaskDetailsKind = 'image' | 'texts'

type ColumnContext = {
  readonly isAdmin: boolean
  readonly onOpen: (task: DrawingTask, part: TaskDetailsKind) => void
  readonly onChannel: (channel: number) => void
}

export function drawingColumns(t: TFunction, actions: ColumnContext): Column<DrawingTask>[] {
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
    // The code is hidden for admins at first, because their result column already explains
    // failures.
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
