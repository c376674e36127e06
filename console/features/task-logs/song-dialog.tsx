import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import type { MusicTask, Song } from '#read-api/contract/task.ts'
import { clockText } from './clock-text.ts'
import { TaskFacts } from './task-facts.tsx'
import { TaskDialog, TextPart } from './text-dialog.tsx'

/** What a music task was asked for and what it made: played and read here. */
export function SongDialog(props: {
  task: MusicTask
  isAdmin: boolean
  onClose: () => void
}): ReactElement {
  const { t } = useTranslation()
  const { task } = props
  return (
    <TaskDialog title={t('taskLogs.details')} onClose={props.onClose}>
      {task.songs.map((song, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they have no names, and never move
        <SongPart key={index} song={song} index={index} />
      ))}
      <TextPart name={t('taskLogs.column.failReason')} text={task.fail_reason} />
      <TextPart name={t('taskLogs.column.prompt')} text={task.prompt} />
      <TaskFacts task={task} isAdmin={props.isAdmin} />
    </TaskDialog>
  )
}

function SongPart({ song, index }: { song: Song; index: number }): ReactElement {
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
          <p>{[song.tags, clockText(song.duration)].filter((text) => text !== '').join(' · ')}</p>
        </div>
      </header>
      {song.audio_url !== '' && (
        // biome-ignore lint/a11y/useMediaCaption: its lyrics stand below it
        <audio controls preload="none" src={song.audio_url} aria-label={title} />
      )}
      <TextPart name={t('taskLogs.lyrics')} text={song.text} />
    </article>
  )
}
