import Type, { type Static } from 'typebox'
import { Envelope, Query } from './response-envelope.ts'

/**
 * The fields of an event that its leaf in the transparency log covers. `data` is the exact stored
 * text. Personal data in it is sealed. `at` is in unix milliseconds.
 */
export const ReceiptRecord = Type.Object({
  position: Type.Integer(),
  stream: Type.String(),
  revision: Type.Integer(),
  id: Type.String(),
  type: Type.String(),
  v: Type.Integer(),
  at: Type.Integer(),
  actor: Type.String(),
  cause: Type.Union([Type.String(), Type.Null()]),
  data: Type.String(),
})
export type ReceiptRecord = Static<typeof ReceiptRecord>

/** The audit path of RFC 6962 from a leaf to the root of a tree. Hashes are in base64. */
export const InclusionProof = Type.Object({
  leaf_index: Type.Integer(),
  tree_size: Type.Integer(),
  hashes: Type.Array(Type.String()),
})
export type InclusionProof = Static<typeof InclusionProof>

/**
 * The receipt of one event of an account. It proves that the event is in the site's transparency
 * log. A receipt is pending until the next signed checkpoint covers the event.
 */
export const Receipt = Type.Object({
  record: ReceiptRecord,
  /** The hash of the leaf in base64. */
  leaf_hash: Type.String(),
  /**
   * The balance and the held quota after the event. Both are null for events of other streams and
   * for events of earlier versions, whose bytes do not contain them.
   */
  balance_after: Type.Union([Type.Integer(), Type.Null()]),
  held_after: Type.Union([Type.Integer(), Type.Null()]),
  is_pending: Type.Boolean(),
  /** When the next signed checkpoint is expected, in Unix seconds. Null unless pending. */
  expected_at: Type.Union([Type.Integer(), Type.Null()]),
  inclusion: Type.Union([InclusionProof, Type.Null()]),
  /** The signed note of the checkpoint, with the lines of all its cosignatures. */
  signed_checkpoint: Type.Union([Type.String(), Type.Null()]),
  /** The witnesses that have signed the checkpoint, with the times of their signatures. */
  cosignatures: Type.Array(Type.Object({ witness: Type.String(), signed_at: Type.Integer() })),
  /** True if the checkpoint has the cosignatures that the site's witness policy requires. */
  is_final: Type.Boolean(),
})
export type Receipt = Static<typeof Receipt>

/** The proof of RFC 6962 that the tree of one size continues that of another. */
export const Consistency = Type.Object({
  old_size: Type.Integer(),
  new_size: Type.Integer(),
  /** The hashes in base64. */
  hashes: Type.Array(Type.String()),
})
export type Consistency = Static<typeof Consistency>

/** The proof for the size in `since_size`. Null without it. */
const consistency = Type.Union([Consistency, Type.Null()])

/**
 * The notes with which the site replaced the key that signs checkpoints, oldest first. Each is
 * signed with the old and the new key.
 */
const key_rotations = Type.Array(Type.String())

/** The receipts of one call or movement. A call has one for its admission and one for its end. */
const Receipts = Type.Object({
  user_id: Type.Union([Type.Integer(), Type.Null()]),
  items: Type.Array(Receipt),
  consistency,
  key_rotations,
})

/** The receipts of contiguous revisions of an account. */
const ReceiptRange = Type.Object({
  stream: Type.String(),
  /** The last revision of the account when the response was made. */
  last_revision: Type.Integer(),
  items: Type.Array(Receipt),
  consistency,
  key_rotations,
})

const position = Type.String({ pattern: '^[1-9][0-9]{0,14}$' })
/** The size of a tree that the caller knows from an earlier receipt. */
const since_size = Query.integer
const RangeQuery = Type.Object({
  from_revision: Query.integer,
  to_revision: Query.integer,
  since_size,
})

/** The most receipts of one response. A range that contains more is refused. */
export const RECEIPTS_MAX = 100

export const receiptQueries = {
  'GET /api/audit/receipts/:requestId': {
    params: Type.Object({ requestId: Type.String({ maxLength: 100 }) }),
    querystring: Type.Object({ since_size }),
    response: { 200: Envelope(Receipts) },
  },
  'GET /api/audit/receipts': {
    querystring: Type.Object({ position, since_size }),
    response: { 200: Envelope(Receipts) },
  },
  'GET /api/ledger/self/receipts': {
    querystring: RangeQuery,
    response: { 200: Envelope(ReceiptRange) },
  },
}
