import { type CommonQueryMethods, type DatabasePool, sql } from 'slonik'
import Type from 'typebox'
import type { IdentityProvider } from '#domain/identity/events.ts'
import { ACTIVE, ADMIN } from '#domain/shared/roles.ts'
import { nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import { USER_FIELDS, USER_SETTING_FIELDS } from '#read-api/contract/user-fields.ts'
import type { UserSort } from '#read-api/contract/users.ts'
import { type AtPosition, atCheckpoint } from '../checkpoint-table.ts'
import { fieldColumns, selectedFields } from '../field-columns.ts'
import { containing, type Listed, type ListOrder, orderTerms, type Slice } from '../list-queries.ts'

/** The columns whose names differ from the name of their setting. */
export const SETTING_COLUMNS = {
  acceptUnsetModelRatioModel: 'accepts_unpriced',
  showIpInLogs: 'shows_ip',
}

const userRow = rowType({
  ...fieldColumns(USER_FIELDS),
  /** null when the user has no password. */
  passwordRef: nullable(Type.String()),
  authVersion: wireInteger,
  /** True when the server generated the password. */
  mustChangePassword: Type.Boolean(),
  settings: Type.Object(fieldColumns(USER_SETTING_FIELDS)),
  isDeleted: Type.Boolean(),
})
export type UserRow = RowOf<typeof userRow>

const columns = sql.fragment`
  ${selectedFields('u', USER_FIELDS, { group: 'user_group' })},
  u.password_ref as "passwordRef", u.auth_version as "authVersion",
  u.must_change_password as "mustChangePassword",
  (
    select to_jsonb(s)
    from (select ${selectedFields('u', USER_SETTING_FIELDS, SETTING_COLUMNS)}) s
  ) as settings,
  u.deleted_at is not null as "isDeleted"
`

/**
 * Finds the user who has the name; null when no user has it. A deactivated user still has the name,
 * but an erased user does not.
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
 * Finds the user who has the identity; null when no user has it. A deactivated user still has the
 * identity.
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

/** Returns the highest user id; 0 when there are no users. */
export const highestUserId = (db: CommonQueryMethods): Promise<number> =>
  db.oneFirst(sql.type(rowType({ id: wireInteger }))`
    select coalesce(max(id), 0) as id from read_users.users
  `)

/**
 * Reads all users, including deactivated users, with the position up to which events are included.
 */
export const relayUsers = (db: DatabasePool): Promise<AtPosition<UserRow>> =>
  atCheckpoint(db, 'users', (snapshot) =>
    snapshot.any(sql.type(userRow)`select ${columns} from read_users.users u order by u.id`),
  )

/** Reads the users with these ids in no particular order. Unknown ids are absent. */
export const usersByIds = (
  db: CommonQueryMethods,
  userIds: readonly number[],
): Promise<readonly UserRow[]> =>
  db.any(sql.type(userRow)`
    select ${columns} from read_users.users u
    where u.id = any(${sql.array(userIds, 'int8')})
  `)

/**
 * The sort columns of users `u` and their accounts `a`. In a sort by status, deactivated users
 * follow banned users.
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
    /** A user id, or part of a name or address. An empty text matches every user. */
    readonly keyword: string
    readonly group: string
  }

/**
 * Lists users, including deactivated users. Users with equal sort values are listed newest first.
 */
export async function listUsers(
  db: CommonQueryMethods,
  { keyword, group, limit, offset, ...order }: UserSearch,
): Promise<Listed<UserRow>> {
  const matches = sql.fragment`
    (${keyword} = '' or u.id::text = ${keyword} or u.username ilike ${containing(keyword)}
      or u.display_name ilike ${containing(keyword)} or u.email ilike ${containing(keyword)})
    and (${group} = '' or u.user_group = ${group})
  `
  const rows = await db.any(sql.type(userRow)`
    select ${columns} from read_users.users u
    left join read_balances.accounts a on a.user_id = u.id
    where ${matches}
    order by ${orderTerms(SORT_COLUMNS, order, sql.fragment`u.id`)}
    limit ${limit} offset ${offset}
  `)
  const total = await db.oneFirst(sql.type(rowType({ total: wireInteger }))`
    select count(*) as total from read_users.users u where ${matches}
  `)
  return { rows, total }
}

const changed = rowType({ id: wireInteger, position: wireInteger })

/**
 * Reads users who were created or changed at positions above `after` and up to `upTo`, in the order
 * of their last change.
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

/** Finds the user with exactly this name; null when no user has it. */
export const userIdByName = (db: CommonQueryMethods, username: string): Promise<number | null> =>
  db.maybeOneFirst(sql.type(rowType({ id: wireInteger }))`
    select id from read_users.users where username = ${username} order by id limit 1
  `)

export type ChosenUsers = {
  readonly isEverybody: boolean
  readonly groups: readonly string[]
  readonly userIds: readonly number[]
}

/**
 * Returns the ids of the users selected by id, by group or as all users. Deleted users are
 * excluded, and each id appears once in ascending order.
 */
export const chosenUserIds = (
  db: CommonQueryMethods,
  { isEverybody, groups, userIds }: ChosenUsers,
): Promise<readonly number[]> =>
  db.anyFirst(sql.type(rowType({ id: wireInteger }))`
    select id from read_users.users
    where deleted_at is null and (${isEverybody}
      or user_group = any(${sql.array(groups, 'text')})
      or id = any(${sql.array(userIds, 'int8')}))
    order by id
  `)

/** Returns the ids of admins and super admins who are neither banned nor deleted. */
export const activeAdminIds = (db: CommonQueryMethods): Promise<readonly number[]> =>
  db.anyFirst(sql.type(rowType({ id: wireInteger }))`
    select id from read_users.users
    where deleted_at is null and status = ${ACTIVE} and role >= ${ADMIN} order by id
  `)
