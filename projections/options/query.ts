import { type CommonQueryMethods, type DatabasePool, sql } from 'slonik'
import Type from 'typebox'
import { priceByName, priceOf, readPriceList } from '#domain/pricing/price-list.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import { atCheckpoint } from '../checkpoint-table.ts'

export type AllOptions = {
  readonly position: number
  /**
   * The revision of the options stream, which identifies the price list, or -1 if no option is set.
   */
  readonly revision: number
  /** The values of the options that were set, without secret options. */
  readonly values: Map<string, string>
  /** The vault references of the secret options that were set, by option key. */
  readonly secretRefs: Map<string, string>
}

const optionRow = rowType({ key: Type.String(), value: Type.String(), isSecret: Type.Boolean() })

/** Reads all options that were set, with the event position up to which they are current. */
export async function allOptions(db: DatabasePool): Promise<AllOptions> {
  const { position, rows } = await atCheckpoint(db, 'options', async (snapshot) => {
    const { revision } = await siteState(snapshot)
    const options = await snapshot.any(sql.type(optionRow)`
      select key, value, is_secret as "isSecret" from read_options.options order by key
    `)
    return [{ revision, options }]
  })
  const { revision, options } = rows[0] ?? { revision: -1, options: [] }
  const pairs = (isSecret: boolean) =>
    new Map(options.filter((o) => o.isSecret === isSecret).map((o) => [o.key, o.value]))
  return { position, revision, values: pairs(false), secretRefs: pairs(true) }
}

/**
 * Returns a function that reports whether calls of a model in a group are refused, because no price
 * applies to them.
 */
export async function unpricedModels(
  db: DatabasePool,
): Promise<(model: string, group: string) => boolean> {
  const { values, revision } = await allOptions(db)
  const prices = readPriceList(values, revision)
  // The user's group does not affect whether a model has a price.
  return (model, group) =>
    'code' in priceByName(prices, model, group, { userGroup: group, acceptsUnpriced: false })
}

/**
 * Returns a function that finds the current price of a model before the group ratio is applied.
 * This function returns null if the model has no price and the user does not accept models without
 * one. A model with the name of a moderation model is free only if chats with this model have no
 * price either. The reason is that the name does not tell which endpoint is called.
 */
export async function modelPrices(
  db: DatabasePool,
): Promise<(model: string, acceptsUnpriced: boolean) => PriceSnapshot | null> {
  const { values, revision } = await allOptions(db)
  const list = { ...readPriceList(values, revision), groups: new Map([['', '1']]) }
  return (model, acceptsUnpriced) => {
    const customer = { userGroup: '', acceptsUnpriced }
    const ofChat = priceOf(list, model, '', customer)
    const price = 'code' in ofChat ? priceByName(list, model, '', customer) : ofChat
    return 'code' in price ? null : price
  }
}

/** Reports whether the site is a demo site, on which only the super admin can make changes. */
export async function isDemoSite(db: DatabasePool): Promise<boolean> {
  const set = (await allOptions(db)).values.get('DemoSiteEnabled')
  return set === undefined ? (await siteState(db)).isDemoSite : set === 'true'
}

const siteRow = rowType({
  revision: wireInteger,
  /** The first super admin, or null until the first-run setup is completed. */
  rootUserId: nullable(wireInteger),
  isSelfUse: Type.Boolean(),
  isDemoSite: Type.Boolean(),
})
export type SiteState = RowOf<typeof siteRow>

export const siteState = (db: CommonQueryMethods): Promise<SiteState> =>
  db.one(sql.type(siteRow)`
    select options_revision as revision, root_user_id as "rootUserId",
      is_self_use as "isSelfUse", is_demo_site as "isDemoSite"
    from read_options.site
  `)
