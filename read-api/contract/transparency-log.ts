import Type, { type Static } from 'typebox'
import { Envelope, Query } from './response-envelope.ts'

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** A checkpoint of the log, signed by the site and by witnesses. */
export const SignedCheckpoint = Type.Object({
  /** The number of events in the tree, and the position of the last one. */
  size: Type.Integer(),
  last_position: Type.Integer(),
  /** The root of the tree in base64. */
  root: Type.String(),
  /** The signed note in the form of C2SP tlog-checkpoint. */
  note: Type.String(),
  /** The time of the checkpoint in Unix seconds. */
  created_at: Type.Integer(),
  cosignatures: Type.Array(Type.Object({ witness: Type.String(), signed_at: Type.Integer() })),
  /** True if as many witnesses have signed as the policy of the site requires. */
  is_final: Type.Boolean(),
})
export type SignedCheckpoint = Static<typeof SignedCheckpoint>

/** A witness of the site, with the latest checkpoint that it has signed. */
const Witness = Type.Object({
  name: Type.String(),
  key: Type.String(),
  size: nullable(Type.Integer()),
  signed_at: nullable(Type.Integer()),
})
export type Witness = Static<typeof Witness>

/** A witness that does not sign, because it has signed another history before. */
const RefusingWitness = Type.Object({
  id: Type.String(),
  witness: Type.String(),
  /** The number of events in the tree that the witness signed. */
  size: Type.Integer(),
  /** The time of the refusal in Unix seconds. */
  refused_at: Type.Integer(),
  /** When an admin of the site recorded the reason, in Unix seconds, or null. */
  acknowledged_at: nullable(Type.Integer()),
})
export type RefusingWitness = Static<typeof RefusingWitness>

/** The public status of the log, with which anybody can check receipts of the site. */
const LogStatus = Type.Object({
  /** The name of the log, or null before the first event is sealed. */
  origin: nullable(Type.String()),
  /** The public key as `name+hash+key` (C2SP signed-note). */
  key: nullable(Type.String()),
  /** The notes with which the key was replaced, oldest first, signed with both keys each. */
  key_rotations: Type.Array(Type.String()),
  /** The key with which this site signs checkpoints of other sites. */
  witness_key: nullable(Type.String()),
  latest: nullable(SignedCheckpoint),
  witnesses: Type.Array(Witness),
  refusals: Type.Array(RefusingWitness),
  /** The number of witnesses that must have signed before a receipt is final. */
  quorum: Type.Integer(),
})
export type LogStatus = Static<typeof LogStatus>

const Checkpoints = Type.Object({
  items: Type.Array(SignedCheckpoint),
  next_cursor: nullable(Type.Integer()),
})

/** The path of a tile below `…/tile/`, in the form of C2SP tlog-tiles. */
const TileParams = Type.Object({ '*': Type.String({ maxLength: 100 }) })

const signedCheckpoints = {
  querystring: Type.Object({ cursor: Query.integer, limit: Query.integer }),
  response: { 200: Envelope(Checkpoints) },
}

/** Clients of C2SP tlog-tiles may expect the log at the root, so its paths have two names. */
export const transparencyLogQueries = {
  'GET /api/transparency-log/status': {
    response: { 200: Envelope(LogStatus) },
  },
  'GET /api/audit/signed-checkpoints': signedCheckpoints,
  'GET /api/audit/checkpoints': signedCheckpoints,
  'GET /transparency-log/tile/*': { params: TileParams },
  'GET /tile/*': { params: TileParams },
  'GET /transparency-log/tile/entries/*': { params: TileParams },
  'GET /tile/entries/*': { params: TileParams },
}
