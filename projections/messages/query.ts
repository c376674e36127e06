import { type CommonQueryMethods, sql } from 'slonik'
import { arrayOf, nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import {
  INBOX_FIELDS,
  MESSAGE_FIELDS,
  MESSAGE_STATS_FIELDS,
  RECIPIENT_FIELDS,
  SENT_FIELDS,
} from '#read-api/contract/message-fields.ts'
import type { InboxSort, MessageSort, RecipientSort } from '#read-api/contract/messages.ts'
import type { Fields } from '#read-api/contract/resource-field-definition.ts'
import {
  containing,
  followsRow,
  type Listed,
  type ListOrder,
  orderTerms,
  type Slice,
} from '../list-paging-and-sorting.ts'
import { fieldColumns, selectedFields } from '../resource-field-columns.ts'

const SENT_COLUMNS = { ...SENT_FIELDS, ...MESSAGE_STATS_FIELDS }
const messageRow = rowType(fieldColumns(SENT_COLUMNS))
export type MessageRow = RowOf<typeof messageRow>

/** The number of characters of a message's content that a list contains. */
const LISTED_CHARACTERS = 2_000
const beginning = sql.fragment`left(m.content, ${LISTED_CHARACTERS}) as content`
const whole = sql.fragment`m.content`

const columns = ({ content: _replaced, ...fields }: Fields, content: typeof whole) =>
  sql.fragment`${selectedFields('m', fields)}, ${content}`

const sentMessages = sql.fragment`
  (
    select m.*, coalesce(c.readers, 0) as readers
    from read_messages.messages m left join read_messages.read_counts c on c.message_id = m.id
  ) m
`

const count = rowType({ total: wireInteger })

/** Returns the highest id, including deleted messages, or 0. */
export const highestMessageId = (db: CommonQueryMethods): Promise<number> =>
  db.oneFirst(sql.type(rowType({ id: wireInteger }))`
    select coalesce(max(id), 0) as id from read_messages.messages
  `)

export const findMessage = (
  db: CommonQueryMethods,
  messageId: number,
): Promise<MessageRow | null> =>
  db.maybeOne(sql.type(messageRow)`
    select ${columns(SENT_COLUMNS, whole)} from ${sentMessages}
    where m.id = ${messageId} and not m.is_deleted
  `)

export type MessageFilter = {
  readonly keyword: string
  /**
   * The earliest and the latest time of creation in Unix seconds, inclusive. null means no limit.
   */
  readonly from: number | null
  readonly until: number | null
}

const SORT_COLUMNS = {
  id: sql.fragment`m.id`,
  title: sql.fragment`lower(m.title)`,
  format: sql.fragment`m.format`,
  total_recipients: sql.fragment`m.total`,
  read_count: sql.fragment`m.readers`,
  created_at: sql.fragment`m.created_at`,
} satisfies Record<MessageSort, unknown>

/**
 * Lists messages with the beginning of their content. Equal sort values are ordered newest first.
 * `keyword` is a part of the title or of the complete content.
 */
export async function listMessages(
  db: CommonQueryMethods,
  search: Slice & MessageFilter & ListOrder<MessageSort>,
): Promise<Listed<MessageRow>> {
  const { keyword, from, until, limit, offset, ...order } = search
  const matches = sql.fragment`
    not m.is_deleted
    and (${keyword} = '' or m.title ilike ${containing(keyword)}
      or m.content ilike ${containing(keyword)})
    and (${from}::int8 is null or m.created_at >= ${from})
    and (${until}::int8 is null or m.created_at <= ${until})
  `
  const rows = await db.any(sql.type(messageRow)`
    select ${columns(SENT_COLUMNS, beginning)} from ${sentMessages}
    where ${matches}
      and ${followsRow(SORT_COLUMNS, order, 'id', sql.fragment`from ${sentMessages} where true`)}
    order by ${orderTerms(SORT_COLUMNS, order, sql.fragment`m.id`)}
    limit ${limit} offset ${offset}
  `)
  const total = await db.oneFirst(sql.type(count)`
    select count(*) as total from read_messages.messages m where ${matches}
  `)
  return { rows, total }
}

const recipientRow = rowType(fieldColumns(RECIPIENT_FIELDS))
export type RecipientRow = RowOf<typeof recipientRow>

/** The sort columns of recipients. Recipients who have not read the message have the time 0. */
const RECIPIENT_SORT_COLUMNS = {
  user_id: sql.fragment`s.id`,
  username: sql.fragment`lower(coalesce(u.username, ''))`,
  display_name: sql.fragment`lower(coalesce(u.display_name, ''))`,
  read_at: sql.fragment`coalesce(d.read_at, 0)`,
} satisfies Record<RecipientSort, unknown>

/**
 * Lists the recipients of a message, or none if the message was deleted. NOTE: a deletion keeps the
 * rows, because events of recipients may be processed before or after the deletion.
 */
export const recipientsOf = (
  db: CommonQueryMethods,
  messageId: number,
  { limit, offset, ...order }: Slice & ListOrder<RecipientSort>,
): Promise<readonly RecipientRow[]> => {
  const recipients = sql.fragment`
    from read_messages.messages m
    join read_messages.recipients r on r.message_id = m.id
    cross join generate_series(r.first_id, r.last_id) s(id)
    left join read_users.users u on u.id = s.id
    left join read_messages.reads d on d.user_id = s.id and d.message_id = ${messageId}
    where m.id = ${messageId} and not m.is_deleted
  `
  return db.any(sql.type(recipientRow)`
    select page.id as "userId", coalesce(u.username, '') as username,
      coalesce(u.display_name, '') as "displayName", d.read_at as "readAt"
    from (
      -- Postgres joins only the tables that the order needs.
      select s.id, row_number() over (
        order by ${orderTerms(RECIPIENT_SORT_COLUMNS, order, sql.fragment`s.id`)}
      ) as place
      ${recipients} and ${followsRow(RECIPIENT_SORT_COLUMNS, order, 'user_id', recipients)}
      order by place limit ${limit} offset ${offset}
    ) page
    left join read_users.users u on u.id = page.id
    left join read_messages.reads d on d.user_id = page.id and d.message_id = ${messageId}
    order by page.place
  `)
}

const inboxRow = rowType(fieldColumns(INBOX_FIELDS))
export type InboxRow = RowOf<typeof inboxRow>

/**
 * The `from` and `where` clauses for the messages in one user's inbox that are not deleted, with
 * the time at which the user read each message.
 */
const inboxOf = (userId: number) => sql.fragment`
  read_messages.recipients r
  join read_messages.messages m on m.id = r.message_id and not m.is_deleted
  left join read_messages.reads d on d.user_id = ${userId} and d.message_id = m.id
  where int8range(r.first_id, r.last_id, '[]') @> ${userId}::int8
`

const INBOX_SORT_COLUMNS = {
  id: sql.fragment`m.id`,
  title: sql.fragment`lower(m.title)`,
  is_read: sql.fragment`d.read_at is not null`,
  created_at: sql.fragment`m.created_at`,
} satisfies Record<InboxSort, unknown>

/**
 * Lists the messages in a user's inbox, each with the beginning of its content. Equal sort values
 * are ordered newest first.
 */
export async function listInbox(
  db: CommonQueryMethods,
  userId: number,
  { limit, offset, ...order }: Slice & ListOrder<InboxSort>,
): Promise<Listed<InboxRow>> {
  const visible = sql.fragment`from ${inboxOf(userId)}`
  const rows = await db.any(sql.type(inboxRow)`
    select ${columns(MESSAGE_FIELDS, beginning)}, d.read_at as "readAt" ${visible}
      and ${followsRow(INBOX_SORT_COLUMNS, order, 'id', visible)}
    order by ${orderTerms(INBOX_SORT_COLUMNS, order, sql.fragment`m.id`)}
    limit ${limit} offset ${offset}
  `)
  const total = await db.oneFirst(sql.type(count)`
    select count(*) as total from ${inboxOf(userId)}
  `)
  return { rows, total }
}

/**
 * Reads a message from a user's inbox. Returns null if the message does not exist, was deleted or
 * was not sent to the user.
 */
export const findInInbox = (
  db: CommonQueryMethods,
  userId: number,
  messageId: number,
): Promise<InboxRow | null> =>
  db.maybeOne(sql.type(inboxRow)`
    select ${columns(MESSAGE_FIELDS, whole)}, d.read_at as "readAt"
    from ${inboxOf(userId)} and m.id = ${messageId}
  `)

/** Counts the unread messages of each user. Users without unread messages have the count 0. */
export async function unreadCounts(
  db: CommonQueryMethods,
  userIds: readonly number[],
): Promise<Map<number, number>> {
  const rows = await db.any(sql.type(rowType({ userId: wireInteger, unread: wireInteger }))`
    select u.id as "userId", unread.count as unread
    from unnest(${sql.array(userIds, 'int8')}) u(id)
    cross join lateral (
      select count(*) from read_messages.recipients r
      join read_messages.messages m on m.id = r.message_id and not m.is_deleted
      where int8range(r.first_id, r.last_id, '[]') @> u.id and not exists (
        select from read_messages.reads d where d.user_id = u.id and d.message_id = m.id
      )
    ) unread
  `)
  return new Map(rows.map(({ userId, unread }) => [userId, unread]))
}

export type PositionRange = { readonly after: number; readonly upTo: number }

const moved = rowType({ position: nullable(wireInteger), userIds: arrayOf(wireInteger) })

/**
 * Finds the users among `userIds` whose inbox changed in a range of event positions: a message was
 * sent, edited, deleted or read. `position` is the position of the last such change in any inbox,
 * even of another user. Returns null if no inbox at all changed.
 */
export async function movedInboxes(
  db: CommonQueryMethods,
  { after, upTo }: PositionRange,
  userIds: readonly number[],
): Promise<{ readonly position: number; readonly userIds: readonly number[] } | null> {
  const row = await db.one(sql.type(moved)`
    with changed as (
      select id, changed_position from read_messages.messages
      where changed_position > ${after} and changed_position <= ${upTo}
    ), seen as (
      select user_id, changed_position from read_messages.reads
      where changed_position > ${after} and changed_position <= ${upTo}
    )
    select
      greatest(
        (select max(changed_position) from changed), (select max(changed_position) from seen)
      ) as position,
      array(
        select u.id from unnest(${sql.array(userIds, 'int8')}) u(id)
        where exists (select from seen where seen.user_id = u.id) or exists (
          select from changed join read_messages.recipients r on r.message_id = changed.id
          where int8range(r.first_id, r.last_id, '[]') @> u.id
        )
      ) as "userIds"
  `)
  const { position } = row
  return position === null ? null : { ...row, position }
}

/** Returns the ids in the list whose messages exist and are not deleted. */
export const messagesWithText = (
  db: CommonQueryMethods,
  ids: readonly number[],
): Promise<readonly number[]> =>
  db.anyFirst(sql.type(rowType({ id: wireInteger }))`
    select id from read_messages.messages
    where id = any(${sql.array([...ids], 'int8')}) and not is_deleted
  `)

/** Returns the ids of messages whose only recipient is this user. Deleted messages are omitted. */
export const messagesOnlyTo = (
  db: CommonQueryMethods,
  userId: number,
): Promise<readonly number[]> =>
  db.anyFirst(sql.type(rowType({ id: wireInteger }))`
    select m.id from ${inboxOf(userId)} and m.total = 1
  `)
