import type { Sealed } from '#domain/shared/event.ts'
import type { TaskRecord } from '#domain/tasks/decide.ts'
import type { FailureCause, TaskStatus } from '#domain/tasks/events.ts'
import { type JsonObject, objectOrEmpty } from '#relay/canonical/json-values.ts'
import type { Language } from '#relay/canonical/relay-error-catalogue.ts'
import { relayError } from '../canonical/relay-error.ts'
import { errorBody } from '../dialects/openai-chat/error-format.ts'
import { parsedShallowObject } from './parse-provider-json.ts'
import { WITHHELD_RESULT } from './screen-task-texts.ts'
import type { TaskDeps } from './task-deps.ts'

/**
 * The messages for failed tasks without a reason from the provider, by the cause of the failure.
 */
const REASONS: Record<FailureCause, Record<Language, string>> = {
  failed: { zh: '任务失败', en: 'The task failed.' },
  refused: { zh: '上游拒绝了该任务', en: 'The provider refused the task.' },
  unreachable: { zh: '上游没有响应', en: 'The provider did not answer.' },
  lost: { zh: '任务丢失', en: 'The task was lost.' },
  'channel-deleted': {
    zh: '渠道已被删除，无法获取任务结果，未扣费',
    en: 'The channel of the task was deleted, so its result cannot be fetched. It is not charged.',
  },
  timeout: { zh: '任务超时（1 小时）', en: 'The task took more than an hour.' },
}

type DecryptedTexts = {
  readonly prompt: string
  readonly state: string
  readonly promptEn: string
  readonly description: string
  readonly imageUrl: string
  readonly failReason: string
  readonly result: string
  readonly finishedAt: number
  readonly status: TaskStatus
}

async function decryptTexts(
  { vault }: TaskDeps,
  { submitted, place, end, status }: TaskRecord,
  language: Language,
): Promise<DecryptedTexts> {
  const { userId } = submitted
  const open = async (sealed: Sealed | null | undefined): Promise<string> =>
    sealed === null || sealed === undefined ? '' : ((await vault.open(userId, sealed)) ?? '')
  const good = end !== null && 'imageUrl' in end ? end : null
  const bad = end !== null && 'cause' in end ? end : null
  const words = await open(bad?.failReason)
  const result = await open(good?.result)
  const shown = result === WITHHELD_RESULT ? withheldResult(language) : { result, status }
  return {
    prompt: await open(submitted.prompt),
    state: await open(submitted.state),
    promptEn: await open(good?.promptEn),
    description: await open(place?.description),
    imageUrl: await open(good?.imageUrl),
    failReason: bad !== null && words === '' ? REASONS[bad.cause][language] : words,
    finishedAt: end?.finishedAt ?? 0,
    ...shown,
  }
}

/**
 * Returns what a caller sees of a task whose result contains a screened word. Its status is that of
 * a failed task, because clients expect a result of any other ended task.
 */
const withheldResult = (language: Language) => {
  const { message } = errorBody(relayError('sensitive_answer'), language).body.error
  return { result: '', status: 'FAILURE', failReason: message } as const
}

/**
 * Returns the reason why a task failed, in the caller's language. Returns an empty text for a task
 * that has not failed.
 */
export async function failReasonOf(
  { vault }: TaskDeps,
  { submitted, end }: TaskRecord,
  language: Language,
): Promise<string> {
  if (end === null || !('cause' in end)) return ''
  const { failReason: sealed, cause } = end
  const words = sealed === null ? null : await vault.open(submitted.userId, sealed)
  return words === null || words === '' ? REASONS[cause][language] : words
}

/**
 * Returns the progress that the response shows. Every ended task has `100%`, because clients poll
 * until they read this value.
 */
const progressFor = ({ end }: TaskRecord, progress: string | undefined): string =>
  end === null ? (progress ?? '0%') : '100%'

/**
 * Returns the time at which the provider started the task, in Unix milliseconds, or 0 if it has not
 * started. If a task started and succeeded between two polls, its start is unknown, and the time of
 * its submission is returned.
 */
const startFor = ({ status, startedAt, submitted }: TaskRecord): number =>
  startedAt ?? (status === 'SUCCESS' ? submitted.submittedAt : 0)

export type RenderOptions = {
  readonly language: Language
  readonly progress: ReadonlyMap<string, string>
  /** The base URL of this site: the configured one, or one with the host of the request. */
  readonly address: string
}

/** Returns the addresses of the videos in the result of a drawing task. */
export function videosIn(result: JsonObject | null): readonly string[] {
  const { videos } = result ?? {}
  return Array.isArray(videos) ? videos.filter((one) => typeof one === 'string') : []
}

/**
 * Returns the JSON object of a drawing task in the format of drawing clients. Times are in Unix
 * milliseconds.
 */
export async function drawingAnswer(
  deps: TaskDeps,
  record: TaskRecord,
  { language, progress, address }: RenderOptions,
): Promise<object> {
  const { submitted } = record
  const texts = await decryptTexts(deps, record, language)
  const { task, action, submittedAt } = submitted
  const result = objectOrEmpty(parsedShallowObject(Buffer.from(texts.result)))
  const { isForwarded } = deps.views.options.options.tasks
  const hasImage = texts.imageUrl !== ''
  const videoUrls = videosIn(result).map((url, index) => ({
    url: isForwarded ? `${address}/mj/video/${task}/${index}` : url,
  }))
  const [firstVideo] = videoUrls
  return {
    id: task,
    action,
    prompt: texts.prompt || (result.prompt ?? ''),
    promptEn: texts.promptEn,
    description: texts.description,
    state: texts.state,
    submitTime: submittedAt,
    startTime: startFor(record),
    finishTime: texts.finishedAt,
    progress: progressFor(record, progress.get(task)),
    status: texts.status,
    imageUrl: hasImage && isForwarded ? `${address}/mj/image/${task}` : texts.imageUrl,
    ...(firstVideo === undefined ? {} : { videoUrl: firstVideo.url, videoUrls }),
    failReason: texts.failReason,
    buttons: result.buttons ?? [],
    properties: result.properties ?? {},
  }
}

/**
 * Returns the JSON object of a music task in the format of music clients. Times are in Unix
 * seconds.
 */
export async function musicAnswer(
  deps: TaskDeps,
  record: TaskRecord,
  { language, progress }: RenderOptions,
): Promise<object> {
  const { submitted } = record
  const texts = await decryptTexts(deps, record, language)
  const { task, action, submittedAt } = submitted
  return {
    task_id: task,
    action,
    status: texts.status,
    fail_reason: texts.failReason,
    submit_time: seconds(submittedAt),
    start_time: seconds(startFor(record)),
    finish_time: seconds(texts.finishedAt),
    progress: progressFor(record, progress.get(task)),
    data: texts.result === '' ? null : JSON.parse(texts.result),
  }
}

const seconds = (ms: number): number => Math.floor(ms / 1_000)
