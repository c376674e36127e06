import Type, { type Static } from 'typebox'

/**
 * Values are text: booleans `true`/`false`, lists and maps JSON, reformatted for display. Secrets
 * read as `***` or ``.
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

/** How a value is typed and checked; what doesn't belong to a kind is left out. */
export const OptionType = Type.Object({
  /**
   * flag, integer, decimal, text (one line), lines, url, link, choice; JSON: ratios, nested-ratios,
   * choice-by-name, names, counts, list, links, object.
   */
  kind: Type.String(),
  minimum: Type.Optional(Type.String()),
  maximum: Type.Optional(Type.String()),
  max_length: Type.Optional(Type.Integer()),
  /** An empty text is refused. */
  is_required: Type.Optional(Type.Boolean()),
  /** How a text is written, unless it is empty: host or mail. */
  form: Type.Optional(Type.String()),
  /** An empty text is allowed, and means none. */
  is_optional: Type.Optional(Type.Boolean()),
  choices: Type.Optional(Type.Array(Type.String())),
  /** A name that the JSON must have. */
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
  /** Of a choice: what each value is called. */
  choice_words: Type.Record(Type.String(), Words),
  /** That nothing acts on it, and why it is kept: its form says so. */
  note: Type.Union([Words, Type.Null()]),
  /** Said when the value is out of bounds, instead of general words. */
  bounds_words: Type.Union([Words, Type.Null()]),
  /** Another option that this number may not be below, unless it is 0; empty: none. */
  not_below: Type.String(),
  /** The form asks before this value is chosen. */
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
  /** null: not known. Of secrets, `***` while set. */
  before: Type.Union([Type.String(), Type.Null()]),
  after: Type.String(),
  /** `user:7`, or a part of the system: `system:setup`. */
  actor: Type.String(),
  /** The user's name; empty for parts of the system. */
  username: Type.String(),
  /** Of the scheduled price change, by whom it says, that brought it about; else 0. */
  planned_id: Type.Integer(),
  /** Unix seconds. */
  changed_at: Type.Integer(),
})
export type OptionChange = Static<typeof OptionChange>
/** One change of one price. Of a model, a group, or a group's users in another group. */
export const PriceChange = Type.Object({
  /** Unix seconds. */
  time: Type.Integer(),
  user_id: Type.Integer(),
  /** Empty with user 0, the system. */
  username: Type.String(),
  /** Of the scheduled change, by whom it says, that took effect; else 0. */
  planned_id: Type.Integer(),
  option: Type.String(),
  model: Type.String(),
  group: Type.String(),
  user_group: Type.String(),
  /** Exact decimals; null: none of its own. */
  before: Type.Union([Type.String(), Type.Null()]),
  after: Type.Union([Type.String(), Type.Null()]),
})
export type PriceChange = Static<typeof PriceChange>

export const ScheduledChange = Type.Object({
  id: Type.Integer(),
  /** Unix seconds, as the other times. */
  at: Type.Integer(),
  created_time: Type.Integer(),
  username: Type.String(),
  status: Type.Union([
    Type.Literal('planned'),
    Type.Literal('applied'),
    Type.Literal('cancelled'),
    Type.Literal('failed'),
  ]),
  /** 0 while it waits. */
  ended_time: Type.Integer(),
  /** Why it failed. */
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

/** Ratio maps of one source, exact decimals as text. */
export const PresetRatios = Type.Object({
  source: Type.String(),
  /** `shipped` with this release, or `fetched` from the configured address just now. */
  origin: Type.Union([Type.Literal('shipped'), Type.Literal('fetched')]),
  /** When the shipped list was written down; empty for a fetched one. */
  as_of: Type.String(),
  /** Set where an address is configured that could not be used: the shipped list is answered. */
  is_fetch_failed: Type.Boolean(),
  prompt: Type.Record(Type.String(), Type.String()),
  completion: Type.Record(Type.String(), Type.String()),
  /** Model → the most output tokens of an answer; models without a published limit are left out. */
  max_output: Type.Record(Type.String(), Type.String()),
})
export type PresetRatios = Static<typeof PresetRatios>
