import Type, { type Static } from 'typebox'
import { Query } from './request-parameters.ts'
import { Envelope } from './response-envelope.ts'

/** The fields of an event without its data. `at` is the event's time in Unix milliseconds. */
export const EVENT_FIELDS = {
  position: Type.Integer(),
  stream: Type.String(),
  revision: Type.Integer(),
  id: Type.String(),
  type: Type.String(),
  v: Type.Integer(),
  at: Type.Integer(),
  actor: Type.String(),
  cause: Type.Union([Type.String(), Type.Null()]),
}

/**
 * The fields of an event from which the hash in the transparency log is computed. `data` is the
 * exact stored text, in which personal data is encrypted.
 */
export const ReceiptRecord = Type.Object({ ...EVENT_FIELDS, data: Type.String() })
export type ReceiptRecord = Static<typeof ReceiptRecord>

/**
 * A proof that an event is in the log: the audit path of RFC 6962 from the leaf of the event to the
 * root of a tree. Hashes are in base64.
 */
export const InclusionProof = Type.Object({
  leaf_index: Type.Integer(),
  tree_size: Type.Integer(),
  hashes: Type.Array(Type.String()),
})
export type InclusionProof = Static<typeof InclusionProof>

/**
 * The receipt of one event, which proves that the event is in the site's transparency log. From
 * time to time, the site signs the state of the log (a checkpoint). A receipt is pending until a
 * checkpoint covers its event.
 */
export const Receipt = Type.Object({
  record: ReceiptRecord,
  /** The hash of the event in base64. */
  leaf_hash: Type.String(),
  /**
   * The balance and the held quota after the event. Both figures are null for events that lack
   * these figures: events of old versions, and events of streams other than those of accounts.
   */
  balance_after: Type.Union([Type.Integer(), Type.Null()]),
  held_after: Type.Union([Type.Integer(), Type.Null()]),
  is_pending: Type.Boolean(),
  /**
   * The time at which the next checkpoint is expected, in Unix seconds. Null if the receipt is not
   * pending.
   */
  expected_at: Type.Union([Type.Integer(), Type.Null()]),
  inclusion: Type.Union([InclusionProof, Type.Null()]),
  /**
   * The text of the checkpoint with the signatures of the site and of the witnesses. Null while the
   * receipt is pending.
   */
  signed_checkpoint: Type.Union([Type.String(), Type.Null()]),
  /**
   * The witnesses (other servers) that have signed the checkpoint, with the times of their
   * signatures.
   */
  cosignatures: Type.Array(Type.Object({ witness: Type.String(), signed_at: Type.Integer() })),
  /** True if at least as many witnesses as the site requires have signed the checkpoint. */
  is_final: Type.Boolean(),
})
export type Receipt = Static<typeof Receipt>

/**
 * A proof as defined in RFC 6962 that the tree of size `new_size` extends the tree of size
 * `old_size`.
 */
export const Consistency = Type.Object({
  old_size: Type.Integer(),
  new_size: Type.Integer(),
  /** The hashes of the proof, in base64. */
  hashes: Type.Array(Type.String()),
})
export type Consistency = Static<typeof Consistency>

/** The proof from `since_size` to the current tree. Null if the request has no `since_size`. */
const consistency = Type.Union([Consistency, Type.Null()])

/**
 * The signed notes that replaced the site's signing key, oldest first. Each note is signed with the
 * old and the new key.
 */
const key_rotations = Type.Array(Type.String())

const receipts = {
  user_id: Type.Union([Type.Integer(), Type.Null()]),
  items: Type.Array(Receipt),
  consistency,
  key_rotations,
}

/** The receipt of one event. */
const EventReceipts = Type.Object(receipts)

/**
 * The receipts of a call: one for its admission, one for its end, and one for each later correction
 * of its charge.
 */
const CallReceipts = Type.Object({
  ...receipts,
  /**
   * The proof that the tree of the latest checkpoint extends the tree of the call's checkpoint. The
   * proof is needed for corrections that are newer than the call's checkpoint. The receipts of
   * these corrections refer to the latest checkpoint, which may lack signatures of witnesses. Null
   * if all receipts have the same checkpoint.
   */
  later_consistency: consistency,
  /**
   * The number of corrections that have no receipt, because their event was changed or a tile of
   * the log is lost.
   */
  unproven_corrections: Type.Integer(),
})

/** The receipts of a range of successive events in the stream of an account. */
const ReceiptRange = Type.Object({
  stream: Type.String(),
  /** The revision of the account's last event at the time of the response. */
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

/** The maximum number of receipts in one response. A longer range is rejected. */
export const RECEIPTS_MAX = 100

export const receiptQueries = {
  'GET /api/audit/receipts/:requestId': {
    params: Type.Object({ requestId: Type.String({ maxLength: 100 }) }),
    querystring: Type.Object({ since_size }),
    response: { 200: Envelope(CallReceipts) },
  },
  'GET /api/audit/receipts': {
    querystring: Type.Object({ position, since_size }),
    response: { 200: Envelope(EventReceipts) },
  },
  'GET /api/ledger/self/receipts': {
    querystring: RangeQuery,
    response: { 200: Envelope(ReceiptRange) },
  },
}
