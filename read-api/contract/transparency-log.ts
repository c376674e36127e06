import Type, { type Static } from 'typebox'
import { Query } from './request-parameters.ts'
import { Envelope } from './response-envelope.ts'

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/**
 * A checkpoint: the state of the transparency log at a time, signed by the site and by witnesses.
 */
export const SignedCheckpoint = Type.Object({
  /**
   * The number of events in the Merkle tree. `last_position` is the position of the last event in
   * the tree.
   */
  size: Type.Integer(),
  last_position: Type.Integer(),
  /** The root hash of the tree in base64. */
  root: Type.String(),
  /** The signed text of the checkpoint, in the format of C2SP tlog-checkpoint. */
  note: Type.String(),
  /** The time at which the checkpoint was made, in Unix seconds. */
  created_at: Type.Integer(),
  cosignatures: Type.Array(Type.Object({ witness: Type.String(), signed_at: Type.Integer() })),
  /** True if at least as many witnesses as the site requires have signed the checkpoint. */
  is_final: Type.Boolean(),
})
export type SignedCheckpoint = Static<typeof SignedCheckpoint>

/** A witness (a server that signs this log) and the latest checkpoint that the witness signed. */
const Witness = Type.Object({
  name: Type.String(),
  key: Type.String(),
  size: nullable(Type.Integer()),
  signed_at: nullable(Type.Integer()),
})
export type Witness = Static<typeof Witness>

/**
 * A refusal of a witness to sign a checkpoint. The witness refuses if it has signed a tree that
 * this log does not extend.
 */
const RefusedCosignature = Type.Object({
  id: Type.String(),
  witness: Type.String(),
  /** The number of events in the tree that the witness had signed. */
  size: Type.Integer(),
  /** The number of events in the tree of this site that the witness refused to sign. */
  refused_size: Type.Integer(),
  /**
   * The root of the refused tree in base64, or null for a refusal that an earlier release recorded.
   */
  refused_root: nullable(Type.String()),
  /** The time of the refusal in Unix seconds. */
  refused_at: Type.Integer(),
  /**
   * The time at which an admin acknowledged the refusal with a reason, in Unix seconds. Null if no
   * admin has acknowledged the refusal.
   */
  acknowledged_at: nullable(Type.Integer()),
})
export type RefusedCosignature = Static<typeof RefusedCosignature>

/** The public status of the log. Anybody can use this status to check receipts of the site. */
const LogStatus = Type.Object({
  /** The name of the log. Null until the first checkpoint of the log is signed. */
  origin: nullable(Type.String()),
  /** The public key of the log as `name+hash+key` (C2SP signed-note). */
  key: nullable(Type.String()),
  /**
   * The signed notes that replaced the site's signing key, oldest first. Each note is signed with
   * the old and the new key.
   */
  key_rotations: Type.Array(Type.String()),
  /**
   * The public key with which others can verify this site's signatures of other sites' checkpoints.
   */
  witness_key: nullable(Type.String()),
  latest: nullable(SignedCheckpoint),
  witnesses: Type.Array(Witness),
  refusals: Type.Array(RefusedCosignature),
  /** The number of witnesses that must sign a checkpoint before its receipts are final. */
  quorum: Type.Integer(),
})
export type LogStatus = Static<typeof LogStatus>

const Checkpoints = Type.Object({
  items: Type.Array(SignedCheckpoint),
  next_cursor: nullable(Type.Integer()),
})

/** The path of a tile after `…/tile/`, in the format of C2SP tlog-tiles. */
const TileParams = Type.Object({ '*': Type.String({ maxLength: 100 }) })

const signedCheckpoints = {
  querystring: Type.Object({ cursor: Query.integer, limit: Query.integer }),
  response: { 200: Envelope(Checkpoints) },
}

/** The tiles have two paths, because clients of C2SP tlog-tiles may expect the log at the root. */
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
