import { warnThrottled } from '#infra/telemetry/log.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import { isStored } from '../stored-responses/find-channel-and-key-of-stored-input.ts'
import type { idsInResponse } from '../stored-responses/ids-in-response.ts'
import { recordResponseContent } from '../stored-responses/record-response-content.ts'
import type { Caller } from './authenticate.ts'
import type { Exchange } from './http-exchange.ts'
import type { Candidate } from './prepare-request-for-channel.ts'
import type { RelayDeps } from './relay-deps.ts'
import type { RunningCall } from './running-call.ts'

type AnsweredCall = {
  readonly deps: RelayDeps
  readonly exchange: Exchange
  readonly request: ChatRequest
  readonly call: RunningCall
  readonly caller: Caller
}

/** Reports whether `recordStoredResponse` would record the response. */
export function isRecordable(
  { request, call: { keyRef } }: Pick<AnsweredCall, 'request' | 'call'>,
  { request: sent, conversion }: Candidate,
): boolean {
  return keyRef !== null && (conversion === null ? isStored(sent) : request.storesContent === true)
}

/**
 * Records that the provider stores the response to this call, so that later calls of the same token
 * may refer to it. The gateway stores the content of a converted response itself if the site allows
 * it. `readVisible` returns the answer, or its last events, as the caller receives it. A failure to
 * record the response is only logged. Resolves to true if the response was recorded.
 */
export async function recordStoredResponse(
  answered: AnsweredCall,
  candidate: Candidate,
  readVisible: () => Buffer,
  readIds: () => ReturnType<typeof idsInResponse>,
): Promise<boolean> {
  const { deps, exchange, request, call, caller } = answered
  const { channel, conversion } = candidate
  const { keyRef, tokens, outputTokens } = call
  if (keyRef === null || !isRecordable(answered, candidate)) return false
  const record = async (): Promise<boolean> => {
    if (conversion !== null) return recordResponseContent(deps, caller, request, readVisible())
    const ids = readIds()
    if (ids === null) return false
    const { tokenId } = caller.token
    // The model differs from that of the caller's request if a fallback model answered.
    const { model } = candidate.request
    const origin = { tokenId, channelId: channel.channelId, keyRef, model }
    const response = { ...origin, ...ids, tokens, outputTokens, at: deps.now() }
    await deps.storedResponses.add(response)
    return true
  }
  return record().catch((err: unknown) => {
    const { call: id } = exchange
    warnThrottled(deps.log, { err, call: id }, 'a stored response could not be recorded')
    return false
  })
}
