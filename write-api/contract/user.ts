import Type, { type Static } from 'typebox'
import { PasskeyShown } from './credentials.ts'

export const CreateUser = Type.Object({
  username: Type.String({ maxLength: 256 }),
  password: Type.String({ maxLength: 512 }),
  display_name: Type.Optional(Type.String({ maxLength: 200 })),
})
export type CreateUser = Static<typeof CreateUser>

const QUOTA = Type.Integer({ minimum: -9007199254740991, maximum: 9007199254740991 })

/**
 * `quota` is the balance to have; the difference is granted or deducted. It is refused with 409
 * where the balance is not `expected_quota`; without that, where it has moved since the caller's
 * session or access token read it. Equal to `expected_quota`, it asks for no change.
 */
export const UpdateUser = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: 999999999999999 }),
  display_name: Type.Optional(Type.String({ maxLength: 200 })),
  password: Type.Optional(Type.String({ maxLength: 512 })),
  group: Type.Optional(Type.String({ maxLength: 200 })),
  quota: Type.Optional(QUOTA),
  expected_quota: Type.Optional(QUOTA),
  /**
   * Why group or quota change: kept with the change, for admins to read. Never empty; a call may
   * leave it out, and the change is shown as one without a reason.
   */
  reason: Type.Optional(Type.String({ maxLength: 500 })),
})
export type UpdateUser = Static<typeof UpdateUser>

const USER_ID = Type.Integer({ minimum: 1, maximum: 999999999999999 })

/**
 * Adds an amount to the balance of one user (`id`) or of up to 100 (`ids`), or deducts it. The
 * same `request_id` changes a balance once, however often it is sent.
 */
export const AdjustQuota = Type.Object({
  id: Type.Optional(USER_ID),
  ids: Type.Optional(Type.Array(USER_ID, { minItems: 1, maxItems: 100 })),
  action: Type.Union([Type.Literal('add'), Type.Literal('deduct')]),
  /** In quota units. */
  amount: Type.Integer({ minimum: 1, maximum: 9007199254740991 }),
  reason: Type.String({ maxLength: 200 }),
  request_id: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,100}$' }),
})
export type AdjustQuota = Static<typeof AdjustQuota>

/** What became of one user's balance. */
export const QuotaAdjustment = Type.Object({
  id: Type.Integer(),
  /** Empty for a user who is not known, or whose data is erased. */
  username: Type.String(),
  /** `repeated`: this request changed it before; `refused`: nothing was changed. */
  outcome: Type.Union([Type.Literal('done'), Type.Literal('repeated'), Type.Literal('refused')]),
  /** The balance now, in quota units; null where the caller may not see it. */
  quota: Type.Union([Type.Integer(), Type.Null()]),
  /** Why it was refused, for programs and in the caller's language. */
  code: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
})
export type QuotaAdjustment = Static<typeof QuotaAdjustment>

/** One item for each user that was asked for, in that order. */
export const QuotaAdjustments = Type.Object({ items: Type.Array(QuotaAdjustment) })
export type QuotaAdjustments = Static<typeof QuotaAdjustments>

/** A new password needs the current one. */
export const UpdateSelf = Type.Object({
  display_name: Type.Optional(Type.String({ maxLength: 200 })),
  password: Type.Optional(Type.String({ maxLength: 512 })),
  original_password: Type.Optional(Type.String({ maxLength: 512 })),
  /** In place of a current password, for who has none and two-step login. */
  code: Type.Optional(Type.String({ maxLength: 64 })),
  passkey: Type.Optional(PasskeyShown),
})
export type UpdateSelf = Static<typeof UpdateSelf>

/** `quota`: of what invitations brought; one dollar's at least. */
export const TransferAffiliate = Type.Object({
  quota: Type.Integer({ minimum: 0, maximum: 9007199254740991 }),
})
export type TransferAffiliate = Static<typeof TransferAffiliate>

export const UpdateSettings = Type.Object({
  /** Whether calls of models without a price may be charged at the fallback's. */
  accept_unset_model_ratio_model: Type.Optional(Type.Boolean()),
  show_ip_in_logs: Type.Optional(Type.Boolean()),
  notify_type: Type.Optional(Type.Union([Type.Literal('email'), Type.Literal('webhook')])),
  /** In quota; 0 turns warnings off. */
  quota_warning_threshold: Type.Optional(Type.Integer({ minimum: 0, maximum: 9007199254740991 })),
  /** https alone; empty for none. */
  webhook_url: Type.Optional(Type.String({ maxLength: 2_048 })),
  /** Printable ASCII, never shown again. Empty leaves it as it is, null takes it away. */
  webhook_secret: Type.Optional(Type.Union([Type.String({ maxLength: 256 }), Type.Null()])),
  /** Empty: the address that is bound. Another than that, or than before, needs its code. */
  notification_email: Type.Optional(Type.String({ maxLength: 320 })),
  /** Of a mail for the purpose `notify`. */
  notification_code: Type.Optional(Type.String({ maxLength: 32 })),
})
export type UpdateSettings = Static<typeof UpdateSettings>

/** `username` is typed by whoever asks, to confirm it. */
export const EraseUser = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: 999999999999999 }),
  username: Type.String({ maxLength: 256 }),
})
export type EraseUser = Static<typeof EraseUser>

/** Of whoever lost the app, the passkeys and the recovery codes: all of them are void. */
export const ResetSecondFactor = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: 999999999999999 }),
})
export type ResetSecondFactor = Static<typeof ResetSecondFactor>

export const ManageUser = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: 999999999999999 }),
  action: Type.Union([
    Type.Literal('promote'),
    Type.Literal('demote'),
    Type.Literal('disable'),
    Type.Literal('enable'),
    Type.Literal('delete'),
  ]),
})
export type ManageUser = Static<typeof ManageUser>
