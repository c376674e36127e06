import { secondsMade } from '#domain/shared/seconds-made.ts'
import type { TaskRecord } from '#domain/tasks/decide.ts'
import {
  linkQuery,
  readVideoFile,
  type VideoFile,
  videoPath,
} from '#infra/http/signed-video-links.ts'
import type { Exchange } from '#relay/pipeline/http-exchange.ts'
import { failReasonOf } from '../render-task-json.ts'
import type { TaskDeps } from '../task-deps.ts'
import { jimengAnswer } from './jimeng-format-of-callers.ts'
import type { VideoStyle } from './video-routes.ts'

export type VideoShowing = {
  readonly style: VideoStyle
  readonly language: Exchange['language']
  /** The base URL of this site, for links to files. */
  readonly address: string
  /** The progress of the video, such as `40%`; undefined if it is not known. */
  readonly progress: string | undefined
}

const OPENAI_STATUSES: Readonly<Record<string, string>> = {
  SUCCESS: 'completed',
  FAILURE: 'failed',
  IN_PROGRESS: 'in_progress',
}
const KLING_STATUSES: Readonly<Record<string, string>> = {
  SUCCESS: 'succeed',
  FAILURE: 'failed',
  IN_PROGRESS: 'processing',
}

const seconds = (ms: number): number => Math.floor(ms / 1_000)

/**
 * Returns the JSON object that describes a video, in the format of the caller's request. The object
 * contains neither an address nor an id of the provider.
 */
export async function videoAnswer(
  deps: TaskDeps,
  requested: TaskRecord,
  { style, language, address, progress }: VideoShowing,
): Promise<object> {
  const file = await storedFileOf(deps, requested)
  const record = asMade(requested, file)
  const { submitted, status, end } = record
  const { task } = submitted
  const reason = await failReasonOf(deps, record, language)
  const isDone = status === 'SUCCESS'
  const expiresAt = file?.expiresAt ?? null
  const link = isDone ? `${address}${videoPath(deps, { task, expiresAt })}` : ''
  const percent = Number.parseInt(end === null ? (progress ?? '0') : '100', 10)
  if (style === 'kling') return klingAnswer(record, reason, link)
  if (style === 'jimeng') return jimengAnswer(record, reason, link)
  if (style === 'gemini') {
    const url = `${address}/v1beta/files/${task.replaceAll('-', '')}:download?alt=media`
    return geminiAnswer(record, reason, `${url}&${linkQuery(deps, { task, expiresAt })}`)
  }
  if (style === 'generic') {
    const times = { created_at: seconds(submitted.submittedAt) }
    const data = {
      ...{ task_id: task, status: OPENAI_STATUSES[status] ?? 'queued', progress: `${percent}%` },
      ...{ url: link, format: 'mp4', ...times, fail_reason: reason },
      metadata: mediaOf(record),
      error: status === 'FAILURE' ? { code: 0, message: reason } : null,
    }
    return { ...data, code: 'success', message: '', data }
  }
  return openaiAnswer(record, { progress: percent, reason, expiresAt })
}

/**
 * Returns the time until which the vendor keeps the file of a finished video, in Unix milliseconds.
 * Returns null if the time is not known or the video is not finished.
 */
export async function fileExpiryOf(
  deps: Pick<TaskDeps, 'vault'>,
  record: TaskRecord,
): Promise<number | null> {
  return (await storedFileOf(deps, record))?.expiresAt ?? null
}

async function storedFileOf(
  { vault }: Pick<TaskDeps, 'vault'>,
  { submitted, end }: TaskRecord,
): Promise<VideoFile | null> {
  if (end === null || !('result' in end) || end.result === null) return null
  return readVideoFile(await vault.open(submitted.userId, end.result))
}

/** Returns the record with the length of the finished video, which may be less than requested. */
function asMade(record: TaskRecord, file: VideoFile | null): TaskRecord {
  const { submitted } = record
  const { media } = submitted
  if (file === null || media === undefined) return record
  const seconds = secondsMade(media.seconds, file.seconds)
  return { ...record, submitted: { ...submitted, media: { ...media, seconds } } }
}

const mediaOf = ({ submitted: { media } }: TaskRecord) => ({
  duration: media?.seconds ?? 0,
  ...(media?.resolution ? { resolution: media.resolution } : {}),
  ...(media?.size ? { size: media.size } : {}),
})

type ShownState = {
  readonly progress: number
  readonly reason: string
  readonly expiresAt: number | null
}

function openaiAnswer(
  { submitted, status, end }: TaskRecord,
  { progress, reason, expiresAt }: ShownState,
) {
  const { task, model, submittedAt, media, origin } = submitted
  const finished = end === null ? null : seconds(end.finishedAt)
  return {
    ...{ id: task, object: 'video', model, status: OPENAI_STATUSES[status] ?? 'queued', progress },
    created_at: seconds(submittedAt),
    completed_at: status === 'SUCCESS' ? finished : null,
    expires_at: expiresAt === null ? null : seconds(expiresAt),
    seconds: String(media?.seconds ?? 0),
    size: media?.size ?? media?.resolution ?? '',
    remixed_from_video_id: origin,
    error: status === 'FAILURE' ? { code: 'task_failed', message: reason } : null,
  }
}

function klingAnswer({ submitted, status, end }: TaskRecord, reason: string, link: string) {
  const { task, submittedAt, media } = submitted
  const videos = [{ id: task, url: link, duration: String(media?.seconds ?? 0) }]
  const data = {
    task_id: task,
    task_status: KLING_STATUSES[status] ?? 'submitted',
    task_status_msg: reason,
    created_at: submittedAt,
    updated_at: end?.finishedAt ?? submittedAt,
    ...(link === '' ? {} : { task_result: { videos } }),
  }
  return { code: 0, message: 'SUCCEED', request_id: task, data }
}

function geminiAnswer({ submitted, status, end }: TaskRecord, message: string, uri: string) {
  const name = `models/${submitted.model}/operations/${submitted.task}`
  if (end === null) return { name }
  if (status === 'FAILURE') return { name, done: true, error: { code: 13, message } }
  const type = 'type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse'
  const generateVideoResponse = { generatedSamples: [{ video: { uri } }] }
  return { name, done: true, response: { '@type': type, generateVideoResponse } }
}
