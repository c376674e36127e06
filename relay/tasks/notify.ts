import { type Exchange, sendJson } from '#relay/pipeline/exchange.ts'
import { relayError } from '../canonical/relay-error.ts'
import { isToldAddress, mayReport, type Notifier } from './notify-token.ts'
import { drawingTold } from './provider-words.ts'
import { takeReport } from './take-report.ts'
import { sendTaskError } from './task-answers.ts'
import { objectOf, parsedObject, refuseParam } from './task-body.ts'
import type { TaskDeps } from './task-deps.ts'

export type NotifyPath = Notifier & { readonly mark: string }

const PATH = /^\/notify\/([0-9a-f-]{36})\/([1-9]\d{0,14})\/([\w-]{1,64})\/([\w-]{16,128})$/

/** null: no address that anybody is told. */
export function notifyPath(path: string): NotifyPath | null {
  const [, task = '', channelId, keyRef = '', mark = ''] = PATH.exec(path) ?? []
  return channelId === undefined ? null : { task, channelId: Number(channelId), keyRef, mark }
}

/**
 * A drawing service calls back about a task. The address is checked before anything is read; told
 * twice, or late, it is answered as done, so that it is not told again.
 */
export async function takeNotice(
  deps: TaskDeps,
  exchange: Exchange,
  path: NotifyPath,
  withBody: (work: (body: Buffer) => Promise<void>) => Promise<void>,
): Promise<void> {
  const { ledger, views } = deps
  const channel = views.channels.find(path.channelId)
  const isTold = views.options.options.tasks.isNotified && isToldAddress(deps, path, path.mark)
  const known = isTold ? await ledger.glance(path.task) : null
  if (!known?.submitted.isNotified || !mayReport(path, known)) {
    return sendTaskError(exchange, 'drawing', relayError('notify_refused'))
  }
  await withBody(async (body) => {
    const told = drawingTold(objectOf(parsedObject(body)))
    if (told === null) return refuseParam('status')
    const outcome = await takeReport(deps, known, path, told, channel)
    if (outcome === 'TaskElsewhere') {
      return sendTaskError(exchange, 'drawing', relayError('notify_refused'))
    }
    sendJson(exchange, 200, { code: 1, description: '', result: path.task })
  })
}
