import Type, { type Static } from 'typebox'
import { Envelope, IdParams, Page, Query, sortedBy } from './envelope.ts'

/** The user data that a login returns and the console stores. */
export const SessionUser = Type.Object({
  id: Type.Integer(),
  username: Type.String(),
  display_name: Type.String(),
  role: Type.Integer(),
  status: Type.Integer(),
  group: Type.String(),
  /** True if the password comes from a reset and should be changed. */
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
   * Only for admins; equal to `quota`. A row that is sent back with another `quota` is rejected if
   * the balance has changed since.
   */
  expected_quota: Type.Optional(Type.Integer()),
  used_quota: Type.Integer(),
  request_count: Type.Integer(),
  role: Type.Integer(),
  status: Type.Integer(),
  /** The ISO time of the deactivation; null while active. */
  DeletedAt: Type.Union([Type.String(), Type.Null()]),
  aff_count: Type.Integer(),
  aff_quota: Type.Integer(),
  aff_history_quota: Type.Integer(),
  inviter_id: Type.Integer(),
  /** JSON text. */
  setting: Type.String(),
  created_time: Type.Integer(),
  /** True if the user is deactivated and all personal texts are destroyed. */
  is_erased: Type.Boolean(),
  /** Only for the user. If false, a first password can be set without a current one. */
  has_password: Type.Optional(Type.Boolean()),
  /**
   * Only for admins, for a single user: whether there is an authenticator app or passkey to remove.
   */
  has_second_factor: Type.Optional(Type.Boolean()),
})
export type User = Static<typeof User>

/** `GET /api/user/self/groups`: group → description, the user's ratio, badge colour. */
export const UsableGroups = Type.Record(
  Type.String(),
  Type.Object({ desc: Type.String(), ratio: Type.Number(), color: Type.String() }),
)
export type UsableGroups = Static<typeof UsableGroups>

/** `GET /api/user/check_in_status`. */
export const CheckInStatus = Type.Object({ can_check_in: Type.Boolean() })
export type CheckInStatus = Static<typeof CheckInStatus>

/** `chat`: only models that some channel serves for chat; `group`: as if called with this group. */
const ModelsQuery = Type.Object({ chat: Query.flag, group: Query.text })

/** The columns that the list can be sorted by. */
const USER_SORTS = [
  'id',
  'username',
  'status',
  'role',
  'group',
  'quota',
  'used_quota',
  'request_count',
  'aff_count',
  'created_time',
] as const

const SearchUsers = Type.Object({
  ...Query.page,
  keyword: Query.text,
  group: Query.text,
  ...sortedBy(USER_SORTS),
})

const listUsers = { querystring: SearchUsers, response: { 200: Envelope(Page(User)) } }

export const userQueries = {
  'GET /api/user/': listUsers,
  'GET /api/user/search': listUsers,
  'GET /api/user/self': { response: { 200: Envelope(User) } },
  'GET /api/user/aff': { response: { 200: Envelope(Type.String()) } },
  'GET /api/user/check_in_status': { response: { 200: Envelope(CheckInStatus) } },
  'GET /api/group/': { response: { 200: Envelope(Type.Array(Type.String())) } },
  'GET /api/user/self/groups': { response: { 200: Envelope(UsableGroups) } },
  'GET /api/user/models': {
    querystring: ModelsQuery,
    response: { 200: Envelope(Type.Array(Type.String())) },
  },
  'GET /api/user/:id': { params: IdParams, response: { 200: Envelope(User) } },
}
