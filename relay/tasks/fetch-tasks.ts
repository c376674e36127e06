import { offerOf } from '#domain/routing/offer.ts'
import type { KnownTask, TaskPlace } from '#domain/task/decide.ts'
import type { TaskKind } from '#domain/task/events.ts'
import { type Denial, deny, isDenial } from '#relay/canonical/denial.ts'
import { inParallel } from '#relay/channel-acts/in-parallel.ts'
import type { Caller } from '#relay/pipeline/authenticate.ts'
import { ChannelSelector } from '#relay/pipeline/choose-channel.ts'
import { type Exchange, sendJson } from '#relay/pipeline/exchange.ts'
import { askUpstream } from './ask-upstream.ts'
import { takeLook } from './look-permit.ts'
import { parsedObject, textOf } from './loose-json.ts'
import { ownTask } from './own-task.ts'
import { drawingAnswer, musicAnswer } from './shown-task.ts'
import { siteAddress } from './site-address.ts'
import { sendTaskDenial } from './task-answers.ts'
import { refuseParam, type TaskBody } from './task-body.ts'
import type { TaskDeps } from './task-deps.ts'

const IDS_MAX = 100
const READ_AT_ONCE = 8
const NEVER = new AbortController().signal

/** One look, within its user's limits. */
async function looking(
  deps: TaskDeps,
  exchange: Exchange,
  caller: Caller,
  kind: TaskKind,
  looks: { readonly tasks: number; readonly isAsked: boolean },
  work: () => Promise<void>,
): Promise<void> {
  const permit = await takeLook(deps, caller, looks)
  if (isDenial(permit)) return sendTaskDenial(exchange, kind, permit)
  try {
    await work()
  } finally {
    permit.release({ isRefunded: false })
  }
}

async function shown(
  deps: TaskDeps,
  exchange: Exchange,
  kind: TaskKind,
  tasks: readonly KnownTask[],
): Promise<object[]> {
  const ids = tasks.map(({ submitted }) => submitted.task)
  const progress = await deps.progress.read(ids).catch(() => new Map<string, string>())
  const showing = { language: exchange.language, progress, address: siteAddress(deps, exchange) }
  const answer = kind === 'drawing' ? drawingAnswer : musicAnswer
  return Promise.all(tasks.map((known) => answer(deps, known, showing)))
}

/** `GET /mj/task/{id}/fetch` and `GET /suno/fetch/{id}`. */
export async function fetchTask(
  deps: TaskDeps,
  exchange: Exchange,
  caller: Caller,
  { kind, id }: { readonly kind: TaskKind; readonly id: string },
): Promise<void> {
  await looking(deps, exchange, caller, kind, { tasks: 1, isAsked: false }, async () => {
    const known = await ownTask(deps, caller, kind, id)
    if (known === null) return notFound(exchange, kind, id)
    const [answer = {}] = await shown(deps, exchange, kind, [known])
    sendJson(exchange, 200, kind === 'drawing' ? answer : inMusicEnvelope(answer))
  })
}

/** `POST /mj/task/list-by-condition` and `POST /suno/fetch`: those of the ids that there are. */
export async function fetchTasks(
  deps: TaskDeps,
  exchange: Exchange,
  caller: Caller,
  { kind, body }: { readonly kind: TaskKind; readonly body: TaskBody },
): Promise<void> {
  const ids = body.texts('ids', IDS_MAX) ?? refuseParam('ids', true)
  const distinct = [...new Set(ids)]
  const looks = { tasks: distinct.length, isAsked: false }
  await looking(deps, exchange, caller, kind, looks, async () => {
    const found = new Map<string, KnownTask>()
    await inParallel(distinct, READ_AT_ONCE, NEVER, async (id) => {
      const known = await ownTask(deps, caller, kind, id)
      if (known !== null) found.set(id, known)
    })
    const inOrder = distinct.flatMap((id) => found.get(id) ?? [])
    const answers = await shown(deps, exchange, kind, inOrder)
    sendJson(exchange, 200, kind === 'drawing' ? answers : inMusicEnvelope(answers))
  })
}

const inMusicEnvelope = (data: object) => ({ code: 'success', message: '', data })

/** `GET /mj/task/{id}/image-seed`: what its provider says, asked anew. */
export async function imageSeed(
  deps: TaskDeps,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<void> {
  await looking(deps, exchange, caller, 'drawing', { tasks: 1, isAsked: true }, async () => {
    const known = await ownTask(deps, caller, 'drawing', id)
    const place = known?.place
    if (!place) return notFound(exchange, 'drawing', id)
    const answer = await seedOf(deps, known.submitted.model, place)
    if (isDenial(answer)) return sendTaskDenial(exchange, 'drawing', answer)
    sendJson(exchange, 200, answer)
  })
}

/** Within the channel's own limits, as its calls are. */
async function seedOf(
  deps: TaskDeps,
  model: string,
  { channelId, keyRef, upstreamId }: TaskPlace,
): Promise<object | Denial> {
  const channel = deps.views.channels.find(channelId)
  const key = channel?.allKeys.find((one) => one.keyRef === keyRef)
  if (channel === undefined || key === undefined) return deny('no_channel', { subject: model })
  const selector = new ChannelSelector(deps, offerOf([channel]), model, true)
  if ((await selector.next()) === null) {
    const retryAfterSeconds = Math.max(1, Math.ceil(selector.fullMs / 1_000))
    return deny('channels_busy', { subject: model, retryAfterSeconds })
  }
  const path = `/mj/task/${encodeURIComponent(upstreamId)}/image-seed`
  const end = await askUpstream(deps.side, key.target, { method: 'GET', path })
  selector.end(false)
  const answer = end.kind === 'plain' ? parsedObject(end.body) : null
  if (answer === null) return deny('upstream_error')
  const code = Number.isInteger(answer.code) ? (answer.code as number) : 1
  const description = code === 1 ? '' : 'no seed'
  return { code, description, result: textOf(answer.result, 64) ?? '' }
}

const notFound = (exchange: Exchange, kind: TaskKind, id: string): void =>
  sendTaskDenial(exchange, kind, deny('task_not_found', { subject: id.slice(0, 64) }))
