import Type, { type Static } from 'typebox'
import { IdParams, Query, sortedBy } from './request-parameters.ts'
import { Envelope, Page } from './response-envelope.ts'
import { responseProperties } from './schemas-from-field-definitions.ts'
import { USER_FIELDS } from './user-fields.ts'

/** The data of a signed-in user, which a login returns and the console stores. */
export const SessionUser = Type.Object({
  id: Type.Integer(),
  username: Type.String(),
  display_name: Type.String(),
  role: Type.Integer(),
  status: Type.Integer(),
  group: Type.String(),
  /** True if the server generated the password. The user should then choose a new one. */
  must_change_password: Type.Optional(Type.Boolean()),
})
export type SessionUser = Static<typeof SessionUser>

export const User = Type.Object(responseProperties(USER_FIELDS))
export type User = Static<typeof User>

/**
 * The response of `GET /api/user/self/groups`: the groups in which the user can make calls. `ratio`
 * is the group ratio that applies to this user.
 */
export const UsableGroups = Type.Record(
  Type.String(),
  Type.Object({ desc: Type.String(), ratio: Type.Number(), color: Type.String() }),
)
export type UsableGroups = Static<typeof UsableGroups>

/** The response of `GET /api/user/check_in_status`. */
const CheckInStatus = Type.Object({ can_check_in: Type.Boolean() })

/**
 * `chat=true` limits the list to models of channel types that have models for chats, and moves
 * models that are not for chats to the end. `group` limits the list to models that can be called in
 * this group.
 */
const ModelsQuery = Type.Object({ chat: Query.flag, group: Query.text })

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
export type UserSort = (typeof USER_SORTS)[number]

const SearchUsers = Type.Object({
  ...Query.keysetPage,
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
