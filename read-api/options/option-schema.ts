import type { OptionType } from '#domain/options/option-type.ts'
import { OPTIONS } from '#domain/options/registry.ts'
import type { OptionSchema as Schema } from '#domain/options/schema.ts'
import { SECTIONS } from '#domain/options/sections.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '../contract/envelope.ts'
import {
  type OptionSchema,
  OptionsSchema,
  type OptionType as TypeAnswer,
} from '../contract/option.ts'
import type { App } from '../question.ts'

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
