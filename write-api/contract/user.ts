import Type, { type Static } from 'typebox'
import { PasskeyShown } from './credentials.ts'

export const CreateUser = Type.Object({
  username: Type.String({ maxLength: 256 }),
  password: Type.String({ maxLength: 256 }),
  display_name: Type.Optional(Type.String({ maxLength: 200 })),
})
export type CreateUser = Static<typeof CreateUser>

/** `quota` is the balance to have; the difference is granted or deducted. */
export const UpdateUser = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: 999999999999999 }),
  display_name: Type.Optional(Type.String({ maxLength: 200 })),
  password: Type.Optional(Type.String({ maxLength: 256 })),
  group: Type.Optional(Type.String({ maxLength: 200 })),
  quota: Type.Optional(Type.Integer({ minimum: -9007199254740991, maximum: 9007199254740991 })),
  /**
   * Why group or quota change: kept with the change, for admins to read. Never empty; a call may
   * leave it out, and the change is shown as one without a reason.
   */
  reason: Type.Optional(Type.String({ maxLength: 500 })),
})
export type UpdateUser = Static<typeof UpdateUser>

/** A new password needs the current one. */
export const UpdateSelf = Type.Object({
  display_name: Type.Optional(Type.String({ maxLength: 200 })),
  password: Type.Optional(Type.String({ maxLength: 256 })),
  original_password: Type.Optional(Type.String({ maxLength: 256 })),
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
