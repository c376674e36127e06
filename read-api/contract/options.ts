import Type, { type Static } from 'typebox'
import { Envelope, Page, Query } from './envelope.ts'

/**
 * Values are text: booleans are `true` or `false`; lists and maps are JSON, reformatted for
 * display. Secrets read as `***`, or empty if unset.
 */
export const Option = Type.Object({ key: Type.String(), value: Type.String() })
export type Option = Static<typeof Option>

export const Words = Type.Object({ zh: Type.String(), en: Type.String() })
export type Words = Static<typeof Words>

const Tab = Type.Union([
  Type.Literal('operation'),
  Type.Literal('ratelimit'),
  Type.Literal('models'),
  Type.Literal('system'),
  Type.Literal('other'),
])

/** The type and the validation of a value; fields that do not apply to the kind are left out. */
export const OptionType = Type.Object({
  /**
   * flag, integer, decimal, text (one line), lines, url, link, choice; JSON: ratios, nested-ratios,
   * choice-by-name, names, counts, list, links, object.
   */
  kind: Type.String(),
  minimum: Type.Optional(Type.String()),
  maximum: Type.Optional(Type.String()),
  max_length: Type.Optional(Type.Integer()),
  /** An empty text is rejected. */
  is_required: Type.Optional(Type.Boolean()),
  /** The format of a non-empty text: host or mail. */
  form: Type.Optional(Type.String()),
  /** An empty text is allowed and means none. */
  is_optional: Type.Optional(Type.Boolean()),
  choices: Type.Optional(Type.Array(Type.String())),
  /** A key that the JSON must contain. */
  required: Type.Optional(Type.String()),
})
export type OptionType = Static<typeof OptionType>

export const OptionSchema = Type.Object({
  key: Type.String(),
  tab: Tab,
  /** The section's `id`. */
  section: Type.String(),
  type: OptionType,
  default: Type.String(),
  is_secret: Type.Boolean(),
  /** 10 admin, 100 super admin. */
  minimum_role: Type.Integer(),
  label: Words,
  help: Type.Union([Words, Type.Null()]),
  /** quota, dollar, percent, second, minute, millisecond; empty: none. */
  unit: Type.String(),
  /** The label of each value of a choice. */
  choice_words: Type.Record(Type.String(), Words),
  /** States that the option has no effect and why it is kept; the console leaves it out. */
  note: Type.Union([Words, Type.Null()]),
  /** The message for a value out of bounds, instead of the general one. */
  bounds_words: Type.Union([Words, Type.Null()]),
  /** The option that this number must not be below, unless it is 0; empty: none. */
  not_below: Type.String(),
  /** The form asks for confirmation before this value is chosen. */
  ask_before: Type.Union([Type.Object({ value: Type.String(), words: Words }), Type.Null()]),
})
export type OptionSchema = Static<typeof OptionSchema>

export const OptionSection = Type.Object({
  id: Type.String(),
  tab: Tab,
  title: Words,
  lead: Type.Union([Words, Type.Null()]),
})
export type OptionSection = Static<typeof OptionSection>

/** Sections and options in the order in which forms show them. */
export const OptionsSchema = Type.Object({
  sections: Type.Array(OptionSection),
  options: Type.Array(OptionSchema),
})
export type OptionsSchema = Static<typeof OptionsSchema>

export const OptionChange = Type.Object({
  /** The position of its event. */
  id: Type.Integer(),
  key: Type.String(),
  /** null: unknown. Secrets read as `***` while set. */
  before: Type.Union([Type.String(), Type.Null()]),
  after: Type.String(),
  /** `user:7`, or a part of the system such as `system:setup`. */
  actor: Type.String(),
  /** The user's name; empty for a part of the system. */
  username: Type.String(),
  /** The id of the scheduled price change that caused it; otherwise 0. */
  planned_id: Type.Integer(),
  /** Unix seconds. */
  changed_at: Type.Integer(),
})
export type OptionChange = Static<typeof OptionChange>
/** One change of one price: of a model, a group, or a group's users in another group. */
export const PriceChange = Type.Object({
  /** Unix seconds. */
  time: Type.Integer(),
  user_id: Type.Integer(),
  /** Empty for user 0, the system. */
  username: Type.String(),
  /** The id of the scheduled change that took effect; otherwise 0. */
  planned_id: Type.Integer(),
  option: Type.String(),
  model: Type.String(),
  group: Type.String(),
  user_group: Type.String(),
  /** Exact decimals; null: no entry. */
  before: Type.Union([Type.String(), Type.Null()]),
  after: Type.Union([Type.String(), Type.Null()]),
})
export type PriceChange = Static<typeof PriceChange>

export const ScheduledChange = Type.Object({
  id: Type.Integer(),
  /** Unix seconds, like the other times. */
  at: Type.Integer(),
  created_time: Type.Integer(),
  username: Type.String(),
  status: Type.Union([
    Type.Literal('planned'),
    Type.Literal('applied'),
    Type.Literal('cancelled'),
    Type.Literal('failed'),
  ]),
  /** 0 while it is pending. */
  ended_time: Type.Integer(),
  /** The reason of a failure. */
  fault: Type.String(),
  changes: Type.Array(
    Type.Object({
      option: Type.String(),
      name: Type.String(),
      value: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
})
export type ScheduledChange = Static<typeof ScheduledChange>

/** The ratio maps of one source, as exact decimals in text. */
export const PresetRatios = Type.Object({
  source: Type.String(),
  /** `shipped` with this release, or `fetched` from the configured address. */
  origin: Type.Union([Type.Literal('shipped'), Type.Literal('fetched')]),
  /** The date of the shipped list; empty for a fetched one. */
  as_of: Type.String(),
  /** True if the configured address could not be used; the shipped list is returned then. */
  is_fetch_failed: Type.Boolean(),
  prompt: Type.Record(Type.String(), Type.String()),
  completion: Type.Record(Type.String(), Type.String()),
  /** Model → maximum output tokens; models without a published limit are left out. */
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
  'GET /api/option/price_schedule': {
    querystring: Type.Object(Query.page),
    response: { 200: Envelope(Page(ScheduledChange)) },
  },
}
