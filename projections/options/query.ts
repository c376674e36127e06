import { type CommonQueryMethods, type DatabasePool, sql } from 'slonik'
import Type from 'typebox'
import { priceByName, priceOf, readPriceList } from '#domain/pricing/price-list.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'

const siteColumns = {
  revision: wireInteger,
  /** The first super admin, or null until the first-run setup is completed. */
  rootUserId: nullable(wireInteger),
  isSelfUse: Type.Boolean(),
  isDemoSite: Type.Boolean(),
}
const siteRow = rowType(siteColumns)
export type SiteState = RowOf<typeof siteRow>

const COLUMNS_OF_SITE = sql.fragment`
  options_revision as revision, root_user_id as "rootUserId",
  is_self_use as "isSelfUse", is_demo_site as "isDemoSite"`

export const siteState = (db: CommonQueryMethods): Promise<SiteState> =>
  db.one(sql.type(siteRow)`select ${COLUMNS_OF_SITE} from read_options.site`)

export type AllOptions = {
  readonly position: number
  /**
   * The revision of the options stream, or -1 if no option is set. The revision identifies the
   * price list.
   */
  readonly revision: number
  /** The values of the options that were set, without secret options. */
  readonly values: Map<string, string>
  /** The vault references of the secret options that were set, by option key. */
  readonly secretRefs: Map<string, string>
  readonly site: SiteState
}

const allOptionsRow = rowType({
  ...siteColumns,
  position: wireInteger,
  options: Type.Array(Type.Tuple([Type.String(), Type.String(), Type.Boolean()])),
})

/**
 * Reads all options that were set, with the event position up to which they are current. Most
 * requests read all options, so one statement reads everything from one snapshot.
 */
export async function allOptions(db: CommonQueryMethods): Promise<AllOptions> {
  const { position, options, ...site } = await db.one(sql.type(allOptionsRow)`
    select ${COLUMNS_OF_SITE},
      (
        select coalesce(min(position), 0) from projections.checkpoint where name = 'options'
      ) as position,
      (
        select coalesce(json_agg(json_build_array(key, value, is_secret) order by key), '[]')
        from read_options.options
      ) as options
    from read_options.site
  `)
  const pairs = (isSecret: boolean) =>
    new Map(options.filter((o) => o[2] === isSecret).map(([key, value]) => [key, value]))
  const { revision } = site
  return { position, revision, values: pairs(false), secretRefs: pairs(true), site }
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
 * Returns a function that finds the current price of a model before the group ratio is applied. The
 * returned function returns null if the model has no price and the user does not accept models
 * without a price. The name of a model does not tell which endpoint is called. A moderation model
 * is therefore free only if chats with the same model have no price.
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
  const { values, site } = await allOptions(db)
  const set = values.get('DemoSiteEnabled')
  return set === undefined ? site.isDemoSite : set === 'true'
}
