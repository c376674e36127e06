import type { EventStoreDBClient } from '@eventstore/db-client'
import type * as Shared from '@eventstore/db-client/generated/shared_pb.d.ts'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import type * as StreamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.d.ts'
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type * as Streams from '@eventstore/db-client/generated/streams_pb.d.ts'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { ClientDuplexStream } from '@grpc/grpc-js'
import type { ExactPart } from '../flush.ts'
import { proposedEvents } from './stored-event.ts'

/** Sent and not answered yet. */
const IN_FLIGHT_MAX = 64

type Call = ClientDuplexStream<Streams.BatchAppendReq, Streams.BatchAppendResp>

/** The parts of the client (6.2.1, pinned) that its types keep to themselves. */
type Inner = {
  getGRPCClient(kind: unknown, name: string): Promise<StreamsGrpc.StreamsClient>
  callArguments(
    own: { readonly requiresLeader: boolean },
    options: { readonly deadline: number },
  ): Parameters<StreamsGrpc.StreamsClient['batchAppend']>
}

/**
 * Appends the parts in their order without waiting for each answer: one call of the server's, which
 * takes what comes through it one after the other. Answers those that are not certainly written,
 * in order: none when all went well, and else the first was refused, found there already, or not
 * answered. Never rejects.
 *
 * NOTE: not by the client's own batch appends, which go through a map that all clients share.
 */
export async function appendInLine(
  client: EventStoreDBClient,
  parts: readonly ExactPart[],
  /** Without any answer for so long, no more is waited for. */
  silentMs: number,
): Promise<readonly ExactPart[]> {
  const call = await openCall(client).catch(() => null)
  if (call === null) return parts
  const { promise, resolve } = Promise.withResolvers<void>()
  const written = new Set<number>()
  let [sent, done, isOver] = [0, 0, false]
  let silence: NodeJS.Timeout | undefined
  const end = (): void => {
    isOver = true
    clearTimeout(silence)
    resolve()
  }
  const goOn = (): void => {
    clearTimeout(silence)
    while (written.has(done)) done += 1
    if (done === parts.length) return end()
    silence = setTimeout(end, silentMs)
    for (; sent < parts.length && sent - done < IN_FLIGHT_MAX; sent += 1) {
      const part = parts[sent]
      if (part !== undefined) call.write(requestOf(part, sent))
    }
  }
  // NOTE: kept for good, since an error without a listener would end the process.
  call.on('error', end)
  call.on('end', end)
  call.on('data', (response) => {
    // Behind one that was refused, nothing more is sent.
    if (isOver) return
    if (response.getSuccess()?.hasPosition() !== true) return end()
    written.add(indexOf(response.getCorrelationId()))
    goOn()
  })
  goOn()
  await promise
  call.cancel()
  return parts.filter((_, index) => !written.has(index))
}

async function openCall(client: EventStoreDBClient): Promise<Call> {
  const inner = client as unknown as Inner
  const grpc = await inner.getGRPCClient(streamsGrpc.StreamsClient, 'appendInLine')
  return grpc.batchAppend(
    ...inner.callArguments({ requiresLeader: true }, { deadline: Number.POSITIVE_INFINITY }),
  )
}

function requestOf({ stream, expected, events }: ExactPart, index: number): Streams.BatchAppendReq {
  const identifier = new shared.StreamIdentifier()
  identifier.setStreamName(base64(stream))
  const options = new streams.BatchAppendReq.Options()
  options.setStreamIdentifier(identifier)
  if (expected < 0) options.setNoStream(new shared.Empty())
  else options.setStreamPosition(String(expected))
  const request = new streams.BatchAppendReq()
  request.setCorrelationId(
    uuidOf(`00000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`),
  )
  request.setOptions(options)
  request.setProposedMessagesList(proposedEvents(events).map(messageOf))
  request.setIsFinal(true)
  return request
}

function messageOf({
  id,
  type,
  contentType,
  data,
  metadata,
}: ReturnType<typeof proposedEvents>[number]): Streams.BatchAppendReq.ProposedMessage {
  const message = new streams.BatchAppendReq.ProposedMessage()
  message.setId(uuidOf(id))
  message.getMetadataMap().set('type', type).set('content-type', contentType)
  message.setData(base64(JSON.stringify(data)))
  message.setCustomMetadata(base64(JSON.stringify(metadata)))
  return message
}

function uuidOf(text: string): Shared.UUID {
  const uuid = new shared.UUID()
  uuid.setString(text)
  return uuid
}

/** The server may answer an id in two halves. */
function indexOf(id: Shared.UUID | undefined): number {
  const halves = id?.getStructured()
  if (halves === undefined) return Number.parseInt(id?.getString().slice(-12) ?? '', 16)
  return Number(BigInt.asUintN(48, BigInt(halves.getLeastSignificantBits())))
}

/** Bytes as the generated messages take them. */
const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64')
