import type { Sealed } from '#domain/shared/event.ts'
import type { Core } from '#infra/core.ts'
import type { Language } from '#infra/http/language.ts'
import type { Progress } from '#infra/progress/progress.ts'
import type { TaskRow } from '#projections/tasks/query.ts'
import type { DrawingTask, MusicTask, Song, TaskPush } from '../contract/tasks.ts'
import { currentOptions } from '../options/list-options.ts'
import { addressOf, songsOf } from './songs.ts'

export type Viewer = { readonly isAdmin: boolean; readonly language: Language }

/** A task with decrypted columns. The fields that depend on the viewer are not computed yet. */
export type DecryptedTask = TaskRow & {
  readonly texts: Readonly<Record<(typeof SEALED)[number], string>>
  readonly songs: Song[]
  readonly progress: string
  readonly picture: string
}

const SEALED = ['prompt', 'description', 'promptEn', 'imageUrl', 'failReason'] as const

/**
 * The empty values that replace encrypted columns after decryption. They save memory, because rows
 * wait for slow readers and songs may be long.
 */
const CLEARED = {
  ...{ prompt: null, description: null, promptEn: null },
  ...{ imageUrl: null, failReason: null, result: null },
}

/** Decrypts the private texts of tasks and reads the progress of unfinished tasks. */
export async function decryptTasks(
  core: Pick<Core, 'db' | 'vault'>,
  progress: Progress,
  rows: readonly TaskRow[],
): Promise<DecryptedTask[]> {
  if (rows.length === 0) return []
  const unfinished = rows.filter(({ finishedAt }) => finishedAt === null).map(({ id }) => id)
  const [progressById, options] = await Promise.all([
    progress.read(unfinished),
    currentOptions(core),
  ])
  const isProxied = options.flag('MjForwardUrlEnabled')
  return Promise.all(
    rows.map(async (row) => {
      const open = async (sealed: Sealed | null): Promise<string> =>
        sealed === null ? '' : ((await core.vault.open(row.userId, sealed)) ?? '')
      const decrypted = await Promise.all(SEALED.map(async (name) => [name, await open(row[name])]))
      const texts = Object.fromEntries(decrypted) as DecryptedTask['texts']
      const address = addressOf(texts.imageUrl)
      return {
        ...row,
        ...CLEARED,
        texts,
        songs: row.kind === 'music' ? songsOf(await open(row.result)) : [],
        progress: progressOf(row, progressById.get(row.id)),
        picture: address !== '' && isProxied ? `/mj/image/${row.id}` : address,
      }
    }),
  )
}

/** Extracts the percentage from a provider's progress text. */
export function percentOf(text: string | undefined): string {
  const [percent] = /\b(100|\d{1,2})%/.exec(text ?? '') ?? []
  return percent ?? '0%'
}

/** Returns the progress. A failed task also shows 100 %, as in the relay's answers. */
const progressOf = ({ finishedAt }: TaskRow, progressById: string | undefined): string =>
  finishedAt === null ? percentOf(progressById) : '100%'

/**
 * Returns the start time of a task. A task that ended between two polls was never seen running, so
 * the time of its submission counts as its start.
 */
const startOf = ({ status, startedAt, submittedAt }: TaskRow): number | null =>
  startedAt ?? (status === 'SUCCESS' ? submittedAt : null)

export const drawingAnswer = (row: DecryptedTask, viewer: Viewer): DrawingTask => ({
  ...commonFields(row, viewer),
  mj_id: row.id,
  code: row.code,
  description: row.texts.description,
  prompt_en: row.texts.promptEn,
  image_url: row.picture,
})

export const musicAnswer = (row: DecryptedTask, viewer: Viewer): MusicTask => ({
  ...commonFields(row, viewer),
  task_id: row.id,
  platform: row.platform,
  songs: row.songs,
})

export const taskPush = (row: DecryptedTask, viewer: Viewer): TaskPush =>
  row.kind === 'drawing'
    ? { kind: 'drawing', id: row.position, task: drawingAnswer(row, viewer) }
    : { kind: 'music', id: row.position, task: musicAnswer(row, viewer) }

const commonFields = (row: DecryptedTask, { isAdmin, language }: Viewer) => ({
  id: row.position,
  user_id: row.userId,
  username: row.username,
  channel_id: isAdmin ? row.channelId : 0,
  channel_name: isAdmin ? row.channelName : '',
  action: row.action,
  status: row.status,
  progress: row.progress,
  submit_time: secondsOf(row.submittedAt),
  start_time: secondsOf(startOf(row)),
  finish_time: secondsOf(row.finishedAt),
  prompt: row.texts.prompt,
  fail_reason: row.texts.failReason || causeWords(row.cause, language),
})

const secondsOf = (milliseconds: number | null): number => Math.floor((milliseconds ?? 0) / 1_000)

type Words = Readonly<Record<Language, string>>

/** The texts for failures for which the provider gave no reason, by cause. */
const CAUSES: Readonly<Record<string, Words>> = {
  failed: { zh: '上游未说明原因', en: 'The provider gave no reason' },
  refused: { zh: '上游拒绝了该任务', en: 'The provider rejected the task' },
  unreachable: { zh: '上游没有应答', en: 'The provider did not respond' },
  lost: {
    zh: '任务没有回音，已结束',
    en: 'The provider stopped reporting the task, so it was ended',
  },
  timeout: { zh: '任务超过一小时未完成', en: 'The task was not finished within an hour' },
}

/** Returns the text for a failure's cause. The text is empty for a task that has not failed. */
const causeWords = (cause: string, language: Language): string =>
  cause === '' ? '' : (CAUSES[cause]?.[language] ?? cause)
