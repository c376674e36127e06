import type { TSchema } from 'typebox'
import type { TLocalizedValidationError } from 'typebox/error'
import type { TranslatedText } from '#domain/shared/translated-text.ts'
import { type HttpError, invalidField } from './http-error-class-and-catalogue.ts'

const TYPES: Record<string, TranslatedText> = {
  string: { zh: '字符串', en: 'a string' },
  integer: { zh: '整数', en: 'a whole number' },
  number: { zh: '数字', en: 'a number' },
  boolean: { zh: '布尔值', en: 'true or false' },
  object: { zh: '对象', en: 'an object' },
  array: { zh: '数组', en: 'a list' },
  null: { zh: '空值', en: 'null' },
}

/**
 * Returns a 400 error for the first schema violation. The message names the field and the problem.
 */
export function schemaError(
  errors: readonly TLocalizedValidationError[],
  httpPart: string,
  schema: TSchema = {},
): HttpError {
  const error = errors[0]
  if (error === undefined) throw new Error('a failed check reported no error')
  if (error.keyword === 'required') {
    const [name = ''] = error.params.requiredProperties
    return invalidField(fieldName(`${error.instancePath}/${name}`, httpPart), {
      zh: '不能为空',
      en: 'is required',
    })
  }
  return invalidField(
    fieldName(error.instancePath, httpPart),
    problemText(error, errors, boundsAt(schema, error.instancePath)),
  )
}

const counted = (limit: number | bigint, noun: string): string =>
  `${limit} ${noun}${Number(limit) === 1 ? '' : 's'}`

function problemText(
  error: TLocalizedValidationError,
  errors: readonly TLocalizedValidationError[],
  bounds: TranslatedText,
): TranslatedText {
  switch (error.keyword) {
    case 'type': {
      const expectedType = TYPES[String(error.params.type)] ?? {
        zh: '其他类型',
        en: 'of another type',
      }
      return {
        zh: `必须是${expectedType.zh}${bounds.zh}`,
        en: `must be ${expectedType.en}${bounds.en}`,
      }
    }
    case 'minimum':
      return { zh: `不能小于 ${error.params.limit}`, en: `must be at least ${error.params.limit}` }
    case 'maximum':
      return { zh: `不能大于 ${error.params.limit}`, en: `must be at most ${error.params.limit}` }
    case 'minLength':
      return {
        zh: `长度不能少于 ${error.params.limit} 个字符`,
        en: `must have at least ${counted(error.params.limit, 'character')}`,
      }
    case 'maxLength':
      return {
        zh: `长度不能超过 ${error.params.limit} 个字符`,
        en: `must have at most ${counted(error.params.limit, 'character')}`,
      }
    case 'maxItems':
      return {
        zh: `不能超过 ${error.params.limit} 项`,
        en: `must have at most ${counted(error.params.limit, 'item')}`,
      }
    case 'minItems':
      return {
        zh: `不能少于 ${error.params.limit} 项`,
        en: `must have at least ${counted(error.params.limit, 'item')}`,
      }
    case 'const':
      return oneOf(errors)
    default:
      return { zh: '格式错误', en: 'has the wrong format' }
  }
}

/**
 * Returns a text with the minimum and maximum of a numeric field, or an empty text if the field has
 * no minimum.
 */
function boundsAt(schema: TSchema, pointer: string): TranslatedText {
  const properties = Object(Object(schema).properties) as Record<string, unknown>
  const { minimum, maximum } = Object(properties[pointer.slice(1)]) as Record<string, unknown>
  if (typeof minimum !== 'number') return { zh: '', en: '' }
  if (typeof maximum !== 'number')
    return { zh: `，不能小于 ${minimum}`, en: `, at least ${minimum}` }
  return { zh: `，${minimum} 至 ${maximum}`, en: ` from ${minimum} to ${maximum}` }
}

function oneOf(errors: readonly TLocalizedValidationError[]): TranslatedText {
  // An empty text means that the field is unset, so it is not listed as an allowed value.
  const allowed = errors
    .flatMap((error) => (error.keyword === 'const' ? [String(error.params.allowedValue)] : []))
    .filter((value) => value !== '')
    .join(', ')
  return { zh: `必须是以下之一：${allowed}`, en: `must be one of ${allowed}` }
}

/**
 * Converts the JSON pointer `/ids/1` to `ids[1]`. For an empty pointer, returns `httpPart`, such as
 * `body`.
 */
function fieldName(pointer: string, httpPart: string): string {
  if (pointer === '') return httpPart
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part, index) => (index > 0 && /^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('')
    .slice(1, 200)
}
