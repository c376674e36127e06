import type * as Streams from '@eventstore/db-client/generated/streams_pb.d.ts'
import type { ServerWritableStream } from '@grpc/grpc-js'
import { eventResponse, nameOf, streams } from './protocol.ts'
import type { LoggedEvent, ServerLog } from './server-log.ts'

export type ReadCall = ServerWritableStream<Streams.ReadReq, Streams.ReadResp>

const BACKWARDS = 1
const INVALID_ARGUMENT = 3
/** The default number of events between two checkpoints of a filtered subscription. */
const SEARCH_WINDOW = 32

/** Handles a read or a subscription, of one stream or of all events, in either direction. */
export async function readCall(log: ServerLog, call: ReadCall): Promise<void> {
  const options = call.request.getOptions()
  if (options === undefined) return void call.end()
  const isSubscription = options.hasSubscription()
  const stream = options.getStream()
  const source = (): readonly LoggedEvent[] =>
    stream === undefined ? log.all() : log.stream(nameOf(stream.getStreamIdentifier()))
  if (stream !== undefined && !isSubscription && source().length === 0) {
    call.write(notFound(stream.getStreamIdentifier()))
    return void call.end()
  }
  const start = startOf(log, options, source())
  if (start === null) {
    const details = 'the position is not where a record begins'
    return void call.emit('error', { code: INVALID_ARGUMENT, details })
  }
  if (isSubscription) await subscribe(log, call, options, source, start)
  else await read(call, options, source(), start)
  call.end()
}

function notFound(
  identifier: ReturnType<Streams.ReadReq.Options.StreamOptions['getStreamIdentifier']>,
) {
  const response = new streams.ReadResp()
  const missing = new streams.ReadResp.StreamNotFound()
  missing.setStreamIdentifier(identifier)
  response.setStreamNotFound(missing)
  return response
}

/** Returns the index of the first event to send. A subscription starts after the given position. */
function startOf(
  log: ServerLog,
  options: Streams.ReadReq.Options,
  source: readonly LoggedEvent[],
): number | null {
  const isBackwards = options.getReadDirection() === BACKWARDS
  const after = options.hasSubscription() ? 1 : 0
  const atEnd = isBackwards ? source.length - 1 : source.length
  const stream = options.getStream()
  if (stream !== undefined) {
    if (stream.hasStart()) return 0
    return stream.hasEnd() ? atEnd : Number(stream.getRevision()) + after
  }
  const all = options.getAll()
  const position = all?.getPosition()
  if (position === undefined) return all?.hasEnd() ? atEnd : 0
  const index = log.indexOf(Number(position.getCommitPosition()))
  if (index === null) return null
  // When reading backwards, the first event is the event before the given position.
  if (isBackwards) return index - 1
  return Number(position.getCommitPosition()) === 0 ? index : index + after
}

async function read(
  call: ReadCall,
  options: Streams.ReadReq.Options,
  source: readonly LoggedEvent[],
  start: number,
): Promise<void> {
  const isWanted = filterOf(options)
  const step = options.getReadDirection() === BACKWARDS ? -1 : 1
  let left = Number(options.getCount())
  for (let index = start; left > 0 && !call.cancelled; index += step) {
    const event = source[index]
    if (event === undefined) return
    if (!isWanted(event)) continue
    left -= 1
    await write(call, eventResponse(event))
  }
}

async function subscribe(
  log: ServerLog,
  call: ReadCall,
  options: Streams.ReadReq.Options,
  source: () => readonly LoggedEvent[],
  start: number,
): Promise<void> {
  const isWanted = filterOf(options)
  const filter = options.getFilter()
  const window = (filter?.hasMax() ? filter.getMax() : SEARCH_WINDOW) || SEARCH_WINDOW
  const checkpointEvery = window * (filter?.getCheckpointintervalmultiplier() || 1)
  await write(call, confirmation())
  let isCaughtUp = false
  for (let index = start; !call.cancelled; ) {
    const event = source()[index]
    if (event === undefined) {
      if (!isCaughtUp) await write(call, caughtUp())
      isCaughtUp = true
      await nextWrite(log, call, () => source().length > index)
      continue
    }
    index += 1
    if (isWanted(event)) await write(call, eventResponse(event))
    if (filter !== undefined && (index - start) % checkpointEvery === 0) {
      await write(call, checkpoint(event.position))
    }
  }
}

function confirmation() {
  const response = new streams.ReadResp()
  const confirmed = new streams.ReadResp.SubscriptionConfirmation()
  confirmed.setSubscriptionId('subscription')
  response.setConfirmation(confirmed)
  return response
}

function caughtUp() {
  const response = new streams.ReadResp()
  response.setCaughtUp(new streams.ReadResp.CaughtUp())
  return response
}

function checkpoint(position: number) {
  const response = new streams.ReadResp()
  const reached = new streams.ReadResp.Checkpoint()
  reached.setCommitPosition(String(position))
  reached.setPreparePosition(String(position))
  response.setCheckpoint(reached)
  return response
}

function filterOf(options: Streams.ReadReq.Options): (event: LoggedEvent) => boolean {
  const filter = options.getFilter()
  const byStream = filter?.getStreamIdentifier()
  const expression = byStream ?? filter?.getEventType()
  if (expression === undefined) return () => true
  const prefixes = expression.getPrefixList()
  const regex = expression.getRegex() === '' ? null : new RegExp(expression.getRegex())
  return (event) => {
    const text = byStream === undefined ? event.type : event.stream
    return regex?.test(text) ?? prefixes.some((prefix) => text.startsWith(prefix))
  }
}

/** Waits while the client reads more slowly than this server writes. */
async function write(call: ReadCall, response: Streams.ReadResp): Promise<void> {
  if (call.cancelled || call.write(response)) return
  await oneOf(call, ['drain', 'cancelled', 'close'])
}

async function nextWrite(log: ServerLog, call: ReadCall, isThere: () => boolean): Promise<void> {
  if (isThere() || call.cancelled) return
  await oneOf(call, ['cancelled', 'close'], (resolve) => log.onWritten(resolve))
}

async function oneOf(
  call: ReadCall,
  names: readonly string[],
  alsoOn: (resolve: () => void) => () => void = () => () => {},
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const release = alsoOn(resolve)
  for (const name of names) call.once(name, resolve)
  await promise
  release()
  for (const name of names) call.off(name, resolve)
}
