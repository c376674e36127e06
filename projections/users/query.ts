import { type CommonQueryMethods, type DatabasePool, sql } from 'slonik'
import Type from 'typebox'
import type { IdentityProvider } from '#domain/identity/events.ts'
import { ACTIVE, ADMIN } from '#domain/shared/roles.ts'
import { nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import { type AtPosition, atCheckpoint } from '../checkpoint.ts'
import { containing, type Listed, type Slice } from '../like.ts'

const userRow = rowType({
  id: wireInteger,
  username: Type.String(),
  displayName: Type.String(),
  /** 1 normal user, 10 admin, 100 super admin. */
  role: Type.Union([Type.Literal(1), Type.Literal(10), Type.Literal(100)]),
  /** 1 active, 2 banned. */
  status: Type.Union([Type.Literal(1), Type.Literal(2)]),
  group: Type.String(),
  /** null: there is no password to come in by. */
  passwordRef: nullable(Type.String()),
  authVersion: wireInteger,
  /** Its password was made up by the server. */
  mustChangePassword: Type.Boolean(),
  settings: Type.Object({
    acceptUnsetModelRatioModel: Type.Boolean(),
    showIpInLogs: Type.Boolean(),
  }),
  inviterId: nullable(wireInteger),
  /** Empty where nothing is bound, as the ids below. */
  email: Type.String(),
  githubId: Type.String(),
  oidcId: Type.String(),
  wechatId: Type.String(),
  telegramId: Type.String(),
  linuxDoId: Type.String(),
  /** Unix seconds, as `deletedAt`. */
  createdAt: wireInteger,
  deletedAt: nullable(wireInteger),
  isDeleted: Type.Boolean(),
  /** The texts about the person are gone for good. */
  isErased: Type.Boolean(),
})
export type UserRow = RowOf<typeof userRow>

const columns = sql.fragment`
  u.id, u.username, u.display_name as "displayName", u.role, u.status, u.user_group as "group",
  u.password_ref as "passwordRef", u.auth_version as "authVersion",
  u.must_change_password as "mustChangePassword",
  jsonb_build_object(
    'acceptUnsetModelRatioModel', u.accepts_unpriced, 'showIpInLogs', u.shows_ip
  ) as settings,
  u.email, u.github_id as "githubId", u.oidc_id as "oidcId", u.wechat_id as "wechatId",
  u.telegram_id as "telegramId", u.linux_do_id as "linuxDoId",
  u.inviter_id as "inviterId", u.created_at as "createdAt", u.deleted_at as "deletedAt",
  u.deleted_at is not null as "isDeleted", u.is_erased as "isErased"
`

/** null when nobody has the name; a deactivated user keeps it, an erased one doesn't. */
export const findUserByNameKey = (
  db: CommonQueryMethods,
  nameKey: string,
): Promise<UserRow | null> =>
  db.maybeOne(sql.type(userRow)`
    select ${columns} from read_users.names n join read_users.users u on u.id = n.user_id
    where n.name_key = ${nameKey}
  `)

/** null when it is nobody's; a deactivated user keeps it. */
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

/** 0 when there are none. */
export const highestUserId = (db: CommonQueryMethods): Promise<number> =>
  db.oneFirst(sql.type(rowType({ id: wireInteger }))`
    select coalesce(max(id), 0) as id from read_users.users
  `)

/** Every user, deactivated ones included, as of one position. */
export const relayUsers = (db: DatabasePool): Promise<AtPosition<UserRow>> =>
  atCheckpoint(db, 'users', (snapshot) =>
    snapshot.any(sql.type(userRow)`select ${columns} from read_users.users u order by u.id`),
  )

/** Those that exist, in no order. */
export const usersByIds = (
  db: CommonQueryMethods,
  userIds: readonly number[],
): Promise<readonly UserRow[]> =>
  db.any(sql.type(userRow)`
    select ${columns} from read_users.users u
    where u.id = any(${sql.array(userIds, 'int8')})
  `)

/** Newest first. `keyword` is an id, or part of a name or an address. */
export async function listUsers(
  db: CommonQueryMethods,
  { keyword, group, limit, offset }: Slice & { keyword: string; group: string },
): Promise<Listed<UserRow>> {
  const matches = sql.fragment`
    (${keyword} = '' or u.id::text = ${keyword} or u.username ilike ${containing(keyword)}
      or u.display_name ilike ${containing(keyword)} or u.email ilike ${containing(keyword)})
    and (${group} = '' or u.user_group = ${group})
  `
  const rows = await db.any(sql.type(userRow)`
    select ${columns} from read_users.users u where ${matches}
    order by u.id desc limit ${limit} offset ${offset}
  `)
  const total = await db.oneFirst(sql.type(rowType({ total: wireInteger }))`
    select count(*) as total from read_users.users u where ${matches}
  `)
  return { rows, total }
}

const changed = rowType({ id: wireInteger, position: wireInteger })

/** Users made or changed after a position and up to another, in order of their last change. */
export const changedUsers = (
  db: CommonQueryMethods,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Promise<readonly RowOf<typeof changed>[]> =>
  db.any(sql.type(changed)`
    select id, changed_position as position from read_users.users
    where changed_position > ${after} and changed_position <= ${upTo}
    order by changed_position fetch first ${limit} rows with ties
  `)

/** The user of exactly this name; null when there is none. */
export const userIdByName = (db: CommonQueryMethods, username: string): Promise<number | null> =>
  db.maybeOneFirst(sql.type(rowType({ id: wireInteger }))`
    select id from read_users.users where username = ${username} order by id limit 1
  `)

export type ChosenUsers = {
  readonly isEverybody: boolean
  readonly groups: readonly string[]
  readonly userIds: readonly number[]
}

/** Those chosen by id, by group or all, without deleted ones. Each once, in order. */
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

/** Everybody who may administer the site now: admins and super admins that are not banned. */
export const activeAdminIds = (db: CommonQueryMethods): Promise<readonly number[]> =>
  db.anyFirst(sql.type(rowType({ id: wireInteger }))`
    select id from read_users.users
    where deleted_at is null and status = ${ACTIVE} and role >= ${ADMIN} order by id
  `)
