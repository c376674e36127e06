import type { Sealed } from '#domain/shared/event.ts'
import { secondsMade } from '#domain/shared/seconds-made.ts'
import type { TranslatedText } from '#domain/shared/translated-text.ts'
import { ACTIVE } from '#domain/shared/user-roles-and-statuses.ts'
import type { Core } from '#infra/core-dependencies.ts'
import type { Language } from '#infra/http/request-language.ts'
import { readVideoFile, videoPath } from '#infra/http/signed-video-links.ts'
import type { TaskProgress } from '#infra/task-progress/store-task-progress.ts'
import type { TaskRow } from '#projections/tasks/query.ts'
import { usersByIds } from '#projections/users/query.ts'
import {
  openValues,
  type PlainValuesOf,
  responseOf,
} from '../contract/resource-field-definition.ts'
import {
  DRAWING_FIELDS,
  type DrawingTask,
  MUSIC_FIELDS,
  type MusicTask,
  type Song,
  type TaskPush,
  type Video,
} from '../contract/tasks.ts'
import { currentOptions } from '../options/current-options.ts'

export type Viewer = { readonly isAdmin: boolean; readonly language: Language }

const FIELDS = { ...DRAWING_FIELDS, ...MUSIC_FIELDS }

/** A task with its encrypted columns decrypted, including fields that some viewers may not see. */
export type DecryptedTask = PlainValuesOf<typeof FIELDS> &
  Pick<TaskRow, 'changedPosition' | 'kind' | 'cause'> & {
    readonly songs: Song[]
    readonly video: Video | null
  }

/** Decrypts the texts of tasks. Adds the progress of each task, its songs and its video. */
export async function decryptTasks(
  core: Pick<Core, 'db' | 'vault' | 'now'>,
  progress: TaskProgress,
  rows: readonly TaskRow[],
): Promise<DecryptedTask[]> {
  if (rows.length === 0) return []
  const unfinished = rows.filter(({ finishedAt }) => finishedAt === null).map(({ id }) => id)
  const [progressById, options, owners] = await Promise.all([
    progress.read(unfinished),
    currentOptions(core),
    activeOwners(core, rows),
  ])
  const isProxied = options.flag('MjForwardUrlEnabled')
  return Promise.all(
    rows.map(async (row) => {
      const open = (text: Sealed) => core.vault.open(row.userId, text)
      const { changedPosition, kind, cause, result } = row
      const stored = { ...row, progress: progressOf(row, progressById.get(row.id)) }
      const values = await openValues(FIELDS, stored, open)
      const address = addressOf(values.imageUrl)
      return {
        ...values,
        changedPosition,
        kind,
        cause,
        imageUrl: isProxied ? pictureOf(row, owners, address) : address,
        songs: kind === 'music' && result !== null ? songsOf((await open(result)) ?? '') : [],
        video: videoOf(core, row, {
          owners,
          result: kind === 'video' && result !== null ? await open(result) : null,
        }),
      }
    }),
  )
}

/**
 * Returns the ids of the users whose pictures and videos the relay serves without a key. These are
 * the users among the owners of finished tasks who are neither banned nor deleted.
 */
async function activeOwners(
  { db }: Pick<Core, 'db'>,
  rows: readonly TaskRow[],
): Promise<ReadonlySet<number>> {
  const withFile = rows.filter(({ kind, status }) => kind !== 'music' && status === 'SUCCESS')
  if (withFile.length === 0) return new Set()
  const users = await usersByIds(db, [...new Set(withFile.map(({ userId }) => userId))])
  const active = users.filter(({ status, isDeleted }) => status === ACTIVE && !isDeleted)
  return new Set(active.map(({ id }) => id))
}

/**
 * Returns the path of a drawing's picture on this site, or an empty text if there is no picture or
 * the relay does not serve it.
 */
const pictureOf = (
  { id, userId }: TaskRow,
  owners: ReadonlySet<number>,
  address: string,
): string => (address !== '' && owners.has(userId) ? `/mj/image/${id}` : '')

/**
 * Returns the video of a task, or null if the task is not for a video. The URL is empty if the
 * video is not finished or was deleted, or if the relay does not serve it. `result` is the
 * decrypted result of a finished video, or null.
 */
function videoOf(
  core: Pick<Core, 'vault' | 'now'>,
  row: TaskRow,
  { owners, result }: { readonly owners: ReadonlySet<number>; readonly result: string | null },
): Video | null {
  const { id, userId, kind, status, isDeleted, videoSeconds, videoResolution } = row
  if (kind !== 'video') return null
  const isThere = status === 'SUCCESS' && !isDeleted && owners.has(userId)
  const file = readVideoFile(result)
  const expiresAt = file?.expiresAt ?? null
  return {
    url: isThere ? videoPath(core, { task: id, expiresAt }) : '',
    seconds: secondsMade(videoSeconds ?? 0, file?.seconds),
    resolution: videoResolution ?? '',
  }
}

/**
 * Returns the percentage in a provider's description of the progress, such as `40%`. Returns `0%`
 * if the description contains no percentage.
 */
export function percentOf(text: string | undefined): string {
  const [percent] = /\b(100|\d{1,2})%/.exec(text ?? '') ?? []
  return percent ?? '0%'
}

/**
 * Returns the progress of a task. A task that has ended has 100 %, even if it failed. The relay
 * returns the same value to callers.
 */
const progressOf = ({ finishedAt }: TaskRow, progressById: string | undefined): string =>
  finishedAt === null ? percentOf(progressById) : '100%'

/**
 * Returns the start time of a task. If a task started and succeeded between two polls, its start
 * was not recorded, and the time of submission is returned instead. Returns null for any other task
 * without a recorded start.
 */
const startOf = ({ status, startedAt, submittedAt }: DecryptedTask): number | null =>
  startedAt ?? (status === 'SUCCESS' ? submittedAt : null)

export const drawingResponse = (row: DecryptedTask, viewer: Viewer): DrawingTask =>
  responseOf(DRAWING_FIELDS, shownTo(viewer, row))

export const musicResponse = (row: DecryptedTask, viewer: Viewer): MusicTask => ({
  ...responseOf(MUSIC_FIELDS, shownTo(viewer, row)),
  songs: row.songs,
  video: row.video,
})

export const taskPush = (row: DecryptedTask, viewer: Viewer): TaskPush =>
  row.kind === 'drawing'
    ? { kind: 'drawing', id: row.position, task: drawingResponse(row, viewer) }
    : { kind: 'music', id: row.position, task: musicResponse(row, viewer) }

const shownTo = ({ isAdmin, language }: Viewer, row: DecryptedTask): DecryptedTask => ({
  ...row,
  ...(isAdmin ? {} : { channelId: 0, channelName: '' }),
  startedAt: startOf(row),
  failReason: row.failReason || causeText(row.cause, language),
})

/** The texts for the causes of failed tasks. The text is shown if the provider gave no reason. */
const CAUSES: Readonly<Record<string, TranslatedText>> = {
  failed: { zh: '上游未说明原因', en: 'The provider gave no reason' },
  refused: { zh: '上游拒绝了该任务', en: 'The provider rejected the task' },
  unreachable: { zh: '上游没有应答', en: 'The provider did not respond' },
  lost: {
    zh: '任务没有回音，已结束',
    en: 'The provider stopped reporting the task, so it was ended',
  },
  timeout: { zh: '任务超过一小时未完成', en: 'The task was not finished within an hour' },
}

/**
 * Returns the text for the cause of a failure, or an empty text if the task has not failed. A cause
 * without a text is returned as it is.
 */
const causeText = (cause: string, language: Language): string =>
  cause === '' ? '' : (CAUSES[cause]?.[language] ?? cause)

const SONGS_MAX = 20
const DEPTH_MAX = 4

type Fields = Readonly<Record<string, unknown>>

/**
 * Finds the songs or lyrics in the JSON result of a music task, at most 20. The structure of the
 * result differs between providers. Any object with a title, a text or an audio URL counts as a
 * song. Lists, and the members `data` and `clips` of other objects, are searched for songs too.
 * Returns an empty list if the result is not JSON.
 */
function songsOf(result: string): Song[] {
  try {
    return findSongs(JSON.parse(result), 0).slice(0, SONGS_MAX)
  } catch {
    return []
  }
}

function findSongs(value: unknown, depth: number): Song[] {
  if (depth > DEPTH_MAX || typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((item) => findSongs(item, depth + 1))
  const fields = value as Fields
  const song = songOf(fields)
  if (song !== null) return [song]
  return [fields.data, fields.clips].flatMap((inner) => findSongs(inner, depth + 1))
}

function songOf(fields: Fields): Song | null {
  const metadata = objectOf(fields.metadata)
  const song = {
    title: textOf(fields.title),
    text: textOf(fields.text) || textOf(fields.lyric) || textOf(metadata.prompt),
    tags: textOf(fields.tags) || textOf(metadata.tags),
    duration: secondsOf(fields.duration) || secondsOf(metadata.duration),
    audio_url: addressOf(fields.audio_url),
    image_url: addressOf(fields.image_large_url) || addressOf(fields.image_url),
  }
  return song.audio_url === '' && song.text === '' && song.title === '' ? null : song
}

const objectOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const secondsOf = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0

/**
 * Returns the value if it is an `http` or `https` URL. Returns an empty text for any other value,
 * because the console shows the result as a link.
 */
function addressOf(value: unknown): string {
  const text = textOf(value)
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? text : ''
}
