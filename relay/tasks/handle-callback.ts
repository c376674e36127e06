import { objectOrEmpty } from '#relay/canonical/json-values.ts'
import { type Exchange, sendJson } from '#relay/pipeline/http-exchange.ts'
import { relayError } from '../canonical/relay-error.ts'
import { parsedShallowObject } from './parse-provider-json.ts'
import { drawingReport } from './read-provider-task-answers.ts'
import { rejectParam } from './read-task-request-body.ts'
import { recordReport } from './record-provider-report.ts'
import { sendTaskError } from './send-task-errors-and-acceptance.ts'
import { type CallbackSource, isSignatureValid, mayReport } from './signed-callback-url.ts'
import type { TaskDeps } from './task-deps.ts'

export type CallbackPath = CallbackSource & { readonly signature: string }

const PATH = /^\/notify\/([0-9a-f-]{36})\/([1-9]\d{0,14})\/([\w-]{1,64})\/([\w-]{16,128})$/

export function callbackPath(path: string): CallbackPath | null {
  const [, task = '', channelId, keyRef = '', signature = ''] = PATH.exec(path) ?? []
  return channelId === undefined ? null : { task, channelId: Number(channelId), keyRef, signature }
}

/**
 * Handles a callback, which is a drawing provider's report on a task. The signature of the URL is
 * verified before the task or the body is read. A repeated or late callback gets a success status,
 * so that the provider does not send it again.
 */
export async function handleCallback(
  deps: TaskDeps,
  exchange: Exchange,
  path: CallbackPath,
  withBody: (work: (body: Buffer) => Promise<void>) => Promise<void>,
): Promise<void> {
  const { ledger, views } = deps
  const channel = views.channels.find(path.channelId)
  const isSigned =
    views.options.options.tasks.isNotified && isSignatureValid(deps, path, path.signature)
  const record = isSigned ? await ledger.peek(path.task) : null
  if (!record?.submitted.isNotified || !mayReport(path, record)) {
    return sendTaskError(exchange, 'drawing', relayError('notify_refused'))
  }
  await withBody(async (body) => {
    const report = drawingReport(objectOrEmpty(parsedShallowObject(body)))
    if (report === null) return rejectParam('status')
    const outcome = await recordReport(deps, record, path, report, channel)
    if (outcome === 'TaskElsewhere') {
      return sendTaskError(exchange, 'drawing', relayError('notify_refused'))
    }
    sendJson(exchange, 200, { code: 1, description: '', result: path.task })
  })
}
