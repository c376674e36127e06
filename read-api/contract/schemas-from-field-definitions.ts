import Type, {
  type TBoolean,
  type TInteger,
  type TNull,
  type TNumber,
  type TOptional,
  type TSchema,
  type TString,
  type TUnion,
  type TUnsafe,
} from 'typebox'
import {
  type Field,
  type Fields,
  type FieldType,
  TIME_MAX,
  type WritableFields,
} from './resource-field-definition.ts'

type NullableText = TUnion<[TString, TNull]>
type NullableInteger = TUnion<[TInteger, TNull]>
type NullableNumber = TUnion<[TNumber, TNull]>
type RequestSchemas = {
  integer: TInteger
  optionalInteger: NullableInteger
  nullableNumber: NullableNumber
  time: NullableInteger
  text: TString
  name: TString
  trimmedText: NullableText
  encryptedText: NullableText
  names: TString
  flag: TBoolean
  numericFlag: TInteger
  choice: TString
}
type ResponseSchemas = Omit<
  RequestSchemas,
  'optionalInteger' | 'time' | 'trimmedText' | 'encryptedText'
> & {
  optionalInteger: TInteger
  time: TInteger
  isoTime: NullableText
  timeMs: TInteger
  code: TInteger
  trimmedText: TString
  encryptedText: TString
  nullableInteger: NullableInteger
  number: TNumber
  nullableText: NullableText
  money: TString
}

type RequestProperties<F extends WritableFields> = {
  [Name in keyof F as F[Name]['wire']]: F[Name] extends { isRequired: true }
    ? Choice<F[Name], RequestSchemas[F[Name]['type']]>
    : TOptional<Choice<F[Name], RequestSchemas[F[Name]['type']]>>
}
type ResponseProperties<F extends Fields> = {
  [Name in keyof F as F[Name]['wire']]: F[Name] extends { isOptional: true }
    ? TOptional<Choice<F[Name], ResponseSchemas[F[Name]['type']]>>
    : Choice<F[Name], ResponseSchemas[F[Name]['type']]>
}
type Choice<Each extends Field, Other extends TSchema> = Each extends {
  type: 'choice'
  values: readonly (infer Value)[]
}
  ? TUnsafe<Value>
  : Other

/** Returns the schemas of the fields for requests that create the resource. */
export const requestProperties = <F extends WritableFields>(fields: F): RequestProperties<F> =>
  byWireName(fields, (field) =>
    field.isRequired ? requestSchema(field) : Type.Optional(requestSchema(field)),
  ) as RequestProperties<F>

export const responseProperties = <F extends Fields>(fields: F): ResponseProperties<F> =>
  byWireName(fields, (field) =>
    'isOptional' in field ? Type.Optional(responseSchema(field)) : responseSchema(field),
  ) as ResponseProperties<F>

const byWireName = <Each extends Field>(
  fields: Readonly<Record<string, Each>>,
  schemaOf: (field: Each) => TSchema,
) => Object.fromEntries(Object.values(fields).map((field) => [field.wire, schemaOf(field)]))

function requestSchema(field: WritableFields[string]): TSchema {
  switch (field.type) {
    case 'optionalInteger':
      return Type.Union([Type.Integer({ minimum: field.min, maximum: field.max }), Type.Null()])
    case 'nullableNumber':
      return Type.Union([Type.Number({ minimum: field.min, maximum: field.max }), Type.Null()])
    case 'time':
      return Type.Union([Type.Integer({ minimum: 0, maximum: TIME_MAX }), Type.Null()])
    case 'integer':
      return Type.Integer({ minimum: field.min, maximum: field.max })
    case 'text':
    case 'name':
    case 'names':
      return Type.String({ maxLength: field.maxLength })
    case 'trimmedText':
    case 'encryptedText':
      return Type.Union([Type.String({ maxLength: field.maxLength }), Type.Null()])
    case 'flag':
      return Type.Boolean()
    case 'numericFlag':
      return Type.Integer({ minimum: 0, maximum: 1 })
    case 'choice':
      return choiceSchema(field.values)
  }
}

const choiceSchema = (values: readonly string[]): TSchema =>
  Type.Union(values.map((value) => Type.Literal(value)))

const INTEGERS: readonly FieldType[] = [
  'integer',
  'optionalInteger',
  'time',
  'timeMs',
  'numericFlag',
  'code',
]

function responseSchema(field: Field): TSchema {
  const { type } = field
  if (type === 'choice') return choiceSchema(field.values)
  if (type === 'nullableInteger') return Type.Union([Type.Integer(), Type.Null()])
  if (type === 'number') return Type.Number()
  if (type === 'nullableNumber') return Type.Union([Type.Number(), Type.Null()])
  if (type === 'flag') return Type.Boolean()
  if (type === 'isoTime' || type === 'nullableText') return Type.Union([Type.String(), Type.Null()])
  return INTEGERS.includes(type) ? Type.Integer() : Type.String()
}
