import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { request as sendRequest } from 'undici'
import type { Connections } from '#infra/outbound/outbound-connections.ts'
import { EVENT_BOUNDARY } from '../canonical/sse-scanner.ts'
import { isUnfinished } from '../dialects/openai-responses/response-errors.ts'
import { authorizedCall, type ProviderTarget } from '../providers/profiles/provider-target.ts'
import type { ProviderCall } from '../providers/provider-access-and-decoder-types.ts'
import { idInStartOfEvent, idsInEvent, idsInResponse } from '../stored-responses/ids-in-response.ts'

/**
 * The number of bytes at the start of a stream that are searched for the response's id. The event
 * in which this number is reached is searched to its end, because it may repeat a long request.
 */
const SEARCHED_BYTES_MAX = 256 * 1024
const NO_MEMBERS = Buffer.from('{}')
/** The pauses, in milliseconds, before a failed cancellation is sent again. */
const CANCEL_PAUSES_MS = [250, 500, 1_000] as const

/** The provider has answered a cancellation with an error. */
class CancellationRefused extends Error {
  /** True if the same cancellation may succeed later. */
  readonly isTransient: boolean

  constructor(status: number) {
    super(`status ${status}`)
    this.isTransient = status >= 500 || status === 408 || status === 429
  }
}

/**
 * A streamed response that the provider generates in the background. The provider continues after
 * the stream is closed, so the relay must cancel the response when the relay stops reading the
 * stream.
 */
export class CancellableBackgroundResponse {
  private id: string | null = null
  private bytesLeft = SEARCHED_BYTES_MAX

  /** Looks for the response's id in the first events of the stream. */
  note(events: Buffer): void {
    if (this.id !== null || this.bytesLeft <= 0) return
    // Comments and other events may come in the same chunk before the event with the id.
    for (const text of events.toString('utf8').split(EVENT_BOUNDARY)) {
      const event = Buffer.from(text)
      this.id = idsInEvent(event)?.responseId ?? null
      this.bytesLeft -= event.length
      if (this.id !== null || this.bytesLeft <= 0) return
    }
  }

  /** Looks for the response's id at the start of an event that is too long to be read. */
  noteStart(start: Buffer): void {
    this.id ??= idInStartOfEvent(start)
  }

  /**
   * Takes the response's id from a plain answer if the answer says that the provider has not
   * finished the response.
   */
  noteAnswer(body: Buffer): void {
    if (isUnfinished(body)) this.id = idsInResponse(body)?.responseId ?? null
  }

  /**
   * Cancels the response at the provider. Resolves when the provider has cancelled the response or
   * has refused to, or when `signal` is aborted. A cancellation that fails for a reason that may
   * pass is repeated a few times, because the operator pays for everything that the provider
   * continues to generate. Nothing is sent if the response's id was not found. A failure is only
   * logged. It does not affect the caller, who can't fetch a response that the relay has not read
   * completely.
   */
  async cancel(at: CallAtProvider, signal: AbortSignal): Promise<void> {
    const { id } = this
    if (id === null) return
    try {
      // Aborting the signal does not end a wait for credentials, so the abort is awaited as well.
      await Promise.race([cancelWithRetries(at, id, signal), rejectionBy(signal)])
    } catch (err) {
      at.log?.warn({ err }, 'a background response could not be cancelled')
    }
  }
}

/** The call that began a response. */
export type CallAtProvider = {
  readonly target: ProviderTarget
  readonly call: Omit<ProviderCall, 'body' | 'upload'>
  readonly connections: Connections
  readonly log: Logger | null
}

async function cancelWithRetries(
  at: CallAtProvider,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  for (const pauseMs of CANCEL_PAUSES_MS) {
    try {
      return await sendCancellation(at, id, signal)
    } catch (err) {
      if (signal.aborted || (err instanceof CancellationRefused && !err.isTransient)) throw err
    }
    await delay(pauseMs, undefined, { signal })
  }
  await sendCancellation(at, id, signal)
}

async function sendCancellation(
  { target, call, connections }: CallAtProvider,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const cancellation = { ...call, path: cancelPath(call.path, id), body: NO_MEMBERS }
  const { path, headers, body } = await authorizedCall(target, cancellation, connections)
  const answer = await sendRequest(`${call.origin}${path}`, {
    ...{ method: 'POST', headers: headers as string[], body },
    dispatcher: connections.poolFor(call.origin),
    signal,
  })
  await answer.body.dump()
  if (answer.statusCode > 299) throw new CancellationRefused(answer.statusCode)
}

const rejectionBy = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const onAbort = (): void => reject(signal.reason)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })

function cancelPath(path: string, id: string): string {
  const [root, query] = path.split('?')
  return `${root}/${id}/cancel${query === undefined ? '' : `?${query}`}`
}
