import Type from 'typebox'
import { isJsonType, type OptionType } from '#domain/options/option-type.ts'
import { OPTIONS, optionValue } from '#domain/options/registry.ts'
import type { OptionSchema as Schema } from '#domain/options/schema.ts'
import { SECTIONS } from '#domain/options/sections.ts'
import { readableJson } from '#domain/shared/json-text.ts'
import type { Core } from '#infra/core.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { allOptions, siteState } from '#projections/options/query.ts'
import { Envelope } from '../contract/envelope.ts'
import {
  Option,
  type OptionSchema,
  OptionsSchema,
  type OptionType as TypeAnswer,
} from '../contract/options.ts'
import { type App, type ReadDeps, upToDate } from '../question.ts'

export type OptionsInForce = {
  readonly text: (key: string) => string
  readonly flag: (key: string) => boolean
  readonly number: (key: string) => number
  /** A JSON object's members, by name; empty when the text is none. */
  readonly members: (key: string) => Map<string, unknown>
  /** Every option that may be shown: set, or by default; secret ones say only whether they are. */
  readonly shown: () => { key: string; value: string }[]
  /** Whether a secret option has a text. */
  readonly hasSecret: (key: string) => boolean
  readonly isInitialised: boolean
  readonly isSelfUse: boolean
  readonly isDemoSite: boolean
}

/** The options as they are now: what an admin set, else the default. */
export async function optionsInForce({ db }: Pick<Core, 'db'>): Promise<OptionsInForce> {
  const [{ values, secretRefs }, site] = await Promise.all([allOptions(db), siteState(db)])
  const text = (key: string): string => (OPTIONS.has(key) ? optionValue(values, key) : '')
  return {
    text,
    flag: (key) => text(key) === 'true',
    number: (key) => Number(text(key)) || 0,
    members: (key) => membersOf(text(key)),
    shown: () =>
      [...OPTIONS].map(([key, { isSecret, type }]) =>
        isSecret
          ? { key, value: secretRefs.get(key) ? '***' : '' }
          : { key, value: isJsonType(type) ? readableJson(text(key)) : text(key) },
      ),
    hasSecret: (key) => (secretRefs.get(key) ?? '') !== '',
    isInitialised: site.rootUserId !== null,
    isSelfUse: values.has('SelfUseModeEnabled')
      ? text('SelfUseModeEnabled') === 'true'
      : site.isSelfUse,
    isDemoSite: values.has('DemoSiteEnabled')
      ? text('DemoSiteEnabled') === 'true'
      : site.isDemoSite,
  }
}

function membersOf(text: string): Map<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(text)
    const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
    return new Map(isObject ? Object.entries(parsed) : [])
  } catch {
    return new Map()
  }
}

/** `GET /api/option/`: every option with its value in force; secrets are never told. */
export function listOptions(app: App, deps: ReadDeps): void {
  app.get(
    '/api/option/',
    {
      schema: { response: { 200: Envelope(Type.Array(Option)) } },
      onRequest: onlyAdmin,
      preHandler: upToDate(deps, 'options'),
    },
    async () => success((await optionsInForce(deps.core)).shown()),
  )
}

/** `GET /api/option/schema`: which options there are, and everything that forms follow from. */
export function optionSchema(app: App): void {
  const answer = schemaAnswer()
  app.get(
    '/api/option/schema',
    { schema: { response: { 200: Envelope(OptionsSchema) } }, onRequest: onlyAdmin },
    async () => success(answer),
  )
}

export const schemaAnswer = (): OptionsSchema => ({
  sections: SECTIONS.map(({ id, tab, title, lead }) => ({ id, tab, title, lead: lead ?? null })),
  options: [...OPTIONS.values()].map(optionAnswer),
})

const optionAnswer = (option: Schema): OptionSchema => ({
  key: option.key,
  tab: option.tab,
  section: option.section,
  type: typeAnswer(option.type),
  default: option.defaultText,
  is_secret: option.isSecret,
  minimum_role: option.minimumRole,
  label: option.label,
  help: option.help ?? null,
  unit: option.unit ?? '',
  choice_words: { ...option.choiceWords },
  note: option.note ?? null,
  bounds_words: option.boundsWords ?? null,
  not_below: option.notBelow ?? '',
  ask_before: option.askBefore ?? null,
})

function typeAnswer(type: OptionType): TypeAnswer {
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
