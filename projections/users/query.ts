import { type CommonQueryMethods, type DatabasePool, sql } from 'slonik'
import Type from 'typebox'
import type { IdentityProvider } from '#domain/identities/events.ts'
import { ACTIVE, ADMIN } from '#domain/shared/user-roles-and-statuses.ts'
import { nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import { USER_FIELDS, USER_SETTING_FIELDS } from '#read-api/contract/user-fields.ts'
import type { UserSort } from '#read-api/contract/users.ts'
import { type AtPosition, atCheckpoint } from '../checkpoint-table.ts'
import {
  containing,
  followsRow,
  type Listed,
  type ListOrder,
  orderTerms,
  type Slice,
} from '../list-paging-and-sorting.ts'
import { fieldColumns, selectedFields } from '../resource-field-columns.ts'

/** The columns whose names differ from the names of their fields or settings. */
export const USER_COLUMNS = { group: 'user_group' }
export const SETTING_COLUMNS = {
  acceptUnsetModelRatioModel: 'accepts_unpriced',
  showIpInLogs: 'shows_ip',
}

const userRow = rowType({
  ...fieldColumns(USER_FIELDS),
  /** The vault reference of the password's hash, or null if the user has no password. */
  passwordRef: nullable(Type.String()),
  authVersion: wireInteger,
  /** True if the server has generated the password, so the user must choose a new one. */
  mustChangePassword: Type.Boolean(),
  settings: Type.Object(fieldColumns(USER_SETTING_FIELDS)),
  isDeleted: Type.Boolean(),
})
export type UserRow = RowOf<typeof userRow>

const columns = sql.fragment`
  ${selectedFields('u', USER_FIELDS, USER_COLUMNS)},
  u.password_ref as "passwordRef", u.auth_version as "authVersion",
  u.must_change_password as "mustChangePassword",
  (
    select to_jsonb(s)
    from (select ${selectedFields('u', USER_SETTING_FIELDS, SETTING_COLUMNS)}) s
  ) as settings,
  u.deleted_at is not null as "isDeleted"
`

/**
 * Finds the user with this name. Returns null if no user has the name. A deactivated user keeps the
 * name, but an erased user does not.
 */
export const findUserByNameKey = (
  db: CommonQueryMethods,
  nameKey: string,
): Promise<UserRow | null> =>
  db.maybeOne(sql.type(userRow)`
    select ${columns} from read_users.names n join read_users.users u on u.id = n.user_id
    where n.name_key = ${nameKey}
  `)

/**
 * Finds the user with this identity. Returns null if no user has the identity. A deactivated user
 * keeps the identity.
 */
export const findUserByIdentity = (
  db: CommonQueryMethods,
  provider: IdentityProvider,
  identityKey: string,
): Promise<UserRow | null> =>
  db.maybeOne(sql.type(userRow)`
    select ${columns} from read_users.identities i join read_users.users u on u.id = i.user_id
    where i.provider = ${provider} and i.identity_key = ${identityKey}
  `)

export const findUser = (db: CommonQueryMethods, userId: number): Promise<UserRow | null> =>
  db.maybeOne(sql.type(userRow)`
    select ${columns} from read_users.users u where u.id = ${userId}
  `)

export const erasedUserIds = (db: CommonQueryMethods): Promise<readonly number[]> =>
  db.anyFirst(sql.type(rowType({ id: wireInteger }))`
    select u.id from read_users.users u where u.is_erased order by u.id
  `)

export const highestUserId = (db: CommonQueryMethods): Promise<number> =>
  db.oneFirst(sql.type(rowType({ id: wireInteger }))`
    select coalesce(max(id), 0) as id from read_users.users
  `)

/**
 * Reads all users, including deactivated ones, with the event position up to which they are
 * current.
 */
export const relayUsers = (db: DatabasePool): Promise<AtPosition<UserRow>> =>
  atCheckpoint(db, 'users', (snapshot) =>
    snapshot.any(sql.type(userRow)`select ${columns} from read_users.users u order by u.id`),
  )

/** Reads users in any order. Unknown ids are omitted. */
export const usersByIds = (
  db: CommonQueryMethods,
  userIds: readonly number[],
): Promise<readonly UserRow[]> =>
  db.any(sql.type(userRow)`
    select ${columns} from read_users.users u
    where u.id = any(${sql.array(userIds, 'int8')})
  `)

/**
 * The sort columns of users `u` and accounts `a`. When sorted by ascending status, deactivated
 * users come after banned users.
 */
const SORT_COLUMNS = {
  id: sql.fragment`u.id`,
  username: sql.fragment`lower(u.username)`,
  status: sql.fragment`case when u.deleted_at is null then u.status else 3 end`,
  role: sql.fragment`u.role`,
  group: sql.fragment`u.user_group`,
  quota: sql.fragment`coalesce(a.balance, 0)`,
  used_quota: sql.fragment`coalesce(a.used_quota, 0)`,
  request_count: sql.fragment`coalesce(a.request_count, 0)`,
  aff_count: sql.fragment`coalesce(a.aff_count, 0)`,
  created_time: sql.fragment`u.created_at`,
} satisfies Record<UserSort, unknown>

export type UserSearch = Slice &
  ListOrder<UserSort> & {
    /**
     * A user id, or a part of a username, display name or email address. An empty text matches all.
     */
    readonly keyword: string
    readonly group: string
  }

/** Lists users, including deactivated ones. Equal sort values are ordered newest first. */
export async function listUsers(
  db: CommonQueryMethods,
  { keyword, group, limit, offset, ...order }: UserSearch,
): Promise<Listed<UserRow>> {
  const tables = sql.fragment`
    from read_users.users u left join read_balances.accounts a on a.user_id = u.id
  `
  const matches = sql.fragment`
    (${keyword} = '' or u.id::text = ${keyword} or u.username ilike ${containing(keyword)}
      or u.display_name ilike ${containing(keyword)} or u.email ilike ${containing(keyword)})
    and (${group} = '' or u.user_group = ${group})
  `
  const rows = await db.any(sql.type(userRow)`
    select ${columns} ${tables}
    where ${matches}
      and ${followsRow(SORT_COLUMNS, order, 'id', sql.fragment`${tables} where true`)}
    order by ${orderTerms(SORT_COLUMNS, order, sql.fragment`u.id`)}
    limit ${limit} offset ${offset}
  `)
  const total = await db.oneFirst(sql.type(rowType({ total: wireInteger }))`
    select count(*) as total from read_users.users u where ${matches}
  `)
  return { rows, total }
}

/** Returns the names of users by their ids. The name of an erased user is empty. */
export const usernamesByIds = async (
  db: CommonQueryMethods,
  userIds: readonly number[],
): Promise<ReadonlyMap<number, string>> => {
  const users = await usersByIds(db, [...new Set(userIds)])
  return new Map(users.map(({ id, username }) => [id, username]))
}

const account = rowType({
  userId: wireInteger,
  username: Type.String(),
  balance: wireInteger,
  held: wireInteger,
})
export type AccountRow = RowOf<typeof account>

/**
 * Lists the accounts of users, including deleted and erased users, newest first. `keyword` is a
 * user id or a part of a username, and an empty text matches all. Only users with ids below
 * `before` are listed.
 */
export const listAccounts = (
  db: CommonQueryMethods,
  { keyword, before, limit }: { keyword: string; before: number | undefined; limit: number },
): Promise<readonly AccountRow[]> =>
  db.any(sql.type(account)`
    select u.id as "userId", u.username, coalesce(a.balance, 0) as balance,
      coalesce(a.held, 0) as held
    from read_users.users u left join read_balances.accounts a on a.user_id = u.id
    where (${keyword} = '' or u.id::text = ${keyword} or u.username ilike ${containing(keyword)})
      and (${before ?? null}::bigint is null or u.id < ${before ?? null})
    order by u.id desc
    limit ${limit}
  `)

const changed = rowType({ id: wireInteger, position: wireInteger })

/**
 * Reads the users that were created or changed at event positions above `after` and up to `upTo`,
 * in the order of their last changes.
 */
export const changedUsers = (
  db: CommonQueryMethods,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Promise<readonly RowOf<typeof changed>[]> =>
  db.any(sql.type(changed)`
    select id, changed_position as position from read_users.users
    where changed_position > ${after} and changed_position <= ${upTo}
    order by changed_position fetch first ${limit} rows with ties
  `)

/**
 * Returns the ids of all users with exactly this name, including deleted users. Erased users have
 * no name.
 */
export const userIdsByName = (
  db: CommonQueryMethods,
  username: string,
): Promise<readonly number[]> =>
  db.anyFirst(sql.type(rowType({ id: wireInteger }))`
    select id from read_users.users where username = ${username} order by id
  `)

/**
 * Returns the id of the user with exactly this name, even of a deleted user, or null if there is no
 * such user.
 */
export const userIdByName = (db: CommonQueryMethods, username: string): Promise<number | null> =>
  db.maybeOneFirst(sql.type(rowType({ id: wireInteger }))`
    select id from read_users.users where username = ${username} order by id limit 1
  `)

export type UserSelection = {
  readonly isEverybody: boolean
  readonly groups: readonly string[]
  readonly userIds: readonly number[]
}

/**
 * Returns the ids of the selected users: all users, or users selected by group or id. The ids are
 * in ascending order without duplicates, and deleted users are omitted.
 */
export const selectedUserIds = (
  db: CommonQueryMethods,
  { isEverybody, groups, userIds }: UserSelection,
): Promise<readonly number[]> =>
  db.anyFirst(sql.type(rowType({ id: wireInteger }))`
    select id from read_users.users
    where deleted_at is null and (${isEverybody}
      or user_group = any(${sql.array(groups, 'text')})
      or id = any(${sql.array(userIds, 'int8')}))
    order by id
  `)

/** Returns the ids of all admins and super admins who are not banned or deleted. */
export const activeAdminIds = (db: CommonQueryMethods): Promise<readonly number[]> =>
  db.anyFirst(sql.type(rowType({ id: wireInteger }))`
    select id from read_users.users
    where deleted_at is null and status = ${ACTIVE} and role >= ${ADMIN} order by id
  `)
