import type { TFunction } from 'i18next'
import { Button } from '#console/ui/button.tsx'
import type { Column } from '#console/ui/data-grid/column.ts'
import type { DrawingTask } from '#read-api/contract/task.ts'
import { CodeCell, TextCell } from './task-cells.tsx'
import { columnOf, commonColumns } from './task-columns.tsx'
import { DRAWINGS } from './task-kind.ts'

/** What of a drawing is opened: its picture, or the texts about it. */
export type Shown = 'image' | 'texts'

type Acts = {
  readonly isAdmin: boolean
  readonly onOpen: (task: DrawingTask, part: Shown) => void
  readonly onChannel: (channel: number) => void
}

/** The columns of the drawing log; those for admins aren't made for anyone else. */
export function drawingColumns(t: TFunction, acts: Acts): Column<DrawingTask>[] {
  const common = commonColumns(t, DRAWINGS, acts.onChannel)
  const text = (
    id: 'prompt' | 'promptEn' | 'failReason',
    read: (task: DrawingTask) => string,
    rest: Partial<Column<DrawingTask>>,
  ): Column<DrawingTask> =>
    columnOf(
      t,
      id,
      124,
      (task) =>
        read(task) === '' ? null : (
          <TextCell
            text={read(task)}
            label={t('taskLogs.show')}
            isBad={id === 'failReason'}
            onOpen={() => acts.onOpen(task, 'texts')}
          />
        ),
      rest,
    )
  return [
    common.time,
    ...(acts.isAdmin ? [common.username] : []),
    common.action,
    text('prompt', ({ prompt }) => prompt, { isGrowing: true, onCard: 'line' }),
    common.status,
    common.progress,
    common.duration,
    columnOf<DrawingTask>(t, 'image', 92, (task) => image(t, task, acts), { onCard: 'line' }),
    text('failReason', ({ fail_reason }) => fail_reason, { onCard: 'line' }),
    columnOf<DrawingTask>(t, 'code', 112, ({ code }) => <CodeCell code={code} />),
    common.id,
    ...(acts.isAdmin ? [common.channel] : []),
    text('promptEn', ({ prompt_en }) => prompt_en, { isHiddenAtFirst: true }),
  ]
}

const image = (t: TFunction, task: DrawingTask, { onOpen }: Acts) =>
  task.image_url === '' ? null : (
    <Button
      size="small"
      icon="image"
      onClick={(event) => {
        event.stopPropagation()
        onOpen(task, 'image')
      }}
    >
      {t('taskLogs.view')}
    </Button>
  )
