import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useStatus } from '#console/api/status.ts'
import { Page } from '#console/ui/layout/page.tsx'
import { Alert } from '#console/ui/messages/alert.tsx'
import type { MusicTask, Song, Video } from '#read-api/contract/tasks.ts'
import { musicAndVideoColumns } from './music-and-video-columns.tsx'
import { songLengthText } from './song-length.ts'
import { TaskDetails } from './task-details.tsx'
import { CopyableText, TaskDialogFrame } from './task-dialog-frame.tsx'
import { MUSIC } from './task-kind.ts'
import { TaskList } from './task-list.tsx'
import { useTaskList } from './use-task-list.ts'

function MusicTaskDialog(props: { task: MusicTask; isAdmin: boolean; onClose: () => void }) {
  const { t } = useTranslation()
  const { task } = props
  return (
    <TaskDialogFrame title={t('taskLogs.details')} onClose={props.onClose}>
      {task.video !== null && task.video.url !== '' && <VideoPlayer video={task.video} />}
      {task.songs.map((song, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: songs have no ids and never move
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
 * Plays a video. The player keeps the first link, because later responses have other links to the
 * same video, which would restart it.
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

export function MusicTasksPage() {
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
  const areTasksDisabled = useStatus()?.enable_task === false
  const opened = rows.find(({ id }) => id === open)
  return (
    <Page title={t('shell.musicTasks')} lead={t('taskLogs.musicLead')}>
      <TaskList
        name={t('shell.musicTasks')}
        layoutKey="music-tasks-table-columns"
        columns={columns}
        view={view}
        none={{
          icon: 'music',
          title: t('taskLogs.noMusic'),
          body: t('taskLogs.noMusicBody'),
          disabledText: areTasksDisabled ? t('taskLogs.musicOff') : null,
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
