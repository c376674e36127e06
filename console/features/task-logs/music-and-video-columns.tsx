import type { TFunction } from 'i18next'
import type { Column } from '#console/ui/data-grid/column-and-layout.ts'
import { Time } from '#console/ui/elements/time.tsx'
import type { MusicTask } from '#read-api/contract/tasks.ts'
import { EmptyCell, OpenButton, TextCell } from './task-cells.tsx'
import { commonColumns, taskColumn } from './task-columns.tsx'
import { MUSIC } from './task-kind.ts'

type ColumnContext = {
  readonly isAdmin: boolean
  readonly onOpen: (task: MusicTask) => void
  readonly onChannel: (channel: number) => void
}

export function musicAndVideoColumns(t: TFunction, actions: ColumnContext): Column<MusicTask>[] {
  const common = commonColumns(t, MUSIC, actions.onChannel)
  return [
    common.time,
    ...(actions.isAdmin ? [common.username] : []),
    common.action,
    common.status,
    common.progress,
    common.duration,
    taskColumn<MusicTask>(t, 'result', 150, (task) => result(t, task, actions), {
      isGrowing: true,
      onCard: 'line',
    }),
    ...(actions.isAdmin ? [common.channel] : []),
    taskColumn<MusicTask>(t, 'platform', 80, ({ platform }) => platform, { isHiddenAtFirst: true }),
    taskColumn<MusicTask>(t, 'model', 120, ({ model }) => model, { isHiddenAtFirst: true }),
    common.id,
    taskColumn<MusicTask>(
      t,
      'finished',
      124,
      ({ finish_time }) =>
        finish_time === 0 ? <EmptyCell /> : <Time at={finish_time} style="short-stamp" />,
      {
        isHiddenAtFirst: true,
        agoCell: ({ finish_time }) =>
          finish_time === 0 ? <EmptyCell /> : <Time at={finish_time} style="short" />,
      },
    ),
  ]
}

function result(t: TFunction, task: MusicTask, { onOpen }: ColumnContext) {
  const open = () => onOpen(task)
  if (task.fail_reason !== '') {
    return <TextCell text={task.fail_reason} isBad onOpen={open} />
  }
  if (task.video !== null && task.video.url !== '') {
    return <OpenButton icon="play" text={t('taskLogs.watch')} onOpen={open} />
  }
  if (task.songs.length === 0) return null
  const isHeard = task.songs.some(({ audio_url }) => audio_url !== '')
  return (
    <OpenButton
      icon={isHeard ? 'play' : 'book'}
      text={t(isHeard ? 'taskLogs.play' : 'taskLogs.readLyrics')}
      onOpen={open}
    />
  )
}
