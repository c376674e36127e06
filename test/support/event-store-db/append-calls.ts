import type * as Streams from '@eventstore/db-client/generated/streams_pb.d.ts'
import {
  type handleBidiStreamingCall,
  type handleClientStreamingCall,
  Metadata,
  type StatusObject,
} from '@grpc/grpc-js'
import { anyMessage, bytesOf, nameOf, proposedOf, shared, status, streams } from './protocol.ts'
import type { AppendResult, Expected, ProposedEvent } from './server-log.ts'

/** Handles an append. Null simulates a lost reply. */
export type TakeAppend = (
  stream: string,
  expected: Expected,
  events: readonly ProposedEvent[],
) => Promise<AppendResult | 'too-large' | null>

/** A real server's default limit for the bytes of one append. */
export const APPEND_BYTES_MAX = 1_048_576
const INVALID_ARGUMENT = 3

export const isTooLarge = (events: readonly ProposedEvent[]): boolean =>
  events.reduce((sum, event) => sum + bytesOf(event), 0) > APPEND_BYTES_MAX

export const appendCall =
  (
    take: TakeAppend,
    refusalOf: (asked: Metadata) => Partial<StatusObject> | null = () => null,
  ): handleClientStreamingCall<Streams.AppendReq, Streams.AppendResp> =>
  (call, answer) => {
    let options: Streams.AppendReq.Options | undefined
    const events: ProposedEvent[] = []
    call.on('data', (request: Streams.AppendReq) => {
      const message = request.getProposedMessage()
      if (message === undefined) options = request.getOptions()
      else events.push(proposedOf(message))
    })
    call.on('error', () => {})
    call.on('end', async () => {
      if (options === undefined) return
      const refusal = refusalOf(call.metadata)
      if (refusal !== null) return answer(refusal)
      const stream = nameOf(options.getStreamIdentifier())
      const result = await take(stream, expectedOf(options), events)
      if (result === null) return
      if (result === 'too-large') {
        const metadata = new Metadata()
        metadata.set('exception', 'maximum-append-size-exceeded')
        metadata.set('maximum-append-size', String(APPEND_BYTES_MAX))
        const details = 'Maximum Append Size Exceeded.'
        answer({ name: 'Error', message: details, code: INVALID_ARGUMENT, details, metadata })
      } else answer(null, appendResponse(result))
    })
  }

function expectedOf(options: Streams.AppendReq.Options): Expected {
  if (options.hasRevision()) return Number(options.getRevision())
  if (options.hasNoStream()) return 'none'
  return options.hasStreamExists() ? 'exists' : 'any'
}

function appendResponse(result: AppendResult) {
  const response = new streams.AppendResp()
  if (!result.isWritten) {
    const wrong = new streams.AppendResp.WrongExpectedVersion()
    if (result.actual < 0) wrong.setCurrentNoStream(new shared.Empty())
    else wrong.setCurrentRevision(String(result.actual))
    response.setWrongExpectedVersion(wrong)
    return response
  }
  const success = new streams.AppendResp.Success()
  success.setCurrentRevision(String(result.revision))
  if (result.position === null) success.setNoPosition(new shared.Empty())
  else {
    const position = new streams.AppendResp.Position()
    position.setCommitPosition(String(result.position))
    position.setPreparePosition(String(result.position))
    success.setPosition(position)
  }
  response.setSuccess(success)
  return response
}

type OpenBatch = { options: Streams.BatchAppendReq.Options; events: ProposedEvent[] }

export const batchAppendCall =
  (take: TakeAppend): handleBidiStreamingCall<Streams.BatchAppendReq, Streams.BatchAppendResp> =>
  (call) => {
    const open = new Map<string, OpenBatch>()
    call.on('error', () => {})
    call.on('end', () => call.end())
    call.on('data', async (request: Streams.BatchAppendReq) => {
      const correlation = request.getCorrelationId()
      const id = correlation?.getString() ?? ''
      const options = request.getOptions()
      const batch = open.get(id) ?? (options === undefined ? null : { options, events: [] })
      if (batch === null) return
      open.set(id, batch)
      batch.events.push(...request.getProposedMessagesList().map(proposedOf))
      if (!request.getIsFinal()) return
      open.delete(id)
      const identifier = batch.options.getStreamIdentifier()
      const result = await take(nameOf(identifier), batchExpectedOf(batch.options), batch.events)
      if (result === null) return
      const response = new streams.BatchAppendResp()
      response.setCorrelationId(correlation)
      response.setStreamIdentifier(identifier)
      if (result !== 'too-large' && result.isWritten) response.setSuccess(batchSuccess(result))
      else response.setError(batchError(result))
      call.write(response)
    })
  }

function batchExpectedOf(options: Streams.BatchAppendReq.Options): Expected {
  if (options.hasStreamPosition()) return Number(options.getStreamPosition())
  if (options.hasNoStream()) return 'none'
  return options.hasStreamExists() ? 'exists' : 'any'
}

function batchSuccess({ revision, position }: AppendResult & { isWritten: true }) {
  const success = new streams.BatchAppendResp.Success()
  success.setCurrentRevision(String(revision))
  if (position === null) success.setNoPosition(new shared.Empty())
  else {
    const place = new shared.AllStreamPosition()
    place.setCommitPosition(String(position))
    place.setPreparePosition(String(position))
    success.setPosition(place)
  }
  return success
}

function batchError(result: 'too-large' | (AppendResult & { isWritten: false })) {
  const error = new status.Status()
  const details = new anyMessage.Any()
  if (result === 'too-large') {
    const exceeded = new shared.MaximumAppendSizeExceeded()
    exceeded.setMaxappendsize(APPEND_BYTES_MAX)
    details.pack(exceeded.serializeBinary(), 'event_store.client.MaximumAppendSizeExceeded')
  } else {
    const wrong = new shared.WrongExpectedVersion()
    if (result.actual < 0) wrong.setCurrentNoStream(new shared.Empty())
    else wrong.setCurrentStreamRevision(String(result.actual))
    details.pack(wrong.serializeBinary(), 'event_store.client.WrongExpectedVersion')
  }
  error.setMessage('refused')
  error.setDetails(details)
  return error
}
