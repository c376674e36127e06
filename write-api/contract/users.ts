import Type, { type Static } from 'typebox'
import { Id } from '#read-api/contract/request-parameters.ts'
import { Done, Envelope, ErrorEnvelope } from '#read-api/contract/response-envelope.ts'
import { requestProperties } from '#read-api/contract/schemas-from-field-definitions.ts'
import { USER_SETTING_FIELDS, USER_TERMS } from '#read-api/contract/user-fields.ts'
import { PasskeyAssertion } from './credentials.ts'

const { display_name, group } = requestProperties(USER_TERMS)

export const CreateUser = Type.Object({
  username: Type.String({ maxLength: 256 }),
  password: Type.String({ maxLength: 512 }),
  display_name,
})
export type CreateUser = Static<typeof CreateUser>

const QUOTA = Type.Integer({ minimum: -9007199254740991, maximum: 9007199254740991 })

/**
 * A change of a user by an admin. `quota` is the new balance. `expected_quota` is the balance that
 * the client has read. The default is the balance that the session or access token received or set
 * last, if any. The change is rejected with 409 if the balance has changed since then. Without
 * `expected_quota`, the change is also rejected if the server failed to record the balance that the
 * session or access token received last.
 */
export const UpdateUser = Type.Object({
  id: Id,
  display_name,
  password: Type.Optional(Type.String({ maxLength: 512 })),
  group,
  quota: Type.Optional(QUOTA),
  expected_quota: Type.Optional(QUOTA),
  /** The reason for a change of the group or quota. It must not be empty. */
  reason: Type.Optional(Type.String({ maxLength: 500 })),
})
export type UpdateUser = Static<typeof UpdateUser>

/**
 * Adds an amount to the balances of users, or deducts it. Either `id` names one user, or `ids`
 * names up to 100 users. Repeated requests with the same `request_id` change a balance only once.
 */
export const AdjustQuota = Type.Object({
  id: Type.Optional(Id),
  ids: Type.Optional(Type.Array(Id, { minItems: 1, maxItems: 100 })),
  action: Type.Union([Type.Literal('add'), Type.Literal('deduct')]),
  /** The amount to add or deduct, in quota units. */
  amount: Type.Integer({ minimum: 1, maximum: 9007199254740991 }),
  reason: Type.String({ maxLength: 200 }),
  request_id: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,100}$' }),
})
export type AdjustQuota = Static<typeof AdjustQuota>

export const QuotaAdjustment = Type.Object({
  id: Type.Integer(),
  /**
   * The username. Empty if the user is unknown or was erased, or if the caller may not act on the
   * user.
   */
  username: Type.String(),
  /**
   * `done`: the balance was changed. `repeated`: an earlier request with the same `request_id` has
   * changed the balance. `refused`: the balance was not changed.
   */
  outcome: Type.Union([Type.Literal('done'), Type.Literal('repeated'), Type.Literal('refused')]),
  /** The current balance in quota units, or null if the caller may not see the balance. */
  quota: Type.Union([Type.Integer(), Type.Null()]),
  /**
   * The error code of a refused adjustment. `message` is the error message in the caller's
   * language.
   */
  code: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
})
export type QuotaAdjustment = Static<typeof QuotaAdjustment>

/** One result for each different user in the request, in the order of the request. */
export const QuotaAdjustments = Type.Object({ items: Type.Array(QuotaAdjustment) })
export type QuotaAdjustments = Static<typeof QuotaAdjustments>

/**
 * A change of the caller's own account. A new password requires the current password. Users without
 * a password need a code, a passkey or a recent login instead.
 */
export const UpdateSelf = Type.Object({
  display_name,
  password: Type.Optional(Type.String({ maxLength: 512 })),
  original_password: Type.Optional(Type.String({ maxLength: 512 })),
  /**
   * A code of the authenticator app or a recovery code. Users without a password can send it
   * instead of the current password.
   */
  code: Type.Optional(Type.String({ maxLength: 64 })),
  passkey: Type.Optional(PasskeyAssertion),
})
export type UpdateSelf = Static<typeof UpdateSelf>

/** Transfers invitation rewards to the balance. `quota` must be worth at least one US dollar. */
const TransferAffiliate = Type.Object({
  quota: Type.Integer({ minimum: 0, maximum: 9007199254740991 }),
})

export const UpdateSettings = Type.Object({
  ...requestProperties(USER_SETTING_FIELDS),
  notify_type: Type.Optional(Type.Union([Type.Literal('email'), Type.Literal('webhook')])),
  /** The balance in quota units below which the user is warned. 0 disables warnings. */
  quota_warning_threshold: Type.Optional(Type.Integer({ minimum: 0, maximum: 9007199254740991 })),
  /** The https URL of the webhook, or empty. */
  webhook_url: Type.Optional(Type.String({ maxLength: 2_048 })),
  /**
   * The secret that signs requests to the webhook, in printable ASCII. No response contains it. An
   * empty text leaves the secret unchanged, and null removes it.
   */
  webhook_secret: Type.Optional(Type.Union([Type.String({ maxLength: 256 }), Type.Null()])),
  /**
   * The email address for notifications. If it is empty, the address bound to the account is used.
   * A new address that is not bound to the account must be verified with `notification_code`.
   */
  notification_email: Type.Optional(Type.String({ maxLength: 320 })),
  /** The code that was mailed to `notification_email` after a request with the purpose `notify`. */
  notification_code: Type.Optional(Type.String({ maxLength: 32 })),
})
export type UpdateSettings = Static<typeof UpdateSettings>

/** A request to erase a user. As a confirmation, `username` must be the user's name. */
const EraseUser = Type.Object({
  id: Id,
  username: Type.String({ maxLength: 256 }),
})

/**
 * A request to remove the second factors of a user who has lost them. The authenticator app, the
 * passkeys and the recovery codes of the user become invalid.
 */
const ResetSecondFactor = Type.Object({
  id: Id,
})

export const ManageUser = Type.Object({
  id: Id,
  action: Type.Union([
    Type.Literal('promote'),
    Type.Literal('appoint_auditor'),
    Type.Literal('demote'),
    Type.Literal('disable'),
    Type.Literal('enable'),
    Type.Literal('delete'),
  ]),
})
export type ManageUser = Static<typeof ManageUser>

const ManagedUser = Type.Object({ status: Type.Integer(), role: Type.Integer() })

export const userActions = {
  'POST /api/user/reset_second_factor': {
    summary: 'Remove the second factors of a user and end all of the user’s sessions',
    body: ResetSecondFactor,
    response: { 200: Done },
  },
  'POST /api/user/manage': {
    summary: 'Promote, appoint as auditor, demote, disable, enable or delete a user',
    body: ManageUser,
    response: { 200: Envelope(ManagedUser) },
  },
  'POST /api/user/check_in': {
    summary: 'Check in for today',
    response: { 200: Envelope(Type.Object({ quota: Type.Integer() })) },
  },
  'POST /api/user/aff_transfer': {
    summary: 'Transfer invitation rewards to the balance',
    body: TransferAffiliate,
    response: { 200: Done },
  },
  'PUT /api/user/self': {
    summary: 'Change your display name or password',
    body: UpdateSelf,
    response: { 200: Done },
  },
  'PUT /api/user/setting': {
    summary: 'Change your settings',
    body: UpdateSettings,
    response: { 200: Done },
  },
  'POST /api/user/erase': {
    summary: 'Permanently erase the personal data of a user; the username confirms it',
    body: EraseUser,
    response: { 200: Done },
  },
  'DELETE /api/user/self': { summary: 'Delete your account', response: { 200: Done } },
  'POST /api/user/': {
    summary: 'Create a user',
    body: CreateUser,
    response: { 200: Envelope(Type.Object({ id: Type.Integer() })) },
  },
  'POST /api/user/quota': {
    summary: 'Add quota to the balances of users, or deduct it',
    body: AdjustQuota,
    response: { 200: Envelope(QuotaAdjustments), 409: ErrorEnvelope },
  },
  'PUT /api/user/': {
    summary: 'Change a user; a new quota grants or deducts the difference',
    body: UpdateUser,
    response: { 200: Done, 409: ErrorEnvelope },
  },
}
