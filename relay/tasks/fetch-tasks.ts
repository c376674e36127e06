import type { TaskKind } from '#domain/task/events.ts'
import type { KnownTask } from '#domain/task/state.ts'
import { deny } from '#relay/canonical/denial.ts'
import type { Caller } from '#relay/pipeline/authenticate.ts'
import { type Exchange, sendJson } from '#relay/pipeline/exchange.ts'
import { askUpstream } from './ask-upstream.ts'
import { parsedObject, textOf } from './loose-json.ts'
import { ownTask } from './own-task.ts'
import { drawingAnswer, musicAnswer } from './shown-task.ts'
import { siteAddress } from './site-address.ts'
import { sendTaskDenial } from './task-answers.ts'
import { refuseParam, type TaskBody } from './task-body.ts'
import type { TaskParts } from './task-parts.ts'

const IDS_MAX = 100

async function shown(
  parts: TaskParts,
  exchange: Exchange,
  kind: TaskKind,
  tasks: readonly KnownTask[],
): Promise<object[]> {
  const ids = tasks.map(({ submitted }) => submitted.task)
  const progress = await parts.progress.read(ids).catch(() => new Map<string, string>())
  const showing = { language: exchange.language, progress, address: siteAddress(parts, exchange) }
  const answer = kind === 'drawing' ? drawingAnswer : musicAnswer
  return Promise.all(tasks.map((known) => answer(parts, known, showing)))
}

/** `GET /mj/task/{id}/fetch` and `GET /suno/fetch/{id}`. */
export async function fetchTask(
  parts: TaskParts,
  exchange: Exchange,
  caller: Caller,
  { kind, id }: { readonly kind: TaskKind; readonly id: string },
): Promise<void> {
  const known = await ownTask(parts, caller, kind, id)
  if (known === null) return notFound(exchange, kind, id)
  const [answer = {}] = await shown(parts, exchange, kind, [known])
  sendJson(exchange, 200, kind === 'drawing' ? answer : inMusicEnvelope(answer))
}

/** `POST /mj/task/list-by-condition` and `POST /suno/fetch`: those of the ids that there are. */
export async function fetchTasks(
  parts: TaskParts,
  exchange: Exchange,
  caller: Caller,
  { kind, body }: { readonly kind: TaskKind; readonly body: TaskBody },
): Promise<void> {
  const ids = body.texts('ids', IDS_MAX) ?? refuseParam('ids', true)
  const found = await Promise.all([...new Set(ids)].map((id) => ownTask(parts, caller, kind, id)))
  const answers = await shown(
    parts,
    exchange,
    kind,
    found.filter((known) => known !== null),
  )
  sendJson(exchange, 200, kind === 'drawing' ? answers : inMusicEnvelope(answers))
}

const inMusicEnvelope = (data: object) => ({ code: 'success', message: '', data })

/** `GET /mj/task/{id}/image-seed`: what its provider says, asked anew. */
export async function imageSeed(
  parts: TaskParts,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<void> {
  const known = await ownTask(parts, caller, 'drawing', id)
  const place = known?.place
  if (!place) return notFound(exchange, 'drawing', id)
  const channel = parts.views.channels.find(place.channelId)
  const key = channel?.allKeys.find(({ keyRef }) => keyRef === place.keyRef)
  if (key === undefined) {
    const { model } = known.submitted
    return sendTaskDenial(exchange, 'drawing', deny('no_channel', { subject: model }))
  }
  const path = `/mj/task/${encodeURIComponent(place.upstreamId)}/image-seed`
  const end = await askUpstream(parts.side, key.target, { method: 'GET', path })
  const answer = end.kind === 'plain' ? parsedObject(end.body) : null
  if (answer === null) return sendTaskDenial(exchange, 'drawing', deny('upstream_error'))
  const code = Number.isInteger(answer.code) ? (answer.code as number) : 1
  sendJson(exchange, 200, {
    code,
    description: code === 1 ? '' : 'no seed',
    result: textOf(answer.result, 64) ?? '',
  })
}

const notFound = (exchange: Exchange, kind: TaskKind, id: string): void =>
  sendTaskDenial(exchange, kind, deny('task_not_found', { subject: id.slice(0, 64) }))
