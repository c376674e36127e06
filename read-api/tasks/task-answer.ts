import type { Sealed } from '#domain/shared/event.ts'
import type { Core } from '#infra/core.ts'
import type { Language } from '#infra/http/language.ts'
import type { Progress } from '#infra/progress/progress.ts'
import type { TaskRow } from '#projections/tasks/query.ts'
import type { DrawingTask, MusicTask, Song, TaskPush } from '../contract/tasks.ts'
import { optionsInForce } from '../options/list-options.ts'
import { addressOf, songsOf } from './songs.ts'

export type Viewer = { readonly isAdmin: boolean; readonly language: Language }

/** A task with what is sealed opened; what is left to do depends on who looks at it. */
export type OpenedTask = TaskRow & {
  readonly texts: Readonly<Record<(typeof SEALED)[number], string>>
  readonly songs: Song[]
  readonly progress: string
  readonly picture: string
}

const SEALED = ['prompt', 'description', 'promptEn', 'imageUrl', 'failReason'] as const

/** Once opened: rows wait for slow readers, and a song's may be long. */
const UNSEALED = {
  ...{ prompt: null, description: null, promptEn: null },
  ...{ imageUrl: null, failReason: null, result: null },
}

/** Opens what their users alone may read, and asks how far those under way are. */
export async function openTasks(
  core: Pick<Core, 'db' | 'vault'>,
  progress: Progress,
  rows: readonly TaskRow[],
): Promise<OpenedTask[]> {
  if (rows.length === 0) return []
  const going = rows.filter(({ finishedAt }) => finishedAt === null).map(({ id }) => id)
  const [reached, options] = await Promise.all([progress.read(going), optionsInForce(core)])
  const isServedHere = options.flag('MjForwardUrlEnabled')
  return Promise.all(
    rows.map(async (row) => {
      const open = async (sealed: Sealed | null): Promise<string> =>
        sealed === null ? '' : ((await core.vault.open(row.userId, sealed)) ?? '')
      const opened = await Promise.all(SEALED.map(async (name) => [name, await open(row[name])]))
      const texts = Object.fromEntries(opened) as OpenedTask['texts']
      const address = addressOf(texts.imageUrl)
      return {
        ...row,
        ...UNSEALED,
        texts,
        songs: row.kind === 'music' ? songsOf(await open(row.result)) : [],
        progress: progressOf(row, reached.get(row.id)),
        picture: address !== '' && isServedHere ? `/mj/image/${row.id}` : address,
      }
    }),
  )
}

/** As a percentage, whatever else its owner said. */
export function percentOf(text: string | undefined): string {
  const [percent] = /\b(100|\d{1,2})%/.exec(text ?? '') ?? []
  return percent ?? '0%'
}

/** What has ended is at its end, well or not: as its caller is told by the relay. */
const progressOf = ({ finishedAt }: TaskRow, reached: string | undefined): string =>
  finishedAt === null ? percentOf(reached) : '100%'

/** What was done between two askings was never seen under way: from when on it was waited for. */
const startOf = ({ status, startedAt, submittedAt }: TaskRow): number | null =>
  startedAt ?? (status === 'SUCCESS' ? submittedAt : null)

export const drawingAnswer = (row: OpenedTask, viewer: Viewer): DrawingTask => ({
  ...factsOf(row, viewer),
  mj_id: row.id,
  code: row.code,
  description: row.texts.description,
  prompt_en: row.texts.promptEn,
  image_url: row.picture,
})

export const musicAnswer = (row: OpenedTask, viewer: Viewer): MusicTask => ({
  ...factsOf(row, viewer),
  task_id: row.id,
  platform: row.platform,
  songs: row.songs,
})

export const taskPush = (row: OpenedTask, viewer: Viewer): TaskPush =>
  row.kind === 'drawing'
    ? { kind: 'drawing', id: row.position, task: drawingAnswer(row, viewer) }
    : { kind: 'music', id: row.position, task: musicAnswer(row, viewer) }

const factsOf = (row: OpenedTask, { isAdmin, language }: Viewer) => ({
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

/** Why a task failed, where its provider said nothing. */
const CAUSES: Readonly<Record<string, Words>> = {
  failed: { zh: '上游未说明原因', en: 'The upstream gave no reason' },
  refused: { zh: '上游拒绝了该任务', en: 'The upstream refused the task' },
  unreachable: { zh: '上游没有应答', en: 'The upstream did not answer' },
  lost: { zh: '任务没有回音，已结束', en: 'Nothing was heard of the task; it was ended' },
  timeout: { zh: '任务超过一小时未完成', en: 'The task took more than an hour' },
}

/** Empty for a task that has not failed. */
const causeWords = (cause: string, language: Language): string =>
  cause === '' ? '' : (CAUSES[cause]?.[language] ?? cause)
