import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import { PRICE_CHANGE_FIELDS } from '#read-api/contract/options.ts'
import { containing, type Listed, type Slice } from '../list-paging-and-sorting.ts'
import { fieldColumns, selectedFields } from '../resource-field-columns.ts'

/** The columns whose names differ from the names of their fields. */
export const PRICE_CHANGE_COLUMNS = {
  option: 'option_key',
  group: 'group_name',
  before: 'before_value',
  after: 'after_value',
}

const priceChange = rowType({
  ...fieldColumns(PRICE_CHANGE_FIELDS),
  /** The position of the event that changed the price. */
  position: wireInteger,
  place: Type.Number(),
  /** The user who made or scheduled the change, in the form `user:1`. */
  actor: Type.String(),
  /** The user's name. Empty if the system made the change, or if the user was erased. */
  username: Type.String(),
})
export type PriceChange = RowOf<typeof priceChange>

type PriceChangeFilter = Slice & {
  /** The complete model name. An empty text matches all. */
  readonly model: string
  /** A part of a model name. An empty text matches all. */
  readonly keyword: string
  readonly group: string
}

/** Lists price changes, newest first. An empty filter matches all. */
export async function priceChanges(
  db: CommonQueryMethods,
  { model, keyword, group, limit, offset }: PriceChangeFilter,
): Promise<Listed<PriceChange>> {
  const matches = sql.fragment`
    (${model} = '' or model = ${model})
    and (${keyword} = '' or model ilike ${containing(keyword)})
    and (${group} = '' or group_name = ${group} or user_group = ${group})
  `
  const rows = await db.any(sql.type(priceChange)`
    with selected as materialized (
      select * from read_price_history.changes where ${matches}
      order by position desc, place limit ${limit} offset ${offset}
    )
    select ${selectedFields('c', PRICE_CHANGE_FIELDS, PRICE_CHANGE_COLUMNS)}, c.position, c.place,
      coalesce(p.actor, c.actor) as actor, coalesce(u.username, '') as username
    from selected c
    left join read_price_schedule.planned p on p.id = c.planned_id
    left join read_users.users u on 'user:' || u.id = coalesce(p.actor, c.actor)
    order by c.position desc, c.place
  `)
  const total = await db.oneFirst(sql.type(rowType({ total: wireInteger }))`
    select count(*) as total from read_price_history.changes where ${matches}
  `)
  return { rows, total }
}

type PriceScope = {
  /** The names of the model and of the tools that have a price. */
  readonly models: readonly string[]
  readonly group: string
  readonly userGroup: string
  /** The position as of which the prices are read. Later changes are ignored. */
  readonly position: number
}

/**
 * Finds each entry of the price options that can determine a price in the scope, and returns the
 * entry's latest change up to `position`. These are the entries of the models, the ratio of the
 * group, the special ratio for users of the user's group, and the fallback prices.
 */
export const pricesInForce = (
  db: CommonQueryMethods,
  { models, group, userGroup, position }: PriceScope,
): Promise<readonly PriceChange[]> =>
  db.any(sql.type(priceChange)`
    with latest as (
      select distinct on (option_key, model, group_name, user_group) *
      from read_price_history.changes
      where position <= ${position} and (
        (model <> '' and model = any(${sql.array(models, 'text')}))
        or (group_name = ${group} and user_group in ('', ${userGroup}))
        or (model = '' and group_name = '' and user_group = '')
      )
      order by option_key, model, group_name, user_group, position desc, place
    )
    select ${selectedFields('c', PRICE_CHANGE_FIELDS, PRICE_CHANGE_COLUMNS)}, c.position, c.place,
      coalesce(p.actor, c.actor) as actor, coalesce(u.username, '') as username
    from latest c
    left join read_price_schedule.planned p on p.id = c.planned_id
    left join read_users.users u on 'user:' || u.id = coalesce(p.actor, c.actor)
    order by c.option_key, c.model, c.group_name, c.user_group
  `)
