import type { TFunction } from 'i18next'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useStatus } from '#console/api/status.ts'
import type { Column } from '#console/ui/data-grid/column-and-layout.ts'
import { Time } from '#console/ui/elements/time.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { Alert } from '#console/ui/messages/alert.tsx'
import type { MusicTask, Song, Video } from '#read-api/contract/tasks.ts'
import { commonColumns, taskColumn } from './common-task-columns.tsx'
import { ActionCell, EmptyCell, OpenButton, TextCell } from './task-cells.tsx'
import { CopyableText, TaskDetails, TaskDialogFrame } from './task-details-and-dialog-frame.tsx'
import { MUSIC, songLengthText } from './task-kinds-and-live-updates.ts'
import { TaskList } from './task-list.tsx'
import { useTaskList } from './use-task-list.ts'

function MusicTaskDialog(props: { task: MusicTask; isAdmin: boolean; onClose: () => void }) {
  const { t } = useTranslation()
  const { task } = props
  return (
    <TaskDialogFrame title={t('taskLogs.details')} onClose={props.onClose}>
      {task.video !== null && task.video.url !== '' && <VideoPlayer video={task.video} />}
      {task.songs.map((song, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: songs have no ids and keep their order
        <SongCard key={index} song={song} index={index} />
      ))}
      <CopyableText name={t('taskLogs.column.failReason')} text={task.fail_reason} />
      <CopyableText name={t('taskLogs.column.prompt')} text={task.prompt} />
      <TaskDetails task={task} isAdmin={props.isAdmin} />
    </TaskDialogFrame>
  )
}

function SongCard({ song, index }: { song: Song; index: number }) {
  const { t } = useTranslation()
  const title = song.title || t('taskLogs.song', { number: index + 1 })
  return (
    <article className="tg-task-song">
      <header>
        {song.image_url !== '' && (
          <img src={song.image_url} alt="" loading="lazy" referrerPolicy="no-referrer" />
        )}
        <div>
          <h3>{title}</h3>
          <p>
            {[song.tags, songLengthText(song.duration)].filter((text) => text !== '').join(' · ')}
          </p>
        </div>
      </header>
      {song.audio_url !== '' && (
        // biome-ignore lint/a11y/useMediaCaption: the lyrics are shown below
        <audio controls preload="none" src={song.audio_url} aria-label={title} />
      )}
      <CopyableText name={t('taskLogs.lyrics')} text={song.text} />
    </article>
  )
}

/**
 * Plays a video. The player keeps the first link. Later responses contain other links to the same
 * video, and a new link would restart the video.
 */
function VideoPlayer({ video }: { video: Video }) {
  const { t } = useTranslation()
  const [url] = useState(video.url)
  const [hasFailed, setFailed] = useState(false)
  if (hasFailed) return <Alert tone="bad">{t('taskLogs.videoFailed')}</Alert>
  return (
    // biome-ignore lint/a11y/useMediaCaption: videos of providers have no captions
    <video
      className="tg-task-video"
      controls
      preload="metadata"
      src={url}
      aria-label={t('taskLogs.video')}
      onError={() => setFailed(true)}
    />
  )
}

export function MusicAndVideoTasksPage() {
  const { t } = useTranslation()
  const view = useTaskList(MUSIC)
  const [open, setOpen] = useState<number | null>(null)
  const { isAdmin, setFilter, rows } = view
  const columns = useMemo(
    () =>
      musicAndVideoColumns(t, {
        isAdmin,
        onOpen: (task) => setOpen(task.id),
        onChannel: (channel) => setFilter({ channel }),
      }),
    [t, isAdmin, setFilter],
  )
  const status = useStatus()
  const isMusicDisabled = status?.enable_task === false
  const isForVideosOnly = isMusicDisabled && status.enable_video
  // The option disables only music tasks. A message about the option is shown above a list with
  // music, and instead of an empty list if the site makes no videos either.
  const concernsMusic =
    rows.length === 0 ? !isForVideosOnly : rows.some(({ platform }) => platform === 'suno')
  const opened = rows.find(({ id }) => id === open)
  return (
    <Page title={t('shell.musicTasks')} lead={t('taskLogs.musicLead')}>
      <TaskList
        name={t('shell.musicTasks')}
        layoutKey="music-tasks-table-columns"
        columns={columns}
        view={view}
        none={{
          icon: isForVideosOnly ? 'play' : 'music',
          title: t(isForVideosOnly ? 'taskLogs.noVideos' : 'taskLogs.noMusic'),
          body: t(isForVideosOnly ? 'taskLogs.noVideosBody' : 'taskLogs.noMusicBody'),
          disabledText: isMusicDisabled && concernsMusic ? t('taskLogs.musicOff') : null,
        }}
        onOpen={(task) => setOpen(task.id)}
      />
      {opened !== undefined && (
        <MusicTaskDialog
          key={opened.id}
          task={opened}
          isAdmin={isAdmin}
          onClose={() => setOpen(null)}
        />
      )}
    </Page>
  )
}

type ColumnContext = {
  readonly isAdmin: boolean
  readonly onOpen: (task: MusicTask) => void
  readonly onChannel: (channel: number) => void
}

function musicAndVideoColumns(t: TFunction, actions: ColumnContext): Column<MusicTask>[] {
  const common = commonColumns(t, MUSIC, actions.onChannel)
  return [
    common.time,
    ...(actions.isAdmin ? [common.username] : []),
    {
      ...common.action,
      width: 132,
      cell: ({ action, model }) => (
        <span className="tg-task-model">
          <ActionCell action={action} />
          <small className="tg-mono tg-muted" title={model}>
            {model}
          </small>
        </span>
      ),
    },
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
