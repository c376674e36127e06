import { createRequire } from 'node:module'
import type { LoggedEvent, ProposedEvent } from './server-log.ts'

const require = createRequire(import.meta.url)
const load = (name: string) => require(`@eventstore/db-client/generated/${name}`)

type Streams = typeof import('@eventstore/db-client/generated/streams_pb.d.ts')
type StreamsGrpc = typeof import('@eventstore/db-client/generated/streams_grpc_pb.d.ts')
type Gossip = typeof import('@eventstore/db-client/generated/gossip_pb.d.ts')
type GossipGrpc = typeof import('@eventstore/db-client/generated/gossip_grpc_pb.d.ts')
type Features = typeof import('@eventstore/db-client/generated/serverfeatures_pb.d.ts')
type FeaturesGrpc = typeof import('@eventstore/db-client/generated/serverfeatures_grpc_pb.d.ts')
type Shared = typeof import('@eventstore/db-client/generated/shared_pb.d.ts')
type Status = typeof import('@eventstore/db-client/generated/status_pb.d.ts')
type AnyMessage = typeof import('google-protobuf/google/protobuf/any_pb.js')

/** The client library's generated definitions. */
export const streams: Streams = load('streams_pb')
export const streamsGrpc: StreamsGrpc = load('streams_grpc_pb')
export const gossip: Gossip = load('gossip_pb')
export const gossipGrpc: GossipGrpc = load('gossip_grpc_pb')
export const features: Features = load('serverfeatures_pb')
export const featuresGrpc: FeaturesGrpc = load('serverfeatures_grpc_pb')
export const shared: Shared = load('shared_pb')
export const status: Status = load('status_pb')
export const anyMessage: AnyMessage = require('google-protobuf/google/protobuf/any_pb')

type StreamName = { getStreamName_asU8(): Uint8Array }
type Proposed = {
  getId(): { getString(): string } | undefined
  getMetadataMap(): { get(key: string): string | undefined }
  getData_asU8(): Uint8Array
  getCustomMetadata_asU8(): Uint8Array
}

export const nameOf = (identifier: StreamName | undefined): string =>
  identifier === undefined ? '' : Buffer.from(identifier.getStreamName_asU8()).toString('utf8')

export const proposedOf = (message: Proposed): ProposedEvent => ({
  id: message.getId()?.getString() ?? '',
  type: message.getMetadataMap().get('type') ?? '',
  contentType: message.getMetadataMap().get('content-type') ?? '',
  data: message.getData_asU8(),
  metadata: message.getCustomMetadata_asU8(),
})

/** Returns the bytes that the server counts for its limit on an append. */
export const bytesOf = ({ type, data, metadata }: ProposedEvent): number =>
  data.length + metadata.length + type.length * 2

const TICKS_PER_MS = 10_000n

export function eventResponse(event: LoggedEvent) {
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent()
  const id = new shared.UUID()
  id.setString(event.id)
  recorded.setId(id)
  const identifier = new shared.StreamIdentifier()
  identifier.setStreamName(Buffer.from(event.stream).toString('base64'))
  recorded.setStreamIdentifier(identifier)
  recorded.setStreamRevision(String(event.revision))
  recorded.setPreparePosition(String(event.position))
  recorded.setCommitPosition(String(event.position))
  const fields = recorded.getMetadataMap()
  fields.set('type', event.type)
  fields.set('content-type', event.contentType)
  fields.set('created', String(BigInt(event.createdMs) * TICKS_PER_MS))
  recorded.setData(event.data)
  recorded.setCustomMetadata(event.metadata)
  const read = new streams.ReadResp.ReadEvent()
  read.setEvent(recorded)
  read.setCommitPosition(String(event.position))
  const response = new streams.ReadResp()
  response.setEvent(read)
  return response
}
