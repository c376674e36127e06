import Type, { type Static } from 'typebox'
import { choiceOf, Envelope, Query } from './response-envelope.ts'

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** The position and time of an event of the call, and the account's balance after the event. */
const Moment = {
  position: Type.Integer(),
  revision: Type.Integer(),
  /** The time of the event in Unix seconds. */
  created_at: Type.Integer(),
  balance_after: nullable(Type.Integer()),
  held_after: nullable(Type.Integer()),
}

const Admission = Type.Object({
  ...Moment,
  hold: Type.Integer(),
  /** When the lease of the admission ended, in Unix seconds. */
  lease_until: Type.Integer(),
  client_ip: Type.String(),
})

const RaisedHold = Type.Object({ ...Moment, added: Type.Integer(), hold: Type.Integer() })

/** The number of bytes and their SHA-256 in hexadecimal digits. */
const Digest = Type.Object({ bytes: Type.Integer(), sha256: Type.String() })

/** The evidence of an attempt about the provider. Unknown members are omitted. */
export const AttemptEvidence = Type.Object({
  /** The provider's id of the request. */
  request_id: Type.Optional(Type.String()),
  /** The model as the provider's answer names it. */
  model: Type.Optional(Type.String()),
  /** Members of the answer that identify the provider's system, such as `system_fingerprint`. */
  fingerprint: Type.Optional(Type.Record(Type.String(), Type.String())),
  /** When the request was sent, in unix milliseconds. */
  sent_at: Type.Optional(Type.Integer()),
  sent: Type.Optional(Digest),
  /** The file with the requests of a batch, which was sent before the batch was submitted. */
  file: Type.Optional(Digest),
  /** The answer, or the line with a batch's result as the provider sent it. */
  received: Type.Optional(Digest),
  /** The host of the channel's address as of the call. For admins and auditors. */
  host: Type.Optional(Type.String()),
})
export type AttemptEvidence = Static<typeof AttemptEvidence>

/**
 * One attempt to send the call to a channel. Owners of the call do not see the channel, and see the
 * evidence without the host.
 */
export const ExplainedAttempt = Type.Object({
  channel_id: nullable(Type.Integer()),
  channel_name: nullable(Type.String()),
  /** The HTTP status of the provider, or null without an answer. */
  status: nullable(Type.Integer()),
  /** The code of the failure, or null for a success. */
  error: nullable(Type.String()),
  latency_ms: Type.Integer(),
  /** The reason for the attempt: it was the first one, or a retry with another channel or key. */
  reason: Type.Unsafe<'first' | 'another-channel' | 'another-key'>(
    Type.Union(['first', 'another-channel', 'another-key'].map((text) => Type.Literal(text))),
  ),
  /** The failure that led to this attempt. Null for the first. */
  after_error: nullable(Type.String()),
  /** True if the provider rejected the key or the account of the site. */
  is_account_rejected: Type.Boolean(),
  evidence: nullable(AttemptEvidence),
})
export type ExplainedAttempt = Static<typeof ExplainedAttempt>

/**
 * One line of the computation of a charge: `units` × `price` × `ratio` = `amount`. All four are
 * exact decimals as text. The amounts of all lines sum to the exact charge before rounding.
 */
export const ArithmeticLine = Type.Object({
  /** The charged item: a count of the usage (`cacheRead`) or a tool (`tool:web_search`). */
  item: Type.String(),
  units: Type.String(),
  /** The price of one unit in quota. */
  price: Type.String(),
  /** The product of the ratios of the group, the context tier, the conditions and the batch. */
  ratio: Type.String(),
  amount: Type.String(),
})
export type ArithmeticLine = Static<typeof ArithmeticLine>

const Arithmetic = Type.Object({
  lines: Type.Array(ArithmeticLine),
  /** The exact sum of the lines as a decimal. */
  sum: Type.String(),
  /** The sum as whole quota, by the rounding of charges. */
  rounded: Type.Integer(),
  charge: Type.Integer(),
  /** True if `rounded` is the charge. It is false for a record that was changed. */
  is_exact: Type.Boolean(),
})

/** An entry of a price option that was in force, and who set it. Built-in prices have no author. */
export const PriceInForce = Type.Object({
  option: Type.String(),
  /** The model, the group, or the pair of groups. */
  name: Type.String(),
  /** The exact decimal, or null if no entry is set. */
  value: nullable(Type.String()),
  /** The position of the event that set the value. Null for a built-in value. */
  position: nullable(Type.Integer()),
  /** The time of the event in Unix seconds. */
  set_at: nullable(Type.Integer()),
  set_by: nullable(Type.Object({ id: Type.Integer(), name: Type.String() })),
})
export type PriceInForce = Static<typeof PriceInForce>

const Price = Type.Object({
  /** The revision of the options stream at the admission of the call. */
  list: Type.Integer(),
  /** The price as the event contains it. Its decimals are text. */
  snapshot: Type.Record(Type.String(), Type.Unknown()),
  in_force: Type.Array(PriceInForce),
})

const UsageOfCall = Type.Object({
  source: nullable(Type.String()),
  /** The usage from which the charge is computed, in counts of the gateway. */
  normalised: Type.Record(Type.String(), Type.Unknown()),
  /** The usage as the provider wrote it, as JSON text. At most 2 048 characters are kept. */
  raw: nullable(Type.String()),
  /** The full usage, if the account could not pay for it. */
  unpaid: nullable(Type.Record(Type.String(), Type.Unknown())),
  anomaly: nullable(Type.String()),
})

const CallEnding = Type.Object({
  ...Moment,
  type: Type.String(),
  /** The reason why the call ended, such as `done` or `timeout`. */
  reason: Type.String(),
  /** The error code and the HTTP status that the caller received. Null for a success. */
  error_code: nullable(Type.String()),
  status_code: nullable(Type.Integer()),
  hold: Type.Integer(),
  charge: Type.Integer(),
  released: Type.Integer(),
  duration_ms: nullable(Type.Integer()),
  first_byte_ms: nullable(Type.Integer()),
})

/** A correction of the call's charge. The event of the call itself stays as it is. */
const ChargeCorrection = Type.Object({
  correction_id: Type.String(),
  ...Moment,
  /** The charge before and after the correction. `amount` is what the account paid in addition. */
  charge: Type.Integer(),
  corrected: Type.Integer(),
  amount: Type.Integer(),
  /** The part of a higher charge that the account could not pay and does not owe. */
  unpaid: Type.Integer(),
  /**
   * The user who confirmed the correction, and the reason. Both texts are empty if the admin has
   * been erased. Owners of calls get no name.
   */
  requested_by: Type.Object({ id: Type.Integer(), name: Type.String() }),
  reason: Type.String(),
})
export type ChargeCorrection = Static<typeof ChargeCorrection>

/** The result of a line of a batch, with its charge and what it shows about the provider. */
export const BatchResult = Type.Object({
  /** The index of the line in the batch. */
  line: Type.Integer(),
  /** The position of the event that billed the line. */
  position: Type.Integer(),
  charge: Type.Integer(),
  /**
   * True if another model answered than was sent to the provider. Only for admins and
   * auditors.
   */
  is_other_model: Type.Optional(Type.Boolean()),
  /** Null for lines that were billed before evidence was recorded. */
  evidence: nullable(AttemptEvidence),
  /** The usage as the provider wrote it, as JSON text. At most 2 048 characters are kept. */
  usage: nullable(Type.String()),
})
export type BatchResult = Static<typeof BatchResult>

/** Everything that the site has recorded about one call. */
export const CallExplanation = Type.Object({
  request_id: Type.String(),
  user_id: Type.Integer(),
  username: Type.String(),
  token_id: Type.Integer(),
  token_name: Type.String(),
  status: Type.Unsafe<'open' | 'settled' | 'released' | 'interrupted'>(
    Type.Union(['open', 'settled', 'released', 'interrupted'].map((text) => Type.Literal(text))),
  ),
  model: Type.String(),
  group: Type.String(),
  /** The requested model and group, if another model or group served the call. */
  requested: nullable(Type.Object({ model: Type.String(), group: Type.String() })),
  /** The model that was sent to the provider, if it was another name. For admins and auditors. */
  upstream_model: nullable(Type.String()),
  is_stream: Type.Boolean(),
  formats: Type.Array(Type.String()),
  admission: nullable(Admission),
  raised_holds: Type.Array(RaisedHold),
  attempts: Type.Array(ExplainedAttempt),
  end: nullable(CallEnding),
  usage: nullable(UsageOfCall),
  price: nullable(Price),
  arithmetic: nullable(Arithmetic),
  /** The corrections of the charge, oldest first. */
  corrections: Type.Array(ChargeCorrection),
  /** The charge after all corrections, or null while the call is open. */
  charge_in_force: nullable(Type.Integer()),
  /** For admins and auditors: what the provider charged, in quota. */
  cost: nullable(Type.Integer()),
  cost_ratio: nullable(Type.String()),
  /** The batch and the number of its lines that the call pays for. */
  batch: nullable(
    Type.Object({
      ...{ id: Type.String(), lines: Type.Integer(), billed_lines: Type.Integer() },
      /**
       * The first 100 results that the call pays for. Only settled calls have them. All results are
       * in the events of the stream `batch-<id>`.
       */
      results: Type.Optional(Type.Array(BatchResult)),
    }),
  ),
  task: nullable(
    Type.Object({
      id: Type.String(),
      status: Type.String(),
      finished_at: nullable(Type.Integer()),
    }),
  ),
  /**
   * Paths of the API with more about the call, which the viewer may read. `log` is null for
   * auditors who see a call of another user, because they may not read the log of others.
   */
  links: Type.Object({ receipts: Type.String(), log: nullable(Type.String()) }),
})
export type CallExplanation = Static<typeof CallExplanation>

/** A call that the provider answered with another model, or charged higher, than was billed. */
const MismatchedCall = Type.Object({
  position: Type.Integer(),
  /** The time of the call's end in Unix seconds. */
  created_at: Type.Integer(),
  request_id: Type.String(),
  user_id: Type.Integer(),
  channel_id: Type.Integer(),
  channel_name: Type.String(),
  /** The model that was billed, the name that was sent, and the name in the answer. */
  model: Type.String(),
  sent_model: Type.String(),
  answered_model: nullable(Type.String()),
})
export type MismatchedCall = Static<typeof MismatchedCall>

export const callQueries = {
  'GET /api/audit/calls': {
    querystring: Type.Object({
      /** `other-model` (the default): another model answered; `higher-cost`: it cost more. */
      anomaly: choiceOf(['other-model', 'higher-cost']),
      channel: Query.integer,
      cursor: Query.integer,
      limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$' })),
    }),
    response: {
      200: Envelope(
        Type.Object({ items: Type.Array(MismatchedCall), next_cursor: nullable(Type.String()) }),
      ),
    },
  },
  'GET /api/audit/calls/:requestId': {
    params: Type.Object({ requestId: Type.String({ maxLength: 100 }) }),
    response: { 200: Envelope(CallExplanation) },
  },
  'GET /api/audit/other-models': {
    querystring: Type.Object({}),
    response: {
      200: Envelope(
        Type.Array(
          Type.Object({
            channel_id: Type.Integer(),
            channel_name: Type.String(),
            /** The number of calls that the provider answered with another model than billed. */
            count: Type.Integer(),
            last_at: Type.Integer(),
          }),
        ),
      ),
    },
  },
}
