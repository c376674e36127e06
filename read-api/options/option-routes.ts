import type { OptionSchema as Schema } from '#domain/options/option-definition.ts'
import { OPTIONS, SECTIONS } from '#domain/options/option-registry.ts'
import type { OptionType } from '#domain/options/option-type.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { listOptionChanges, type OptionChangeRow } from '#projections/option-changes/query.ts'
import { priceChanges } from '#projections/price-history/query.ts'
import { plannedChanges } from '#projections/price-schedule/query.ts'
import { usersByIds } from '#projections/users/query.ts'
import {
  OPTION_CHANGE_FIELDS,
  type OptionChange,
  type OptionSchema,
  type OptionsSchema,
  optionQueries,
  PRICE_CHANGE_FIELDS,
  SCHEDULED_CHANGE_FIELDS,
  type OptionType as TypeResponse,
} from '../contract/options.ts'
import { responseOf } from '../contract/resource-field-definition.ts'
import {
  type App,
  pageOf,
  type ReadDeps,
  textOf,
  upToDate,
  userIdOf,
} from '../read-dependencies-and-query-parameters.ts'
import { currentOptions } from './current-options.ts'
import { optionTexts, sectionTexts } from './option-labels-and-help-texts.ts'

/** `GET /api/option/`: all options, without the values of secret options. */
export function listOptions(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(optionQueries, 'GET /api/option/'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'options'),
    handler: async () => success((await currentOptions(deps.core)).list()),
  })
}

/**
 * `GET /api/option/schema`: the definitions of all options. The console builds its settings forms
 * from these definitions.
 */
export function optionSchema(app: App): void {
  const response = schemaResponse()
  app.route({
    ...endpoint(optionQueries, 'GET /api/option/schema'),
    onRequest: onlyAdmin,
    handler: async () => success(response),
  })
}

export const schemaResponse = (): OptionsSchema => ({
  sections: SECTIONS.map(({ id, tab }) => ({ id, tab, ...sectionTexts(id) })),
  options: [...OPTIONS.values()].map(optionResponse),
})

function optionResponse(option: Schema): OptionSchema {
  const texts = optionTexts(option.key)
  return {
    key: option.key,
    tab: option.tab,
    section: option.section,
    type: typeResponse(option.type),
    default: option.defaultText,
    is_secret: option.isSecret,
    minimum_role: option.minimumRole,
    label: texts.label,
    help: texts.help,
    unit: option.unit ?? '',
    ...(option.entryUnits === undefined ? {} : { entry_units: option.entryUnits }),
    choice_words: texts.choice_words,
    note: texts.note,
    bounds_words: texts.bounds_words,
    not_below: option.notBelow ?? '',
    ask_before: texts.ask_before,
  }
}

function typeResponse(type: OptionType): TypeResponse {
  return {
    kind: type.kind,
    ...('minimum' in type ? { minimum: String(type.minimum), maximum: String(type.maximum) } : {}),
    ...('maxLength' in type ? { max_length: type.maxLength } : {}),
    ...('isRequired' in type ? { is_required: type.isRequired === true } : {}),
    ...('form' in type && type.form !== undefined ? { form: type.form } : {}),
    ...('isOptional' in type ? { is_optional: type.isOptional } : {}),
    ...('choices' in type ? { choices: [...type.choices] } : {}),
    ...('required' in type && type.required !== undefined ? { required: type.required } : {}),
  }
}

/**
 * `GET /api/option/history`, for admins: the changes of one option, of a section or of all options,
 * newest first.
 */
export function optionHistory(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(optionQueries, 'GET /api/option/history'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'option-changes', 'price-schedule', 'users'),
    handler: async ({ query }) => {
      const { page, limit, offset } = pageOf(query)
      const keys = keysOf(textOf(query.key), textOf(query.section))
      const { rows, total } = await listOptionChanges(deps.core.db, { keys, limit, offset })
      const names = await namesOf(deps, rows)
      return success({ items: rows.map((row) => changeResponse(row, names)), page, total })
    },
  })
}

function keysOf(key: string | undefined, section: string | undefined): string[] | null {
  if (key === undefined && section === undefined) return null
  return [...OPTIONS.values()]
    .filter((option) => key === undefined || option.key === key)
    .filter((option) => section === undefined || option.section === section)
    .map((option) => option.key)
}

async function namesOf(
  { core }: ReadDeps,
  rows: readonly OptionChangeRow[],
): Promise<ReadonlyMap<number, string>> {
  const ids = rows.flatMap(({ actor }) => userIdOf(actor) ?? [])
  const users = await usersByIds(core.db, [...new Set(ids)])
  return new Map(users.map(({ id, username }) => [id, username]))
}

const changeResponse = (row: OptionChangeRow, names: ReadonlyMap<number, string>): OptionChange =>
  responseOf(OPTION_CHANGE_FIELDS, { ...row, username: names.get(userIdOf(row.actor) ?? 0) ?? '' })

/**
 * `GET /api/option/price_history`: the changes of prices. Each entry has the old price, the new
 * price, the user who changed the price, and the time of the change.
 */
export function priceHistory(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(optionQueries, 'GET /api/option/price_history'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'price-history', 'price-schedule', 'users'),
    handler: async ({ query }) => {
      const { page, limit, offset } = pageOf(query)
      const { model = '', group = '' } = query
      const keyword = (query.keyword ?? '').trim()
      const found = await priceChanges(deps.core.db, { model, keyword, group, limit, offset })
      const items = found.rows.map((row) =>
        responseOf(PRICE_CHANGE_FIELDS, { ...row, userId: userIdOf(row.actor) ?? 0 }),
      )
      return success({ items, page, total: found.total })
    },
  })
}

/**
 * `GET /api/option/price_schedule`: the scheduled price changes. Planned changes come first, in the
 * order of their due times. Changes that were applied, were cancelled or failed follow, newest
 * first.
 */
export function priceSchedule(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(optionQueries, 'GET /api/option/price_schedule'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'price-schedule', 'users'),
    handler: async ({ query }) => {
      const { page, limit, offset } = pageOf(query)
      const { rows, total } = await plannedChanges(deps.core.db, { limit, offset })
      const items = rows.map((row) => ({
        ...responseOf(SCHEDULED_CHANGE_FIELDS, row),
        changes: row.changes,
      }))
      return success({ items, page, total })
    },
  })
}
