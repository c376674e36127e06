import Type, { type Static } from 'typebox'

/** What a login answers and the console keeps. */
export const SessionUser = Type.Object({
  id: Type.Integer(),
  username: Type.String(),
  display_name: Type.String(),
  role: Type.Integer(),
  status: Type.Integer(),
  group: Type.String(),
  /** The password came by a reset: its user should choose another one. */
  must_change_password: Type.Optional(Type.Boolean()),
})
export type SessionUser = Static<typeof SessionUser>

export const User = Type.Object({
  id: Type.Integer(),
  username: Type.String(),
  display_name: Type.String(),
  email: Type.String(),
  github_id: Type.String(),
  oidc_id: Type.String(),
  wechat_id: Type.String(),
  telegram_id: Type.String(),
  linux_do_id: Type.String(),
  group: Type.String(),
  quota: Type.Integer(),
  /**
   * Told to admins, equal to `quota`: a row that is sent back with another `quota` is refused where
   * the balance has moved since.
   */
  expected_quota: Type.Optional(Type.Integer()),
  used_quota: Type.Integer(),
  request_count: Type.Integer(),
  role: Type.Integer(),
  status: Type.Integer(),
  /** ISO time of the deactivation, null while active. */
  DeletedAt: Type.Union([Type.String(), Type.Null()]),
  aff_count: Type.Integer(),
  aff_quota: Type.Integer(),
  aff_history_quota: Type.Integer(),
  inviter_id: Type.Integer(),
  /** JSON text. */
  setting: Type.String(),
  created_time: Type.Integer(),
  /** Deactivated, and the texts about the person are gone for good. */
  is_erased: Type.Boolean(),
  /** Told to its user alone. False: a first one is set without a current one. */
  has_password: Type.Optional(Type.Boolean()),
  /** Told to admins of one user: whether there is an app or a passkey to take away. */
  has_second_factor: Type.Optional(Type.Boolean()),
})
export type User = Static<typeof User>

/** `GET /api/user/self/groups`: group → description, ratio for this user, colour of its badge. */
export const UsableGroups = Type.Record(
  Type.String(),
  Type.Object({ desc: Type.String(), ratio: Type.Number(), color: Type.String() }),
)
export type UsableGroups = Static<typeof UsableGroups>

/** `GET /api/user/check_in_status`. */
export const CheckInStatus = Type.Object({ can_check_in: Type.Boolean() })
export type CheckInStatus = Static<typeof CheckInStatus>
