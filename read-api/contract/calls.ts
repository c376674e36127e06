import Type, { type Static } from 'typebox'
import { choiceOf, Query } from './request-parameters.ts'
import { Envelope } from './response-envelope.ts'

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/**
 * An event of the call, and the account's balance and held quota after the event. Both amounts are
 * null for an event that does not contain them.
 */
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
  /** The time by which the process that serves the call has to renew the lease, in Unix seconds. */
  lease_until: Type.Integer(),
  client_ip: Type.String(),
})

const RaisedHold = Type.Object({ ...Moment, added: Type.Integer(), hold: Type.Integer() })

/**
 * The number of bytes of a request or response, and the SHA-256 of these bytes in hexadecimal
 * digits.
 */
const Digest = Type.Object({ bytes: Type.Integer(), sha256: Type.String() })

/**
 * The evidence of the data that an attempt sent to the provider and received from the provider.
 * Unknown members are omitted.
 */
export const AttemptEvidence = Type.Object({
  /** The id that the provider gave to the request. */
  request_id: Type.Optional(Type.String()),
  /** The model that the provider's response names. */
  model: Type.Optional(Type.String()),
  /** Members of the response that identify the provider's system, such as `system_fingerprint`. */
  fingerprint: Type.Optional(Type.Record(Type.String(), Type.String())),
  /** The time at which the request was sent, in Unix milliseconds. */
  sent_at: Type.Optional(Type.Integer()),
  sent: Type.Optional(Digest),
  /** For a batch: the uploaded file with the requests of the batch. */
  file: Type.Optional(Digest),
  /**
   * The response of the provider. For a batch: one line of the result file, as the provider sent
   * the line.
   */
  received: Type.Optional(Digest),
  /** The host to which the channel sent the call. Only for admins and auditors. */
  host: Type.Optional(Type.String()),
})
export type AttemptEvidence = Static<typeof AttemptEvidence>

/**
 * One attempt to send the call to a channel. The owner of the call sees neither the channel nor the
 * provider's host.
 */
export const ExplainedAttempt = Type.Object({
  channel_id: nullable(Type.Integer()),
  channel_name: nullable(Type.String()),
  /** The HTTP status of the provider's response, or null if there was no response. */
  status: nullable(Type.Integer()),
  /** The error code of a failed attempt, or null if the attempt succeeded. */
  error: nullable(Type.String()),
  latency_ms: Type.Integer(),
  /**
   * The reason for the attempt. `first` is the first attempt of the call. The other values are
   * retries with another channel, or with another key of the same channel.
   */
  reason: Type.Unsafe<'first' | 'another-channel' | 'another-key'>(
    Type.Union(['first', 'another-channel', 'another-key'].map((text) => Type.Literal(text))),
  ),
  /** The error code of the failed attempt before this one. Null for the first attempt. */
  after_error: nullable(Type.String()),
  /** True if the provider rejected the site's key or account. */
  is_account_rejected: Type.Boolean(),
  evidence: nullable(AttemptEvidence),
})
export type ExplainedAttempt = Static<typeof ExplainedAttempt>

/**
 * One line of the computation of a charge: `units` × `price` × `ratio` = `amount`. All four values
 * are exact decimals as text. The sum of the amounts of all lines is the exact charge before
 * rounding.
 */
export const ArithmeticLine = Type.Object({
  /**
   * The charged item: a field of the usage, such as `cacheRead`, or a tool, such as
   * `tool:web_search`. For a batch: a line, such as `line:0`, or `other-lines` for all lines after
   * the first 100.
   */
  item: Type.String(),
  units: Type.String(),
  /** The price of one unit in quota. */
  price: Type.String(),
  /**
   * The product of all ratios that apply: the ratios of the group, the context length, the
   * conditions, the batch, and the size of an image or a video.
   */
  ratio: Type.String(),
  amount: Type.String(),
})
export type ArithmeticLine = Static<typeof ArithmeticLine>

const Arithmetic = Type.Object({
  lines: Type.Array(ArithmeticLine),
  /** The exact sum of the lines, as a decimal. */
  sum: Type.String(),
  /** The sum, rounded to whole quota in the way in which charges are rounded. */
  rounded: Type.Integer(),
  charge: Type.Integer(),
  /**
   * True if the recomputed charge equals the recorded charge (for a batch: the recorded charge plus
   * the part that the account could not pay). False means that the recorded charge does not result
   * from the recorded usage and price.
   */
  is_exact: Type.Boolean(),
})

/**
 * An entry of a price option that applied to the call, and the user who set the entry. Built-in
 * entries have no such user.
 */
export const PriceInForce = Type.Object({
  option: Type.String(),
  /**
   * The model or group to which the entry applies, or the pair of the user's group and the called
   * group.
   */
  name: Type.String(),
  /** The value as an exact decimal, or null if the option has no such entry. */
  value: nullable(Type.String()),
  /** The position of the event that set the value, or null for a built-in value. */
  position: nullable(Type.Integer()),
  /** The time at which the value was set, in Unix seconds. */
  set_at: nullable(Type.Integer()),
  /**
   * The user who set the value, or null for a built-in value. The name is empty if the user was
   * erased, or if the viewer is neither an admin nor an auditor.
   */
  set_by: nullable(Type.Object({ id: Type.Integer(), name: Type.String() })),
})
export type PriceInForce = Static<typeof PriceInForce>

const Price = Type.Object({
  /**
   * The revision of the last option event before the admission of the call. This revision
   * identifies the price list that applied.
   */
  list: Type.Integer(),
  /** The price as the event of the call contains it. Decimals are text. */
  snapshot: Type.Record(Type.String(), Type.Unknown()),
  in_force: Type.Array(PriceInForce),
})

const UsageOfCall = Type.Object({
  source: nullable(Type.String()),
  /** The usage from which the charge is computed, with the gateway's field names. */
  normalised: Type.Record(Type.String(), Type.Unknown()),
  /** The usage as the provider reported it, as JSON text. At most 2 048 characters are kept. */
  raw: nullable(Type.String()),
  /**
   * The full usage of the call. Null unless the account could pay for only a part of this usage.
   */
  unpaid: nullable(Type.Record(Type.String(), Type.Unknown())),
  anomaly: nullable(Type.String()),
})

const CallEnding = Type.Object({
  ...Moment,
  type: Type.String(),
  /** The reason why the call ended, such as `done` or `timeout`. */
  reason: Type.String(),
  /**
   * The error code that the caller received. `status_code` is the HTTP status. Both are null unless
   * the call was released. A call that was charged may have an error code, but no status, if the
   * gateway ended it.
   */
  error_code: nullable(Type.String()),
  status_code: nullable(Type.Integer()),
  hold: Type.Integer(),
  charge: Type.Integer(),
  released: Type.Integer(),
  duration_ms: nullable(Type.Integer()),
  first_byte_ms: nullable(Type.Integer()),
})

/**
 * A correction of the call's charge. The correction is a separate event, and the events of the call
 * stay as they are.
 */
const ChargeCorrection = Type.Object({
  correction_id: Type.String(),
  ...Moment,
  /**
   * `charge` is the charge before the correction, and `corrected` the charge after it. `amount` is
   * the difference that the account paid, which is negative for a refund.
   */
  charge: Type.Integer(),
  corrected: Type.Integer(),
  amount: Type.Integer(),
  /**
   * The part of a raised charge that the account could not pay. The account does not owe this part.
   */
  unpaid: Type.Integer(),
  /**
   * The admin who confirmed the correction, and the reason. The name and the reason are empty if
   * the admin's data has been erased. The owner of the call does not see the name.
   */
  requested_by: Type.Object({ id: Type.Integer(), name: Type.String() }),
  reason: Type.String(),
})
export type ChargeCorrection = Static<typeof ChargeCorrection>

/**
 * The result of one line of a batch: the charge of the line, and the evidence of the provider's
 * response.
 */
export const BatchResult = Type.Object({
  /** The index of the line in the batch. */
  line: Type.Integer(),
  /** The position of the event that billed the line. */
  position: Type.Integer(),
  charge: Type.Integer(),
  /**
   * True if the provider answered with another model than the requested one. Only for admins and
   * auditors.
   */
  is_other_model: Type.Optional(Type.Boolean()),
  /**
   * The evidence of the result. Null for lines that were billed before the site recorded evidence.
   */
  evidence: nullable(AttemptEvidence),
  /** The usage as the provider reported it, as JSON text. At most 2 048 characters are kept. */
  usage: nullable(Type.String()),
})
export type BatchResult = Static<typeof BatchResult>

/** The recorded facts about one call that the viewer may see. */
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
  /** The requested model and group. Null if this model and this group served the call. */
  requested: nullable(Type.Object({ model: Type.String(), group: Type.String() })),
  /**
   * The model name that was sent to the provider. Null if this name is `model`, if the call is not
   * settled, and for viewers who are neither admins nor auditors.
   */
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
  /** For admins and auditors: the expected cost of the call at the provider, in quota. */
  cost: nullable(Type.Integer()),
  cost_ratio: nullable(Type.String()),
  /**
   * The batch to which the call belongs, or null. The call pays for `lines` lines of this batch.
   * `billed_lines` is the number of these lines that were billed, or 0 if the call is not settled.
   */
  batch: nullable(
    Type.Object({
      ...{ id: Type.String(), lines: Type.Integer(), billed_lines: Type.Integer() },
      /** The first 100 results that the call pays for. Omitted if the call is not settled. */
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
   * Paths of the API that return more about the call. `log` is null for auditors who see a call of
   * another user, because auditors may not read the log of other users.
   */
  links: Type.Object({ receipts: Type.String(), log: nullable(Type.String()) }),
})
export type CallExplanation = Static<typeof CallExplanation>

/**
 * A call whose answer names a model other than the one in the request to the provider, or for which
 * the provider reported more than twice the expected cost (the list price of the usage, multiplied
 * by the channel's cost ratio).
 */
const MismatchedCall = Type.Object({
  position: Type.Integer(),
  /** The time at which the call ended, in Unix seconds. */
  created_at: Type.Integer(),
  request_id: Type.String(),
  user_id: Type.Integer(),
  channel_id: Type.Integer(),
  channel_name: Type.String(),
  /**
   * The model that was billed, the model that was sent to the provider, and the model that the
   * response names.
   */
  model: Type.String(),
  sent_model: Type.String(),
  answered_model: nullable(Type.String()),
})
export type MismatchedCall = Static<typeof MismatchedCall>

export const callQueries = {
  'GET /api/audit/calls': {
    querystring: Type.Object({
      /**
       * `other-model` (the default): the answer names a model other than the one in the request to
       * the provider. `higher-cost`: the provider reported more than twice the expected cost. The
       * expected cost is the list price of the usage, multiplied by the channel's cost ratio.
       */
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
            /**
             * The number of calls whose answer names a model other than the one in the request to
             * the provider.
             */
            count: Type.Integer(),
            last_at: Type.Integer(),
          }),
        ),
      ),
    },
  },
}
