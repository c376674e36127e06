import Type, { type Static } from 'typebox'
import { PriceUnitLists, PriceUnits } from './price-unit-schema.ts'
import { Query } from './request-parameters.ts'
import type { Fields } from './resource-field-definition.ts'
import { Envelope, Page, TranslatedText } from './response-envelope.ts'
import { responseProperties } from './schemas-from-field-definitions.ts'

/**
 * An option and its current value as text. A boolean is `true` or `false`. A list or map is
 * formatted JSON. The value of a secret option is `***` if the option is set, and empty otherwise.
 */
const Option = Type.Object({ key: Type.String(), value: Type.String() })

export type { TranslatedText } from '#domain/shared/translated-text.ts'

const Tab = Type.Union([
  Type.Literal('operation'),
  Type.Literal('ratelimit'),
  Type.Literal('models'),
  Type.Literal('system'),
  Type.Literal('other'),
])

/**
 * The type of an option's value, and the rules for validating the value. Fields that do not apply
 * to the type are omitted.
 */
export const OptionType = Type.Object({
  /**
   * The kind of the value. The values of these kinds are plain text: `flag`, `integer`, `decimal`,
   * `text` (one line), `lines`, `url`, `link` and `choice`. The values of these kinds are JSON:
   * `ratios`, `nested-ratios`, `context-tiers`, `choice-by-name`, `names`, `headers-by-name`,
   * `counts`, `lists-by-name`, `limits-by-name`, `list`, `links` and `object`.
   */
  kind: Type.String(),
  minimum: Type.Optional(Type.String()),
  maximum: Type.Optional(Type.String()),
  max_length: Type.Optional(Type.Integer()),
  is_required: Type.Optional(Type.Boolean()),
  /** The form that a text must have unless the text is empty: `host` or `mail`. */
  form: Type.Optional(Type.String()),
  /** True if an empty text is allowed. An empty text means that the option has no value. */
  is_optional: Type.Optional(Type.Boolean()),
  choices: Type.Optional(Type.Array(Type.String())),
  /** A key that the JSON object must contain. */
  required: Type.Optional(Type.String()),
})
export type OptionType = Static<typeof OptionType>

export const OptionSchema = Type.Object({
  key: Type.String(),
  tab: Tab,
  /** The `id` of the section that contains the option. */
  section: Type.String(),
  type: OptionType,
  default: Type.String(),
  is_secret: Type.Boolean(),
  /** The lowest role that may change the option: 10 is an admin, and 100 is the super admin. */
  minimum_role: Type.Integer(),
  label: TranslatedText,
  help: Type.Union([TranslatedText, Type.Null()]),
  /** The unit (quota, dollar, percent, second, minute or millisecond), or empty. */
  unit: Type.String(),
  /**
   * If the option maps models to prices: the units of the prices of known video models. A version
   * of a model has the unit of that model (see `price-unit-by-model-name.ts`). All other prices are
   * charged for each call. The channels of a model can bill another unit (`GET
   * /api/option/price_units`). Omitted if the option does not map models to prices.
   */
  entry_units: Type.Optional(PriceUnits),
  /** If the option is a choice: the label of each value. Empty for all other options. */
  choice_words: Type.Record(Type.String(), TranslatedText),
  /**
   * Says why the site still stores an option that no longer has an effect. The console hides such
   * an option. Null for all other options.
   */
  note: Type.Union([TranslatedText, Type.Null()]),
  /**
   * The message for a value that is too low or too high. This message replaces the general message.
   * Null if the general message is used.
   */
  bounds_words: Type.Union([TranslatedText, Type.Null()]),
  /**
   * The key of another option. The value of the other option is the minimum for this option. There
   * is no minimum if this field is empty, or if the value of the other option is 0.
   */
  not_below: Type.String(),
  /**
   * If an admin chooses `value`, the form asks the question `words` before the form saves the
   * option. Null if the form asks no question.
   */
  ask_before: Type.Union([
    Type.Object({ value: Type.String(), words: TranslatedText }),
    Type.Null(),
  ]),
})
export type OptionSchema = Static<typeof OptionSchema>

export const OptionSection = Type.Object({
  id: Type.String(),
  tab: Tab,
  title: TranslatedText,
  lead: Type.Union([TranslatedText, Type.Null()]),
})
export type OptionSection = Static<typeof OptionSection>

/** All sections and options, in the order in which the console shows them. */
export const OptionsSchema = Type.Object({
  sections: Type.Array(OptionSection),
  options: Type.Array(OptionSchema),
})
export type OptionsSchema = Static<typeof OptionsSchema>

/** The fields of a change of an option, in the order of the responses. */
export const OPTION_CHANGE_FIELDS = {
  /** The position of the event that changed the option. */
  id: { wire: 'id', type: 'integer', access: 'read' },
  key: { wire: 'key', type: 'text', access: 'read' },
  /** The previous value: `***` for a secret that was set, and null if the value is unknown. */
  before: { wire: 'before', type: 'nullableText', access: 'read' },
  after: { wire: 'after', type: 'text', access: 'read' },
  /** The author of the change: a user (`user:7`) or a process of the site (`system:setup`). */
  actor: { wire: 'actor', type: 'text', access: 'read', isComputed: true },
  /** The name of the user who made the change. Empty if the site itself made the change. */
  username: { wire: 'username', type: 'text', access: 'read', isComputed: true },
  /** The id of the scheduled price change that caused this change. 0 if there is none. */
  plannedId: { wire: 'planned_id', type: 'optionalInteger', absent: 0, access: 'read' },
  /** The time of the change, stored in Unix milliseconds and returned in Unix seconds. */
  at: { wire: 'changed_at', type: 'timeMs', access: 'read' },
} as const satisfies Fields

export const OptionChange = Type.Object(responseProperties(OPTION_CHANGE_FIELDS))
export type OptionChange = Static<typeof OptionChange>
/**
 * The fields of a change of the price of a model, of the ratio of a group, or of a special ratio. A
 * special ratio is the ratio for calls in one group by users of another group.
 */
export const PRICE_CHANGE_FIELDS = {
  /** The time of the change in Unix seconds. */
  changedAt: { wire: 'time', type: 'integer', access: 'read' },
  userId: { wire: 'user_id', type: 'integer', access: 'read', isComputed: true },
  /** The name of the user. Empty for the user id 0, which means the site itself. */
  username: { wire: 'username', type: 'text', access: 'read', isComputed: true },
  /** The id of the scheduled price change that caused this change. 0 if there is none. */
  plannedId: { wire: 'planned_id', type: 'optionalInteger', absent: 0, access: 'read' },
  option: { wire: 'option', type: 'text', access: 'read' },
  model: { wire: 'model', type: 'text', access: 'read' },
  group: { wire: 'group', type: 'text', access: 'read' },
  userGroup: { wire: 'user_group', type: 'text', access: 'read' },
  /**
   * The price before the change, as an exact decimal. `after` is the price after the change. Null
   * means that there was no price.
   */
  before: { wire: 'before', type: 'nullableText', access: 'read' },
  after: { wire: 'after', type: 'nullableText', access: 'read' },
} as const satisfies Fields

export const PriceChange = Type.Object(responseProperties(PRICE_CHANGE_FIELDS))
export type PriceChange = Static<typeof PriceChange>

/** A scheduled price change. All times are in Unix seconds. */
export const SCHEDULED_CHANGE_FIELDS = {
  id: { wire: 'id', type: 'integer', access: 'read' },
  /** The time at which the change is to be applied. */
  dueAt: { wire: 'at', type: 'integer', access: 'read' },
  madeAt: { wire: 'created_time', type: 'integer', access: 'read' },
  username: { wire: 'username', type: 'text', access: 'read', isComputed: true },
  status: {
    wire: 'status',
    type: 'choice',
    values: ['planned', 'applied', 'cancelled', 'failed'],
    access: 'read',
  },
  /**
   * The time at which the change was applied, was cancelled or failed. 0 while the change is
   * planned.
   */
  endedAt: { wire: 'ended_time', type: 'optionalInteger', absent: 0, access: 'read' },
  /** The error code of a change that failed, or empty. */
  fault: { wire: 'fault', type: 'text', access: 'read' },
} as const satisfies Fields

export const ScheduledChange = Type.Object({
  ...responseProperties(SCHEDULED_CHANGE_FIELDS),
  changes: Type.Array(
    Type.Object({
      option: Type.String(),
      name: Type.String(),
      value: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
})
export type ScheduledChange = Static<typeof ScheduledChange>

/** Model ratios that an admin can adopt, from one source. Ratios are exact decimals as text. */
export const PresetRatios = Type.Object({
  source: Type.String(),
  /**
   * The source of the ratios: `shipped` with this release, or `fetched` from the configured
   * address.
   */
  origin: Type.Union([Type.Literal('shipped'), Type.Literal('fetched')]),
  /**
   * The date of the ratios, as `2025-10` or `2025-10-31`. For fetched ratios, this is the date of
   * the oldest list. Empty if the configured address does not send the date of each list.
   */
  as_of: Type.String(),
  /**
   * The models whose prices are older than `as_of`, and the date of these prices. Null for fetched
   * ratios, and for the source `legacy`.
   */
  older: Type.Union([
    Type.Null(),
    Type.Object({ as_of: Type.String(), models: Type.Array(Type.String()) }),
  ]),
  /**
   * Where the prices come from. For shipped ratios, the names of the providers whose public prices
   * were used. For fetched ratios, the host of the address in the option `PresetRatioUrl`.
   */
  price_source: Type.String(),
  /** True if fetching failed. The response then contains the shipped ratios instead. */
  is_fetch_failed: Type.Boolean(),
  prompt: Type.Record(Type.String(), Type.String()),
  completion: Type.Record(Type.String(), Type.String()),
  /**
   * The maximum number of output tokens of each model. Models without a published maximum are
   * omitted.
   */
  max_output: Type.Record(Type.String(), Type.String()),
})
export type PresetRatios = Static<typeof PresetRatios>

const HistoryQuery = Type.Object({ ...Query.page, key: Query.text, section: Query.text })

export const PresetQuery = Type.Object({
  source: Type.Union([
    Type.Literal('flexible'),
    Type.Literal('openrouter'),
    Type.Literal('legacy'),
  ]),
})

const name = Type.Optional(Type.String({ maxLength: 256 }))

export const optionQueries = {
  'GET /api/option/': { response: { 200: Envelope(Type.Array(Option)) } },
  'GET /api/option/schema': { response: { 200: Envelope(OptionsSchema) } },
  'GET /api/option/history': {
    querystring: HistoryQuery,
    response: { 200: Envelope(Page(OptionChange)) },
  },
  'GET /api/option/preset_ratios': {
    querystring: PresetQuery,
    response: { 200: Envelope(PresetRatios) },
  },
  'GET /api/option/price_history': {
    querystring: Type.Object({ ...Query.page, model: name, keyword: Query.text, group: name }),
    response: { 200: Envelope(Page(PriceChange)) },
  },
  /**
   * The units in which channels bill models that have a price in the option `ModelPrice`. `second`
   * means that a channel bills the model by the second of a video. `call` means that a channel
   * bills the model by the call. A model is listed only if a channel bills the model in another
   * unit than the name of the model indicates (see `entry_units`), for example because the channel
   * maps the name to the name of a video model.
   */
  'GET /api/option/price_units': { response: { 200: Envelope(PriceUnitLists) } },
  'GET /api/option/price_schedule': {
    querystring: Type.Object(Query.page),
    response: { 200: Envelope(Page(ScheduledChange)) },
  },
}
